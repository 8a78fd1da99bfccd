import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '#contracts';
import { observeUpstream } from './observe-upstream.js';
import { queueTelemetry } from './queue-telemetry.js';
import { currentTraceId, enterSpan, inSpan } from './span.js';
import { TracingConfig } from './tracing.config.js';
import { isTracing, startTracing, type Tracing } from './tracing.js';

interface ExportedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status?: { readonly code?: number };
}

/** A collector that remembers the spans it is sent. */
async function startCollector(): Promise<{ url: string; spans: ExportedSpan[]; sent: string[]; server: Server }> {
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
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, sent, server };
}

describe('Tracing', () => {
  it('costs nothing and changes nothing when no collector is configured', async () => {
    const tracing = await startTracing(new TracingConfig(), 'test');
    expect(isTracing()).toBe(false);
    expect(queueTelemetry()).toBeUndefined();
    expect(await inSpan({ name: 'work', kind: 'internal' }, async () => currentTraceId() ?? 'none')).toBe('none');
    await tracing.stop(0);
  });

  describe('with a collector', () => {
    let collector: Awaited<ReturnType<typeof startCollector>>;
    let tracing: Tracing;

    beforeAll(async () => {
      collector = await startCollector();
      const config = Object.assign(new TracingConfig(), { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` });
      tracing = await startTracing(config, 'test');
    });
    afterAll(() => collector.server.close());

    it('joins the trace of the caller, reaches the upstream call inside it, and marks a failure without its words', async () => {
      const traceId = '0af7651916cd43dd8448eb211c80319c';
      const carrier = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
      let seen: string | undefined;
      await new Promise<void>((resolve) => {
        const span = enterSpan({ name: 'POST', kind: 'server', carrier }, () => {
          seen = currentTraceId();
          const failure = new GatewayError('overloaded', 'a secret prompt', {
            log: 'a secret key',
            cause: new Error('a secret address'),
          });
          const call = observeUpstream('sandbox', 'start', () => Promise.reject(failure));
          void call
            .catch(() => undefined)
            .finally(() => {
              span?.end();
              resolve();
            });
        });
      });
      await tracing.stop(2_000);
      const everything = collector.sent.join('');
      expect(everything).toContain('overloaded');
      expect(everything).not.toContain('secret');
      expect(seen).toBe(traceId);
      const call = collector.spans.find(({ name }) => name === 'sandbox start');
      const server = collector.spans.find(({ name }) => name === 'POST');
      expect(server).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331' });
      expect(call).toMatchObject({ traceId, parentSpanId: server?.spanId, status: { code: 2 } });
    });
  });
});
