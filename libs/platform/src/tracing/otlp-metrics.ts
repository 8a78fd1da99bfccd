import { metrics } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';

/** How often sums go to the collector, in milliseconds. */
const EVERY_MS = 15_000;

/** Sends the metrics of the conventions for generative AI to a collector until it is stopped. Those of Prometheus are others. */
export async function startOtlpMetrics(endpoint: string, resource: Resource): Promise<{ stop(): Promise<void> }> {
  const { MeterProvider, PeriodicExportingMetricReader } = await import('@opentelemetry/sdk-metrics');
  const { OTLPExporterBase } = await import('@opentelemetry/otlp-exporter-base');
  const { convertLegacyHttpOptions, createOtlpHttpExportDelegate } =
    await import('@opentelemetry/otlp-exporter-base/node-http');
  const { JsonMetricsSerializer, MetricsExporterMetricsHelper } = await import('@opentelemetry/otlp-transformer');
  const options = convertLegacyHttpOptions({ url: `${endpoint}/v1/metrics` }, 'METRICS', 'v1/metrics', {
    'Content-Type': 'application/json',
  });
  const delegate = createOtlpHttpExportDelegate(
    options,
    JsonMetricsSerializer,
    'otlp_http_metric_exporter',
    MetricsExporterMetricsHelper,
    undefined,
  );
  const exporter = new OTLPExporterBase(delegate);
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
