import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { busySoFarMs } from '#testing';

const TICK_MS = 2;

/** How long the event loop of this thread stood still. */
export interface Stop {
  /** By the clock: also while other processes had the processor. */
  readonly wallMs: number;
  /** What this thread itself worked meanwhile. */
  readonly busyMs: number;
  /** How much of it the garbage collector took, by the clock. */
  readonly collectorMs: number;
}

const NO_STOP: Stop = { wallMs: 0, busyMs: 0, collectorMs: 0 };

/** Watches the event loop of this thread. Busy time counts, since a shared machine also stops an idle process. */
export class EventLoopStops {
  private wallAt = performance.now();
  private busyAt = busySoFarMs();
  private longest = NO_STOP;
  private longestFrom = 0;
  private collections: { readonly from: number; readonly ms: number }[] = [];
  private readonly timer = setInterval(() => this.tick(), TICK_MS);
  private readonly collector = new PerformanceObserver((list) => this.collected(list.getEntries()));

  /** @param onLongest called at each stop that is longer than all before it. */
  constructor(private readonly onLongest: (stop: Stop) => void = () => {}) {
    this.collector.observe({ entryTypes: ['gc'] });
  }

  /** The longest stop since the last call. */
  take(): Stop {
    this.tick();
    const until = this.longestFrom + this.longest.wallMs;
    const within = this.collections.filter(({ from }) => from >= this.longestFrom && from <= until);
    const longest = { ...this.longest, collectorMs: within.reduce((sum, { ms }) => sum + ms, 0) };
    this.longest = NO_STOP;
    this.collections = [];
    return longest;
  }

  close(): void {
    clearInterval(this.timer);
    this.collector.disconnect();
  }

  private tick(): void {
    const [wall, busy] = [performance.now(), busySoFarMs()];
    const stop = { wallMs: wall - this.wallAt, busyMs: busy - this.busyAt, collectorMs: 0 };
    if (stop.busyMs > this.longest.busyMs) {
      this.longest = stop;
      this.longestFrom = this.wallAt;
      this.onLongest(stop);
    }
    [this.wallAt, this.busyAt] = [wall, busy];
  }

  /** Reported a moment after it happened; only long ones can make a stop. */
  private collected(entries: readonly PerformanceEntry[]): void {
    for (const { startTime, duration } of entries)
      if (duration > 1) this.collections.push({ from: startTime, ms: duration });
  }
}
