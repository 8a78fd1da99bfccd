import { context, metrics, propagation, trace } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
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
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const exporters = await openExporters(endpoint.replace(/\/+$/, ''), config.OTEL_EXPORTER_OTLP_PROTOCOL);
  const resource = resourceFromAttributes({
    'service.name': `generation-gateway-${processName}`,
    'service.version': VERSION,
    'process.pid': process.pid,
  });
  const provider = new sdk.NodeTracerProvider({
    resource,
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(config.OTEL_TRACES_SAMPLER_ARG) }),
    spanProcessors: [new sdk.BatchSpanProcessor(exporters.ofSpans())],
  });
  provider.register();
  const sums = await startOtlpMetrics(exporters.ofMetrics(), resource);
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

/** How often sums go to the collector, in milliseconds. */
const EVERY_MS = 15_000;

/** What sends spans and metrics to a collector over HTTP. */
async function openExporters(endpoint: string, protocol: TracingConfig['OTEL_EXPORTER_OTLP_PROTOCOL']) {
  const { OTLPExporterBase } = await import('@opentelemetry/otlp-exporter-base');
  const { convertLegacyHttpOptions, createOtlpHttpExportDelegate } =
    await import('@opentelemetry/otlp-exporter-base/node-http');
  const otlp = await import('@opentelemetry/otlp-transformer');
  const isJson = protocol === 'http/json';
  const type = { 'Content-Type': isJson ? 'application/json' : 'application/x-protobuf' };
  const optionsOf = (signal: 'traces' | 'metrics') => {
    const path = `v1/${signal}`;
    return convertLegacyHttpOptions({ url: `${endpoint}/${path}` }, signal.toUpperCase(), path, type);
  };
  return {
    ofSpans: () =>
      new OTLPExporterBase(
        createOtlpHttpExportDelegate(
          optionsOf('traces'),
          isJson ? otlp.JsonTraceSerializer : otlp.ProtobufTraceSerializer,
          'otlp_http_span_exporter',
          otlp.TraceExporterMetricsHelper,
          undefined,
        ),
      ),
    ofMetrics: () =>
      new OTLPExporterBase(
        createOtlpHttpExportDelegate(
          optionsOf('metrics'),
          isJson ? otlp.JsonMetricsSerializer : otlp.ProtobufMetricsSerializer,
          'otlp_http_metric_exporter',
          otlp.MetricsExporterMetricsHelper,
          undefined,
        ),
      ),
  };
}

type MetricsExporter = ReturnType<Awaited<ReturnType<typeof openExporters>>['ofMetrics']>;

/** Sends the metrics of the conventions for generative AI to a collector until it is stopped. Those of Prometheus are others. */
async function startOtlpMetrics(exporter: MetricsExporter, resource: Resource): Promise<{ stop(): Promise<void> }> {
  const { MeterProvider, PeriodicExportingMetricReader } = await import('@opentelemetry/sdk-metrics');
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: EVERY_MS });
  const provider = new MeterProvider({ resource, readers: [reader] });
  metrics.setGlobalMeterProvider(provider);
  return {
    stop: async () => {
      await provider.shutdown().catch(() => undefined);
      metrics.disable();
    },
  };
}

/** What BullMQ needs to carry a trace from senders of wake-ups to their listeners; undefined when nothing is traced. */
export const queueTelemetry = (): Telemetry | undefined =>
  isTracing() ? new BullMQOtel({ tracerName: 'generation-gateway-queue' }) : undefined;
