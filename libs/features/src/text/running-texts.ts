import { shuttingDown } from '#contracts';
import { Injectable } from '@nestjs/common';
import { CallerPresence } from './caller-presence.js';

/** How long callers have to read that the process ends, in milliseconds. */
const TELLING_MS = 2_000;
/** The longest wait for work whose callers are gone to end, in milliseconds: it was told to, and only settles. */
const ENDING_MS = 10_000;

/** The text requests of this process, each from its first step to the last byte of its answer, so that a stop loses none. */
@Injectable()
export class RunningTexts {
  readonly #callers = new Set<CallerPresence>();
  #isDraining = false;
  #whenNone: (() => void)[] = [];

  /**
   * Call `over` with the presence when the work is done and the answer has left.
   *
   * @throws GatewayError `unavailable`: the process ends.
   */
  begin(): CallerPresence {
    if (this.#isDraining) throw shuttingDown();
    const caller = new CallerPresence();
    this.#callers.add(caller);
    return caller;
  }

  over(caller: CallerPresence): void {
    this.#callers.delete(caller);
    if (this.#callers.size === 0) for (const resolve of this.#whenNone.splice(0)) resolve();
  }

  /**
   * Lets nothing begin any more, and what runs go on for `limitMs`. What still runs then is ended by us: its caller is told so
   * in the shape of its style, and pays for what was delivered. Resolves when all have been told, or do not read it.
   */
  async drain(limitMs: number): Promise<void> {
    this.#isDraining = true;
    await this.#none(limitMs);
    for (const caller of this.#callers) caller.end(shuttingDown());
    await this.#none(TELLING_MS);
  }

  /** Resolves when the work of all is over. Call it when every connection is closed, before what the work needs is. */
  finish(): Promise<void> {
    return this.#none(ENDING_MS);
  }

  async #none(limitMs: number): Promise<void> {
    if (this.#callers.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#whenNone.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
