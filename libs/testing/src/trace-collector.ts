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
}

/** A collector of traces. */
export interface TraceCollector {
  readonly url: string;
  /** Every span it was sent, in the order of arrival. */
  readonly spans: readonly ExportedSpan[];
  /** The same as it came: whole bodies. */
  readonly sent: readonly string[];
  close(): void;
}

/** Starts a collector that takes OTLP over HTTP, as JSON, and remembers the spans. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: ExportedSpan[] = [];
  const sent: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      sent.push(text);
      const body = JSON.parse(text) as {
        resourceSpans: { scopeSpans: { spans: ExportedSpan[] }[] }[];
      };
      spans.push(...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans, sent, close: () => server.close() };
}
