import { within } from '../clock/time-limit.js';
import { logger } from '../log/logger.js';
import type { Series } from './registry.js';
import { metricsRegistry } from './registry.js';
import { signals } from './signals.js';

const log = logger('metrics');

/** A scrape that waited for a slow source would show nothing; the source keeps its old numbers instead. */
const SOURCE_TIMEOUT_MS = 2_000;
/** Several scrapers must not multiply the queries. */
const FRESH_MS = 1_000;

/** A source of metrics that is queried at each scrape. */
export interface MetricSource {
  /** Stands in `gateway_metrics_source_failures_total{source}`. */
  readonly name: string;
  /** Sets the gauges. */
  readonly collect: () => Promise<void> | void;
}

/** What `/metrics` answers. */
export class MetricsPage {
  private readonly sources: MetricSource[] = [];
  private collected: Promise<void> = Promise.resolve();
  private collectedAt = Number.NEGATIVE_INFINITY;
  private whole: (() => Promise<string>) | undefined;

  /** The media type of the Prometheus text format. */
  readonly contentType = metricsRegistry.contentType;

  add(...sources: MetricSource[]): void {
    this.sources.push(...sources);
  }

  /** From now on the page is that of several processes, which `whole` writes. */
  standFor(whole: () => Promise<string>): void {
    this.whole = whole;
  }

  /** Asks every source, waiting 2 s at most, and writes all series. Never fails for the sake of one source. */
  async render(): Promise<string> {
    if (this.whole) return this.whole();
    await this.askSources();
    return metricsRegistry.metrics();
  }

  /** The series of this process alone, from the same sources. */
  async series(): Promise<Series[]> {
    await this.askSources();
    return metricsRegistry.getMetricsAsJSON();
  }

  private async askSources(): Promise<void> {
    if (performance.now() - this.collectedAt > FRESH_MS) {
      this.collectedAt = performance.now();
      this.collected = this.collect();
    }
    await this.collected;
  }

  private async collect(): Promise<void> {
    await Promise.all(this.sources.map((source) => this.ask(source)));
  }

  private async ask({ name, collect }: MetricSource): Promise<void> {
    try {
      await within(Promise.resolve(collect()), SOURCE_TIMEOUT_MS);
    } catch (error) {
      signals.scrapeFailures.inc({ source: name });
      log.warn('metrics.source_failed', { source: name, error });
    }
  }
}
