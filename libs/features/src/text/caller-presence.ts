import type { GatewayError, StopSignal } from '#contracts';
import { StopSource } from '#platform';

/** Whether the caller of one text request is still there, and the signal that ends the work for them at the upstream. */
export class CallerPresence {
  readonly #upstream = new StopSource();
  #hasLeft = false;
  #endedBy: GatewayError | undefined;
  #whenLeft: (() => void) | undefined;
  #left: AbortController | undefined;

  /** Aborted when the upstream shall not be read any more, which may be long after the caller has left. */
  get signal(): StopSignal {
    return this.#upstream;
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Why we ended the work although the caller was there; undefined where we did not. */
  get endedBy(): GatewayError | undefined {
    return this.#endedBy;
  }

  /** Aborted as soon as the caller has left, for work that only this caller pays for. */
  get left(): AbortSignal {
    this.#left ??= new AbortController();
    if (this.#hasLeft) this.#left.abort();
    return this.#left.signal;
  }

  /** Ends the work for a reason of ours, which the caller is told, if they are still there. They pay for what was delivered. */
  end(reason: GatewayError): void {
    if (!this.#hasLeft) this.#endedBy ??= reason;
    this.#upstream.abort(this.#endedBy);
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
