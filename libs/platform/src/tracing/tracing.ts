import { context, propagation, trace } from '@opentelemetry/api';
import { VERSION } from '../package-files.js';
import type { TracingConfig } from './tracing.config.js';

/** Spans and metrics of this process are on their way to the collector until it is stopped. */
export interface Tracing {
  /** Sends what is left, for `graceMs` at most, and stops. Never throws: a collector that is away holds up nothing. */
  stop(graceMs: number): Promise<void>;
}

let active = false;

/** False means that making a span is wasted time. */
export const isTracing = (): boolean => active;

/**
 * Starts to export traces and metrics over OTLP when an endpoint is configured; else does nothing and loads nothing.
 * `processName` becomes part of the service name, for example `generation-gateway-api`.
 */
export async function startTracing(config: TracingConfig, processName: string): Promise<Tracing> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return { stop: () => Promise.resolve() };
  const sdk = await import('@opentelemetry/sdk-trace-node');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const { startOtlpMetrics } = await import('./otlp-metrics.js');
  const base = endpoint.replace(/\/+$/, '');
  const exporter = new OTLPTraceExporter({ url: `${base}/v1/traces` });
  const resource = resourceFromAttributes({
    'service.name': `generation-gateway-${processName}`,
    'service.version': VERSION,
    'process.pid': process.pid,
  });
  const provider = new sdk.NodeTracerProvider({
    resource,
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(config.OTEL_TRACES_SAMPLER_ARG) }),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  });
  provider.register();
  const sums = await startOtlpMetrics(base, resource);
  active = true;
  return {
    stop: async (graceMs) => {
      active = false;
      const left = new Promise<void>((resolve) => setTimeout(resolve, graceMs).unref());
      await Promise.race([Promise.all([provider.shutdown().catch(() => undefined), sums.stop()]), left]);
      for (const place of [trace, context, propagation]) place.disable();
    },
  };
}
