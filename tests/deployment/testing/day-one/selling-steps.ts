import { createHash, randomUUID } from 'node:crypto';
import type { JsonObject, TaskView } from '#contracts';
import { eventually, type Envelope } from './client.js';
import { VIDEO, micros, IMAGE, type Step, type Story } from './story.js';

const PNG_SIGNATURE = '89504e470d0a1a0a';

/** Images, videos and text, each paid for and delivered. */
export function sellingSteps(step: Step, story: Story): void {
  step('adds a webhook endpoint and keeps its secret', async () => {
    const url = `http://${story.receiver.address}/hook`;
    const made = await story.customer.data<{ secret: string }>('POST', '/v1/webhooks/endpoints', { url });
    story.webhookSecret = made.secret;
    expect(story.webhookSecret).toMatch(/^whsec_/);
  });
  step('orders an image, waits for it and pays what was quoted', async () => {
    story.image = await story.customer.finished(await story.customer.submit('/v1/images/generations', IMAGE));
    expect(story.image).toMatchObject({ status: 'completed', usage: { amount: story.quoted, final: true } });
  });
  step('downloads the image without a key: a PNG of the ordered size', async () => {
    const image = story.image.result?.images?.[0];
    const bytes = Buffer.from(await (await fetch(image?.url ?? '')).arrayBuffer());
    expect(bytes.subarray(0, 8).toString('hex')).toBe(PNG_SIGNATURE);
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20), bytes.length]).toEqual([1024, 1024, image?.bytes]);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(image?.sha256);
  });
  step('verifies the webhook that announced it, and refuses a changed one', async () => {
    const event = await story.receiver.verified(
      story.webhookSecret,
      ({ data }) => data.task_id === story.image.task_id,
    );
    expect([event.type, event.data.result]).toEqual(['task.completed', story.image.result]);
  });
  step('orders a video and downloads a part of it', async () => {
    story.video = await story.customer.finished(await story.customer.submit('/v1/videos/generations', VIDEO));
    expect(story.video).toMatchObject({ status: 'completed', usage: { amount: '0.250000', final: true } });
    const part = await fetch(story.video.result?.videos?.[0]?.url ?? '', { headers: { range: 'bytes=4-7' } });
    expect([part.status, await part.text()]).toEqual([206, 'ftyp']);
  });
  orderSteps(step, story);
  textSteps(step, story);
}

/** Orders that are repeated, fail or are taken back. */
function orderSteps(step: Step, story: Story): void {
  step('pays once for a request that is repeated with its Idempotency-Key', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const send = () =>
      story.customer.send<Envelope<{ task_id: string }[]>>('POST', '/v1/images/generations', IMAGE, key);
    const [first, again] = [await send(), await send()];
    expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
    await story.customer.finished(first.body.data[0]?.task_id ?? '');
  });
  step('charges nothing for an image that failed, and says why', async () => {
    const order = { ...IMAGE, prompt: '[sandbox:fail=content_policy] no' };
    const failed = await story.customer.finished(await story.customer.submit('/v1/images/generations', order));
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code: 'content_policy' },
      usage: { amount: '0.000000' },
    });
  });
  step('cancels a video and gets the money back', async () => {
    const order = { ...VIDEO, prompt: '[sandbox:delay=3600000] a slow tide' };
    const slow = await story.customer.submit('/v1/videos/generations', order);
    await story.customer.data('POST', `/v1/tasks/${slow}/cancel`);
    expect(await story.customer.finished(slow)).toMatchObject({ status: 'cancelled', usage: { amount: '0.000000' } });
  });
  step('lists tasks and reads several at once', async () => {
    const tasks = await story.customer.data<TaskView[]>('GET', '/v1/tasks?limit=100');
    expect(tasks.map(({ status }) => status)).toEqual(['cancelled', 'failed', 'completed', 'completed', 'completed']);
    const ids = [story.image.task_id, story.video.task_id];
    expect(await story.customer.data('POST', '/v1/tasks/batch', { task_ids: ids })).toMatchObject([
      { task_id: ids[0] },
      { task_id: ids[1] },
    ]);
  });
}

