import { createTestDatabase, FaultProxy, type TestDatabase } from '#testing';
import { BullmqDoorbell } from './bullmq-doorbell.js';
import { PostgresStore } from './postgres-store.js';

describe('A doorbell in Postgres', () => {
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
    'rings and listens though Postgres was away when it began (%s)',
    async (fault) => {
      const store = await PostgresStore.open(proxy.urlOf(test.url));
      proxy.set(fault);
      const doorbell = new BullmqDoorbell(store);
      const heard: string[] = [];
      doorbell.listen('image', { concurrency: 1 }, async (taskId) => void heard.push(taskId));
      doorbell.ring('image', ['task_lost']);
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      proxy.set('pass');
      const deadline = Date.now() + 10_000;
      while (!heard.includes('task_kept') && Date.now() < deadline) {
        doorbell.ring('image', ['task_kept']);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      expect(heard).toContain('task_kept');
      await doorbell.close(0);
    },
  );
});
