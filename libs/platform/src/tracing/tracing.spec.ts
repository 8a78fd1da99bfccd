import { GatewayError } from '#contracts';
import { createTaskNotifier } from '#runtime';
import { createTestDatabase, startTraceCollector, type TraceCollector } from '#testing';
import { QueueConfig } from '../redis/queue.config.js';
import { observeUpstream } from './observe-upstream.js';
import { queueTelemetry } from './queue-telemetry.js';
import { currentTraceId, enterSpan, inSpan } from './span.js';
import { TracingConfig } from './tracing.config.js';
import { isTracing, startTracing, type Tracing } from './tracing.js';

async function until(condition: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + 15_000;
  while (!condition() && Date.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 50));
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
    let collector: TraceCollector;
    let tracing: Tracing;

    beforeAll(async () => {
      collector = await startTraceCollector();
      const config = Object.assign(new TracingConfig(), { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` });
      tracing = await startTracing(config, 'test');
    });
    afterAll(() => collector.close());

    it('goes through the queue: the call to the vendor belongs to the request that sent the wake-up', async () => {
      const test = await createTestDatabase();
      const notifier = await createTaskNotifier(new QueueConfig(), test.url);
      const called = new Promise<void>((resolve) => {
        notifier.listen('image', { concurrency: 1 }, async () => {
          await observeUpstream('queued-vendor', 'start', async () => undefined);
          resolve();
        });
      });
      let submitted: string | undefined;
      await inSpan({ name: 'submission', kind: 'server' }, async () => {
        submitted = currentTraceId();
        notifier.notify('image', ['task_1']);
      });
      await called;
      await notifier.close(1_000);
      await test.remove();
      await until(() => collector.spans.some(({ name }) => name === 'queued-vendor start'));
      expect(submitted).toMatch(/^[0-9a-f]{32}$/);
      expect(collector.spans.find(({ name }) => name === 'queued-vendor start')?.traceId).toBe(submitted);
    });

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
