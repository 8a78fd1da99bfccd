import { signals } from '#platform';

/** What the settling statement says about the task that it ended. Durations in seconds. */
export interface EndedTask {
  readonly medium: string;
  readonly model: string;
  readonly state: 'completed' | 'failed' | 'cancelled';
  readonly account_id: string;
  readonly api_key_id: string;
  readonly request_id: string;
  readonly provider: string | null;
  readonly attempt: number;
  readonly charged_micros: bigint;
  readonly error_code: string | null;
  readonly total_seconds: number;
  /** Since the vendor was known to be done; null when it never was. */
  readonly visible_seconds: number | null;
}

/** Counts a task that this process ended, and how long it took. */
export function recordTaskEnd({ medium, model, state: status, ...task }: EndedTask): void {
  signals.tasksFinished.inc({ medium, model, status, error: task.error_code ?? '' });
  signals.taskDuration.observe({ medium, status }, task.total_seconds);
  if (status === 'completed' && task.visible_seconds !== null) {
    signals.doneToVisible.observe({ medium }, task.visible_seconds);
  }
}
