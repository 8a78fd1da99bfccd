import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';

/** Every series of this process, those of the runtime (event-loop lag, memory, garbage collection) included. */
export const metricsRegistry = new Registry();

collectDefaultMetrics({ register: metricsRegistry });

/** One metric of a process with its series, as it goes from process to process. */
export type Series = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

/**
 * The series of several processes as if they were one: counters, histograms and gauges of work are summed. A gauge that every
 * process reports alike names its `aggregator`; with `first`, the earliest process that has it speaks for all.
 */
const merge = (processes: readonly (readonly Series[])[]) => AggregatorRegistry.aggregate([...processes]);

/** In the text format of Prometheus. */
export const mergedText = (processes: readonly (readonly Series[])[]): Promise<string> => merge(processes).metrics();

/**
 * What processes leave behind when they end: what they have counted. Without it, a sum would fall with every end of a process, which
 * Prometheus takes for a count that began again.
 */
export function mergedTotals(processes: readonly (readonly Series[])[]): Series[] {
  const totals = processes.map((all) => all.filter(({ type }) => TOTALS.has(type)));
  return merge(totals).getMetricsAsArray() as Series[];
}

/** Types that only ever grow; words where they come from another process, whatever the typings say. */
const TOTALS = new Set<unknown>(['counter', 'histogram']);

/** What this process has measured by itself, without asking the sources of a page. */
export const metricsOfProcess = (): Promise<Series[]> => metricsRegistry.getMetricsAsJSON();
