import { Gauge } from 'prom-client';
import { metricsRegistry } from './registry.js';

/**
 * How many of something are in flight, by one label. Counted here and exported when metrics are scraped: a gauge of
 * prom-client checks and hashes its labels at every change, which every request would pay four times.
 */
export class InFlight<Label extends string> {
  readonly #counts = new Map<string, number>();

  readonly gauge: Gauge<Label>;

  /** @param label its values must come from a closed list. */
  constructor(name: string, help: string, label: Label) {
    this.gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [metricsRegistry],
      collect: () => {
        for (const [value, count] of this.#counts) this.gauge.labels(value).set(count);
      },
    });
  }

  /** One more begins. */
  begin(value: string): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
  }

  /** One that began is over. */
  end(value: string): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) - 1);
  }
}
