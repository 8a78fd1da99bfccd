import { enterSpan, observeUpstream, QueueConfig, startTracing, TracingConfig } from '#platform';
import { createTestDatabase, startTraceCollector } from '#testing';
import { createTaskNotifier } from './create-task-notifier.js';

describe('A trace', () => {
  it('crosses the queue: the call to the vendor belongs to the request that sent the wake-up', async () => {
    const [collector, test] = await Promise.all([startTraceCollector(), createTestDatabase()]);
    const config = Object.assign(new TracingConfig(), { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const tracing = await startTracing(config, 'test');
    const notifier = await createTaskNotifier(new QueueConfig(), test.url);
    const called = new Promise<void>((resolve) => {
      notifier.listen('image', { concurrency: 1 }, async () => {
        await observeUpstream('queued-vendor', 'start', async () => undefined);
        resolve();
      });
    });
    const submission = enterSpan({ name: 'submission', kind: 'server' }, () => notifier.notify('image', ['task_1']));
    submission?.end();
    await called;
    await notifier.close(1_000);
    await tracing.stop(2_000);
    collector.close();
    await test.remove();
    const traceId = submission?.spanContext().traceId;
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(collector.spans).toContainEqual(expect.objectContaining({ name: 'queued-vendor start', traceId }));
  });
});
