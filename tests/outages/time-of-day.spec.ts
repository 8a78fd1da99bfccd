import type { JsonObject, TaskView } from '#contracts';
import { eventually, skewClock } from '#testing';
import { startTestGateway, type TestGateway } from '../harness/test-gateway.js';

const HOUR_MS = 3_600_000;
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };

describe.each([
  ['ahead', HOUR_MS],
  ['back', -HOUR_MS],
])('A time of day that is set an hour %s while a gateway runs', (_way, byMs) => {
  let gateway: TestGateway;
  let setRight: () => void;
  beforeAll(async () => {
    gateway = await startTestGateway();
    setRight = skewClock(byMs);
  });
  afterAll(async () => {
    setRight();
    await gateway.stop();
  });

  it('delays no work that is ordered afterwards', async () => {
    const { status, body } = await gateway.send<{ data: [{ task_id: string }] }>(
      'POST',
      '/v1/images/generations',
      IMAGE,
    );
    expect(status).toBe(200);
    const done = await eventually(
      async () => {
        const path = `/v1/tasks/${body.data[0].task_id}`;
        const answer = await gateway.send<{ data: TaskView }>('GET', path);
        return answer.body.data.usage.final ? answer.body.data : null;
      },
      { pauseMs: 100 },
    );
    expect(done.status).toBe('completed');
  });

  it('delays no webhook that is asked for: it is due by the clock of those who send it', async () => {
    const endpoints = '/v1/webhooks/endpoints';
    const added = await gateway.send<{ data: { id: string } }>('POST', endpoints, { url: 'https://receiver.test/' });
    expect(added.status).toBe(200);
    const path = `${endpoints}/${added.body.data.id}/test`;
    const tested = await gateway.send<{ data: JsonObject }>('POST', path, {});
    expect(tested.status).toBe(200);
    const { rows } = await gateway.database.query<{ first: boolean }>({
      text: `select created_at >= now() - interval '1 minute' and (next_attempt_at <= now() or attempts > 0) as first
        from webhook_delivery where id = $1`,
      values: [tested.body.data['delivery_id']],
    });
    expect(rows).toEqual([{ first: true }]);
  });

  it('leaves prices that change no older than they ever are', async () => {
    const price = async () =>
      (await gateway.send<{ data: { amount: string } }>('POST', '/v1/quote', IMAGE)).body.data.amount;
    const before = await price();
    await gateway.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ($1, $2, 'image', 7000000, 1, now() - interval '1 minute', 'test')`,
      values: [`price_${byMs}`, IMAGE.model],
    });
    const changed = await eventually(async () => (await price()) !== before, { pauseMs: 200 });
    expect(changed).toBe(true);
  });
});
