import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP writes it. */
interface ExportedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status?: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** A histogram as OTLP writes it. */
interface ExportedMetric {
  readonly name: string;
  readonly unit: string;
  readonly histogram?: {
    readonly dataPoints: readonly {
      readonly count: number;
      readonly sum: number;
      readonly explicitBounds: readonly number[];
      readonly attributes: ExportedSpan['attributes'];
    }[];
  };
}

/** A collector of traces and metrics. */
export interface TraceCollector {
  readonly url: string;
  /** Every span it was sent, in the order of arrival. */
  readonly spans: readonly ExportedSpan[];
  /** Every metric it was sent; sums are those since the start. */
  readonly metrics: readonly ExportedMetric[];
  /** The same as it came: whole bodies. */
  readonly sent: readonly string[];
  close(): void;
}

/** Starts a collector that takes OTLP over HTTP, as JSON, and remembers spans and metrics. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: ExportedSpan[] = [];
  const metrics: ExportedMetric[] = [];
  const sent: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      sent.push(text);
      const body = JSON.parse(text) as {
        resourceSpans?: { scopeSpans: { spans: ExportedSpan[] }[] }[];
        resourceMetrics?: { scopeMetrics: { metrics: ExportedMetric[] }[] }[];
      };
      for (const { scopeSpans } of body.resourceSpans ?? []) for (const scope of scopeSpans) spans.push(...scope.spans);
      for (const { scopeMetrics } of body.resourceMetrics ?? [])
        for (const scope of scopeMetrics) metrics.push(...scope.metrics);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans, metrics, sent, close: () => server.close() };
}
