import { signals } from '#platform';

/** What the settling statement says about the task that it ended. Durations in seconds. */
export interface EndedTask {
  readonly medium: string;
  readonly model: string;
  readonly state: 'completed' | 'failed' | 'cancelled';
  readonly account_id: string;
  readonly api_key_id: string;
  readonly request_id: string;
  readonly upstream_id: string | null;
  readonly attempt: number;
  readonly charged_micros: bigint;
  readonly cost_micros: bigint | null;
  readonly cost_unit: string | null;
  /** The cost in the unit of balances; null: its worth is not configured. */
  readonly cost_worth_micros: bigint | null;
  readonly error_code: string | null;
  readonly total_seconds: number;
  /** Since the vendor was known to be done; null when it never was. */
  readonly visible_seconds: number | null;
}

/** Counts a task that this process ended, how long it took, and what it brought and cost. */
export function recordTaskEnd({ medium, model, state: status, ...task }: EndedTask): void {
  signals.tasksFinished.inc({ medium, model, status, error: task.error_code ?? '' });
  signals.taskDuration.observe({ medium, status }, task.total_seconds);
  if (status === 'completed' && task.visible_seconds !== null) {
    signals.resultLatency.observe({ medium }, task.visible_seconds);
    signals.resultLatencyBefore.observe({ medium }, task.visible_seconds);
  }
  if (task.upstream_id !== null) countMoney(task.upstream_id, model, task);
}

/** Counters hold micros: whole numbers up to 2^53. */
function countMoney(upstream: string, model: string, task: Omit<EndedTask, 'medium' | 'model' | 'state'>): void {
  const { charged_micros: charged, cost_micros: cost, cost_unit: unit, cost_worth_micros: worth } = task;
  if (cost !== null && unit !== null) signals.mediaCost.inc({ upstream, unit }, Number(cost));
  // What brought money and has no known cost would look like a gain.
  if (worth === null) return;
  signals.mediaWorth.inc({ upstream, model }, Number(worth));
  signals.mediaCharged.inc({ upstream, model }, Number(charged));
}
