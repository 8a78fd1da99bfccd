import { describeWithRedis } from '#testing';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../harness/test-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '16:9', resolution: '2K' };
const VIDEO = { model: 'beta-2.5-preview', prompt: 'waves', resolution: '480p', size: '16:9', duration: 5 };

/** Books of the first account after its top-up of 10,000 units. */
async function booksOf(gateway: TestGateway) {
  const { rows } = await gateway.database.query<{ available: bigint; held: bigint; used: bigint }>({
    text: 'select available_micros as available, held_micros as held, used_micros as used from account where id = $1',
    values: [gateway.accountId],
  });
  return rows[0];
}

async function entriesOf(gateway: TestGateway, taskId: string) {
  const { rows } = await gateway.database.query<{ kind: string; amount: bigint }>({
    text: 'select kind, amount_micros as amount from ledger_entry where task_id = $1 order by id',
    values: [taskId],
  });
  return rows.map(({ kind, amount }) => [kind, amount]);
}

function taskPath(options: () => TestGatewayOptions): void {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway(options());
  });
  afterAll(() => gateway.stop());

  it('makes an image of exactly the ordered size, charges it once, and serves its bytes', async () => {
    const taskId = await gateway.submit('/v1/images/generations', IMAGE);
    const task = await gateway.waitForTask(taskId);
    expect(task).toMatchObject({ status: 'completed', progress: 100, type: 'image', error: null });
    expect(task.usage).toEqual({ amount: '0.035000', unit: 'USD', quantity: 1, per: 'image', final: true });
    const file = task.result?.images?.[0];
    expect(file).toMatchObject({ width: 2048, height: 1152, content_type: 'image/png', expires_at: null });
    const bytes = Buffer.from(await (await fetch(file?.url ?? '')).arrayBuffer());
    expect(bytes).toHaveLength(file?.bytes ?? -1);
    expect(await entriesOf(gateway, taskId)).toEqual([
      ['hold', 35_000n],
      ['capture', 35_000n],
    ]);
  });

  it('makes a video of exactly the ordered length and size, and serves ranges of it', async () => {
    const task = await gateway.waitForTask(await gateway.submit('/v1/videos/generations', VIDEO));
    const file = task.result?.videos?.[0];
    expect(file).toMatchObject({ width: 832, height: 480, duration: 5, content_type: 'video/mp4' });
    const part = await fetch(file?.url ?? '', { headers: { range: 'bytes=4-7' } });
    expect([part.status, await part.text()]).toEqual([206, 'ftyp']);
  });

  it('makes a video from the image of another task, by a link that only this machine reaches', async () => {
    const made = await gateway.waitForTask(await gateway.submit('/v1/images/generations', IMAGE));
    const image_urls = [made.result?.images?.[0]?.url];
    const task = await gateway.waitForTask(
      await gateway.submit('/v1/videos/generations', { model: VIDEO.model, image_urls }),
    );
    expect([task.status, task.error]).toEqual(['completed', null]);
  });

  it('releases the whole hold when the vendor refuses, and says why', async () => {
    const before = await booksOf(gateway);
    const taskId = await gateway.submit('/v1/images/generations', {
      ...IMAGE,
      prompt: '[sandbox:fail=content_policy]',
    });
    const task = await gateway.waitForTask(taskId);
    expect(task).toMatchObject({ status: 'failed', error: { code: 'content_policy' }, usage: { amount: '0.000000' } });
    expect(await booksOf(gateway)).toEqual(before);
    expect(await entriesOf(gateway, taskId)).toEqual([
      ['hold', 35_000n],
      ['release', 35_000n],
    ]);
  });

  it('finishes a task whose vendor fails twice before it accepts', async () => {
    const taskId = await gateway.submit('/v1/images/generations', { ...IMAGE, prompt: '[sandbox:flaky=2]' });
    expect(await gateway.waitForTask(taskId)).toMatchObject({ status: 'completed' });
  });

  it('charges only the images that were made', async () => {
    const taskId = await gateway.submit('/v1/images/generations', { ...IMAGE, n: 3, prompt: '[sandbox:partial=2]' });
    const task = await gateway.waitForTask(taskId);
    expect(task.result?.images).toHaveLength(2);
    expect(task.usage).toMatchObject({ amount: '0.070000', quantity: 2, final: true });
    expect(await entriesOf(gateway, taskId)).toEqual(
      expect.arrayContaining([
        ['hold', 105_000n],
        ['capture', 70_000n],
        ['release', 35_000n],
      ]),
    );
  });

  it('finishes a task whose wake-up was never sent', async () => {
    const taskId = await gateway.submit('/v1/images/generations', { ...IMAGE, prompt: '[sandbox:delay=60000]' });
    await gateway.database.query({
      text: `insert into task select (jsonb_populate_record(t, '{"id":"task_01M7X4NWG0C9AN03NSJMD0ZEA8","state":"queued","parameters":{"prompt":"x","n":1,"size":"1:1","resolution":"1K","model":"eta-image-2.0"},"operation":null,"start_intent_at":null,"attempt":0}'::jsonb || jsonb_build_object('lease_until', now()))).* from task t where id = $1`,
      values: [taskId],
    });
    await gateway.database.query({
      text: `update account set available_micros = available_micros - 35000, held_micros = held_micros + 35000 where id = $1`,
      values: [gateway.accountId],
    });
    await gateway.database.query({ text: 'update api_key set held_micros = held_micros + 35000', values: [] });
    expect(await gateway.waitForTask('task_01M7X4NWG0C9AN03NSJMD0ZEA8')).toMatchObject({ status: 'completed' });
  });
}

describe('The path of a task, queues in Postgres', () => {
  taskPath(() => ({}));
});
describeWithRedis('The path of a task, queues in Redis', (redisUrl) => taskPath(() => ({ redisUrl })));
