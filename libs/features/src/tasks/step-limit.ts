import { NamedError, signals, within, withinTime } from '#platform';

/** Parts of the work on a task that wait for an outside party. */
export type StepName = 'references' | 'start' | 'find' | 'check' | 'cancel' | 'store' | 'task';

/** How long a step may take to notice that its signal aborted, in milliseconds. */
export const ABANDON_GRACE_MS = 1_000;

/** A step was still under way when its time, and the grace after it, were over. It may still end, which decides nothing. */
export class StepAbandoned extends NamedError {
  constructor(
    readonly step: StepName,
    readonly late: Promise<unknown>,
  ) {
    super(`The step "${step}" did not end when it was aborted.`);
  }
}

/** The longest a step may take, and what ends it before. */
export interface StepLimit {
  readonly step: StepName;
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a step with a signal that aborts at its limit. The waiting caller is free again soon after the abort, even when the
 * step never ends: it is abandoned then, and counted.
 *
 * @throws StepAbandoned; whatever the step throws.
 */
export function withinLimit<Result>(
  { step, limitMs, signal }: StepLimit,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return withinTime(limitMs, signal, (limited) => raceWithAbandon(step, limited, work));
}

/** The same for a signal that already ends in time. */
export async function raceWithAbandon<Result>(
  step: StepName,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const running = work(signal);
  let timer: NodeJS.Timeout | undefined;
  let give: (() => void) | undefined;
  const abandoned = new Promise<never>((_, reject) => {
    give = () => {
      timer = setTimeout(() => {
        signals.stepsAbandoned.inc({ step });
        reject(new StepAbandoned(step, running));
      }, ABANDON_GRACE_MS);
    };
    if (signal.aborted) give();
    else signal.addEventListener('abort', give);
  });
  try {
    return await Promise.race([running, abandoned]);
  } finally {
    clearTimeout(timer);
    if (give) signal.removeEventListener('abort', give);
  }
}

/** Whether a promise settled within so many milliseconds. */
export function endedWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const ended = promise.then(
    () => true,
    () => true,
  );
  return within(ended, milliseconds).catch(() => false);
}
