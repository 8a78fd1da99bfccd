import { readFileSync } from 'node:fs';

const TICK_MS = 2;

/** How long the event loop of this thread stood still. */
export interface Stop {
  /** By the clock: also while other processes had the processor. */
  readonly wallMs: number;
  /** What this thread itself worked meanwhile. */
  readonly busyMs: number;
}

/** Processor time of this thread so far, in milliseconds; that of the clock where the system does not tell. */
function busySoFarMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

/** Watches the event loop of this thread. Busy time counts, since a shared machine also stops who does nothing. */
export class EventLoopStops {
  #wallAt = performance.now();
  #busyAt = busySoFarMs();
  #longest: Stop = { wallMs: 0, busyMs: 0 };
  readonly #timer = setInterval(() => this.#tick(), TICK_MS);

  /** The longest stop since the last call. */
  take(): Stop {
    this.#tick();
    const longest = this.#longest;
    this.#longest = { wallMs: 0, busyMs: 0 };
    return longest;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const [wall, busy] = [performance.now(), busySoFarMs()];
    const stop = { wallMs: wall - this.#wallAt, busyMs: busy - this.#busyAt };
    if (stop.busyMs > this.#longest.busyMs) this.#longest = stop;
    [this.#wallAt, this.#busyAt] = [wall, busy];
  }
}
