import type { StopSignal } from '#contracts';
import { NamedError } from '../named-error.js';

/**
 * A signal that aborts after the given number of milliseconds with a `TimeoutError`, or before when `signal` does. The timer keeps no
 * process alive.
 *
 * To be used instead of `AbortSignal.timeout`: Node 20 forgets such a signal when memory is collected while only an
 * `AbortSignal.any` of it is listened to, and a wait for it never ends. This one is held by its timer.
 */
export const abortAfter = (milliseconds: number, signal?: AbortSignal): AbortSignal =>
  limited(milliseconds, signal).signal;

/** Runs `work` with the signal of `abortAfter`, and holds nothing for it once it is over. For what is done often. */
export async function withinTime<Result>(
  milliseconds: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const limit = limited(milliseconds, signal);
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(limit.timer);
  }
}

/** Why something ended that may take so many milliseconds. */
export const timeIsUp = (milliseconds: number): DOMException =>
  new DOMException(`Not done within ${milliseconds} ms`, 'TimeoutError');

function limited(
  milliseconds: number,
  signal: AbortSignal | undefined,
): { signal: AbortSignal; timer: NodeJS.Timeout } {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(timeIsUp(milliseconds)), milliseconds).unref();
  return { signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal, timer };
}

/** Something took longer than it was given. */
export class TimeoutError extends NamedError {
  constructor(limitMs: number) {
    super(`no answer within ${limitMs} ms`);
  }
}

/** The result, unless it takes longer than `limitMs`; for work that takes no signal. @throws TimeoutError */
export async function within<Result>(result: Promise<Result>, limitMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(limitMs)), limitMs);
  });
  return Promise.race([result, timeout]).finally(() => clearTimeout(timer));
}

/** The result, unless `signal` aborts before: what it was to end goes on to its own end, and nobody waits for it. @throws its reason. */
export async function unlessAborted<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  let giveUp = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
  return Promise.race([result, aborted]).finally(() => signal.removeEventListener('abort', giveUp));
}

/** A stop signal and the switch for it in one. What takes nothing but an `AbortSignal` gets one from `asAbortSignal`. */
export class StopSource implements StopSignal {
  private stopReason: unknown;
  private isStopped = false;
  private readonly listeners: (() => void)[] = [];

  get aborted(): boolean {
    return this.isStopped;
  }

  get reason(): unknown {
    return this.stopReason;
  }

  /** Aborts it for this reason, an `AbortError` when there is none; later calls change nothing. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.stopReason = reason;
    for (const listener of this.listeners.splice(0)) listener();
  }

  throwIfAborted(): void {
    if (this.isStopped) throw this.stopReason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.isStopped) this.listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const place = this.listeners.indexOf(listener);
    if (place !== -1) this.listeners.splice(place, 1);
  }
}

/** An `AbortSignal` that aborts with `stop`, for the same reason. */
export function asAbortSignal(stop: StopSignal): AbortSignal {
  if (stop instanceof AbortSignal) return stop;
  const controller = new AbortController();
  if (stop.aborted) controller.abort(stop.reason);
  else stop.addEventListener('abort', () => controller.abort(stop.reason));
  return controller.signal;
}
