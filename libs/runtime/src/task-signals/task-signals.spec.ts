import { QueueConfig } from '#platform';
import { createTestDatabase, describeWithRedis, eventually, type TestDatabase, uniqueRedisPrefix } from '#testing';
import { createTaskSignals } from './create-task-signals.js';
import type { ChangedTasks, TaskSignals } from './task-signals.js';

function signalsContract(redisUrl?: string): void {
  let testDatabase: TestDatabase;
  let speaker: TaskSignals;
  let hearer: TaskSignals;
  const heard: ChangedTasks[] = [];

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const config = Object.assign(new QueueConfig(), {
      QUEUE_PREFIX: uniqueRedisPrefix(),
      ...(redisUrl && { REDIS_URL: redisUrl }),
    });
    speaker = createTaskSignals(config, testDatabase.url, testDatabase.database);
    hearer = createTaskSignals(config, testDatabase.url, testDatabase.database);
    hearer.subscribe((changed) => heard.push(changed));
    await eventually(() => heard.includes('all'));
    // Redis says "ready" before the subscription stands; the first signal that arrives proves it.
    await eventually(() => {
      speaker.publish(['task_warm']);
      return heard.some((changed) => changed.includes('task_warm'));
    });
  });
  afterAll(async () => {
    await Promise.all([speaker.close(), hearer.close()]);
    await testDatabase.remove();
  });

  it('carries more tasks than fit in one message', async () => {
    const ids = Array.from(
      { length: 450 },
      (_, index) => `task_01ARZ3NDEKTSV4RRFFQ69G5${String(index).padStart(3, '0')}`,
    );
    speaker.publish(ids);
    const arrived = () => heard.flat().filter((id) => ids.includes(id));
    await eventually(() => arrived().length >= ids.length);
    expect(arrived()).toEqual(ids);
  });
}

describe('Task signals through Postgres', () => {
  signalsContract();

  it('notify the subscriber after an interruption that it may have missed signals', async () => {
    const { url, database, remove } = await createTestDatabase();
    const signals = createTaskSignals(new QueueConfig(), url, database);
    const heard: ChangedTasks[] = [];
    signals.subscribe((changed) => heard.push(changed));
    await eventually(() => heard.length === 1);
    await database.query({
      text: `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'generation-gateway-signals'`,
    });
    await eventually(() => heard.length === 2);
    expect(heard).toEqual(['all', 'all']);
    await signals.close();
    await remove();
  });
});
describeWithRedis('Task signals through Redis', signalsContract);
