import { createTestDatabase, eventually, FaultProxy, type TestDatabase } from '#testing';
import { BullmqTaskNotifier } from '../bullmq-task-notifier.js';
import { PostgresStore } from '../postgres-store.js';

describe('A notifier in Postgres', () => {
  let test: TestDatabase;
  let proxy: FaultProxy;
  beforeAll(async () => {
    test = await createTestDatabase();
    proxy = await FaultProxy.start(test.url);
  });
  afterAll(async () => {
    await proxy.close();
    await test.remove();
  });

  it.each(['refuse', 'black-hole'] as const)(
    'sends and listens although Postgres was unavailable at the start (%s)',
    async (fault) => {
      const store = await PostgresStore.open(proxy.urlOf(test.url));
      proxy.set(fault);
      const notifier = new BullmqTaskNotifier(store);
      const heard: string[] = [];
      notifier.listen('image', { concurrency: 1 }, async (taskId) => void heard.push(taskId));
      notifier.notify('image', ['task_lost']);
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      proxy.set('pass');
      await eventually(
        () => {
          notifier.notify('image', ['task_kept']);
          return heard.includes('task_kept');
        },
        { pauseMs: 100 },
      );
      expect(heard).toContain('task_kept');
      await notifier.close(0);
    },
  );
});
