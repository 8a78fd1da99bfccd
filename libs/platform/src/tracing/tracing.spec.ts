import { GatewayError, MediaFailure } from '#contracts';
import { startTraceCollector, type TraceCollector } from '#testing';
import { signals } from '../metrics/signals.js';
import { observeUpstream } from './observe-upstream.js';
import { isTracing, queueTelemetry, startTracing, type Tracing } from './tracing.js';
import { currentTraceId, enterSpan, inSpan } from './span.js';
import { TracingConfig } from './tracing.config.js';

describe('Tracing', () => {
  it('costs nothing and changes nothing when no collector is configured', async () => {
    const tracing = await startTracing(new TracingConfig(), 'test');
    expect(isTracing()).toBe(false);
    expect(queueTelemetry()).toBeUndefined();
    expect(await inSpan({ name: 'work', kind: 'internal' }, async () => currentTraceId() ?? 'none')).toBe('none');
    await tracing.stop(0);
  });

  describe.each([
    ['http/protobuf', 'application/x-protobuf'],
    ['http/json', 'application/json'],
  ] as const)('with a collector, by %s', (protocol, type) => {
    let collector: TraceCollector;
    let tracing: Tracing;

    beforeAll(async () => {
      collector = await startTraceCollector();
      const config = Object.assign(new TracingConfig(), {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      });
      tracing = await startTracing(config, 'test');
    });
    afterAll(() => collector.close());

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
      expect(new Set(collector.types)).toEqual(new Set([type]));
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

describe('observeUpstream', () => {
  it.each([
    ['busy', new MediaFailure('busy', 'busy')],
    ['refused', new MediaFailure('refused', 'content_refused')],
    ['refused', new MediaFailure('unsupported', 'not_possible')],
    ['failed', new MediaFailure('unavailable', 'away')],
    ['failed', new MediaFailure('unfit', 'not_paid')],
    ['failed', new Error('anything else')],
  ])('counts as %s: %s', async (outcome, error) => {
    const upstream = `observed-${error.message}`;
    await expect(observeUpstream(upstream, 'start', () => Promise.reject(error))).rejects.toBe(error);
    const counted = (await signals.upstreamDuration.get()).values.filter(({ labels }) => labels.upstream === upstream);
    expect(new Set(counted.map(({ labels }) => labels.outcome))).toEqual(new Set([outcome]));
  });
});
