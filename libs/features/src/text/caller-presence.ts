import type { StopSignal } from '#contracts';
import { StopSource } from '#platform';

/** Whether the caller of one text request is still there, and the signal that ends the work for them at the upstream. */
export class CallerPresence {
  readonly #upstream = new StopSource();
  #hasLeft = false;
  #whenLeft: (() => void) | undefined;
  #left: AbortController | undefined;

  /** Aborted when the upstream shall not be read any more, which may be long after the caller has left. */
  get signal(): StopSignal {
    return this.#upstream;
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Aborted as soon as the caller has left, for work that only this caller pays for. */
  get left(): AbortSignal {
    this.#left ??= new AbortController();
    if (this.#hasLeft) this.#left.abort();
    return this.#left.signal;
  }

  /** The caller is gone. Before any work has begun that ends it; after, `whenLeft` decides. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#left?.abort();
    if (this.#whenLeft) this.#whenLeft();
    else this.stop();
  }

  /** Called once, when the caller leaves; at once when they have. */
  onLeave(whenLeft: () => void): void {
    this.#whenLeft = whenLeft;
    if (this.#hasLeft) whenLeft();
  }

  /** Ends the work at the upstream. */
  stop(): void {
    this.#upstream.abort();
  }
}
