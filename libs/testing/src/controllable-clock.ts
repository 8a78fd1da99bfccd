import type { Clock } from '#platform';

interface Sleeper {
  readonly wakesAtMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export class ControllableClock implements Clock {
  private offsetMs = 0;
  private readonly sleepers = new Set<Sleeper>();

  constructor(private currentMs: number = Date.UTC(2026, 0, 1)) {}

  now(): Date {
    return new Date(this.currentMs + this.offsetMs);
  }

  elapsedMs(): number {
    return this.currentMs;
  }

  /** Sets the time of day alone, as a time server does. */
  setTimeOfDay(byMs: number): void {
    this.offsetMs += byMs;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { wakesAtMs: this.currentMs + delayMs, wake: resolve };
      const abort = (): void => {
        this.sleepers.delete(sleeper);
        reject(signal?.reason as Error);
      };
      if (signal?.aborted === true) return abort();
      signal?.addEventListener('abort', abort, { once: true });
      this.sleepers.add(sleeper);
    });
  }

  /** Advances the time and fires all due timers, earliest first. */
  advance(byMs: number): void {
    this.currentMs += byMs;
    const due = [...this.sleepers].filter((sleeper) => sleeper.wakesAtMs <= this.currentMs);
    for (const sleeper of due.sort((first, second) => first.wakesAtMs - second.wakesAtMs)) {
      this.sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}