function textSteps(step: Step, story: Story): void {
  step('connects a text vendor', async () => {
    const models = { 'vendor-5': 'theirs', 'vendor-haiku-4-5-20251001': 'theirs', 'vendor-2.5-flash': 'theirs' };
    const upstream = {
      id: 'chat-vendor',
      protocol: 'chat',
      base_url: story.vendor.baseUrl,
      key: 'sk-of-the-vendor',
      models,
    };
    const added = await story.admin.data('POST', '/admin/v1/upstreams', upstream);
    expect(added).toMatchObject({ key_set: true, problem: null });
    expect(JSON.stringify(added)).not.toContain('sk-of-the-vendor');
  });
  const question = 'Say hello.';
  const answers = async (path: string, body: object): Promise<void> => {
    const answer = await story.customer.send<JsonObject>('POST', path, body, { 'vendor-version': '2023-06-01' });
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([
      200,
      expect.stringContaining('Vendor heard: Say hello.'),
    ]);
  };
  step('gets a text in the style of responses', () => answers('/v1/responses', { model: 'vendor-5', input: question }));
  step('gets a text in the style of messages', () =>
    answers('/v1/messages', {
      model: 'vendor-haiku-4-5-20251001',
      max_tokens: 64,
      messages: [{ role: 'user', content: question }],
    }),
  );
  step('gets a text in the style of content generation', () =>
    answers('/v1beta/models/vendor-2.5-flash:generateContent', {
      contents: [{ role: 'user', parts: [{ text: question }] }],
    }),
  );
  step('takes the vendor away: it is not asked again', async () => {
    const asked = story.vendor.seen.length;
    expect((await story.admin.send('DELETE', '/admin/v1/upstreams/chat-vendor')).status).toBeLessThan(300);
    expect(await story.admin.data('GET', '/admin/v1/upstreams')).toEqual([]);
    const answer = await story.customer.send('POST', '/v1/responses', { model: 'vendor-5', input: question });
    expect(JSON.stringify(answer.body)).not.toContain('Vendor heard');
    expect([answer.status, asked, story.vendor.seen.length]).toEqual([200, 3, 3]);
  });
  step('explains usage: the lines of every record add up to its charge, the records to the sums', () =>
    usageAddsUp(story),
  );
  step('shows the same money in balance, account and ledger', () => moneyAgrees(story));
}

interface UsageRecord {
  readonly amount: string;
  readonly kind: string;
  readonly lines: readonly { readonly amount: string }[];
}

const total = (rows: readonly { readonly amount: string }[]): bigint =>
  rows.reduce((sum, { amount }) => sum + micros(amount), 0n);

async function usageAddsUp({ customer }: Story): Promise<void> {
  // What is paid for text is written down a moment after the answer.
  const records = await eventually('the record of each text', async () => {
    const read = await customer.data<UsageRecord[]>('GET', '/v1/usage/records?limit=100');
    return read.filter(({ kind }) => kind === 'text').length === 4 ? read : undefined;
  });
  for (const record of records) expect([record, total(record.lines)]).toEqual([record, micros(record.amount)]);
  const sums = await customer.data<{ amount: string }[]>('GET', '/v1/usage?group_by=model');
  // Two images, one video, and four texts.
  expect([total(sums), total(records) > 330_000n]).toEqual([total(records), true]);
}

async function moneyAgrees({ admin, customer, accountId }: Story): Promise<void> {
  const { used, available, held } = await admin.data('GET', `/admin/v1/accounts/${accountId}`);
  const entries = await admin.data<{ kind: string; amount: string }[]>(
    'GET',
    `/admin/v1/ledger?account_id=${accountId}&limit=100`,
  );
  const booked = (kind: string) => total(entries.filter((entry) => entry.kind === kind));
  const sums = await customer.data<{ amount: string }[]>('GET', '/v1/usage?group_by=model');
  expect([micros(used), micros(used), held]).toEqual([total(sums), booked('capture'), '0.000000']);
  expect(micros(available)).toBe(booked('top_up') - booked('capture'));
  const { body } = await customer.send<JsonObject>('GET', '/v1/user/balance');
  expect(body).toMatchObject({ remain_balance: Number(available), used_balance: Number(used) });
}
