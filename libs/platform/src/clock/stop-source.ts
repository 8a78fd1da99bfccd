import type { StopSignal } from '#contracts';

/** A stop signal and the switch for it in one. What takes nothing but an `AbortSignal` gets one from `asAbortSignal`. */
export class StopSource implements StopSignal {
  #reason: unknown;
  #aborted = false;
  readonly #listeners: (() => void)[] = [];

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** Aborts it for this reason, an `AbortError` when there is none; later calls change nothing. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const place = this.#listeners.indexOf(listener);
    if (place !== -1) this.#listeners.splice(place, 1);
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
