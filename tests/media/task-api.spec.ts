import type { TaskView } from '#contracts';
import { describeWithRedis, eventually } from '#testing';
import { startTestGateway, TEST_KEY, type TestGateway, type TestGatewayOptions } from '../harness/test-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
const slow = (delayMs: number) => ({ ...IMAGE, prompt: `[sandbox:delay=${delayMs}]` });
const IMAGES = '/v1/images/generations';
const UNKNOWN = 'task_01M7X4NWG0C9AN03NSJMD0ZEA8';

interface Page {
  readonly data: TaskView[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** Reads server-sent events until `count` came or the stream ended. */
async function readEvents(gateway: TestGateway, taskId: string, lastEventId?: string, count = Infinity) {
  const abort = new AbortController();
  const answer = await fetch(`${gateway.baseUrl}/v1/tasks/${taskId}/events`, {
    headers: { authorization: `Bearer ${TEST_KEY}`, ...(lastEventId && { 'last-event-id': lastEventId }) },
    signal: abort.signal,
  });
  const events: { id: string; event: string; task: TaskView }[] = [];
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)]),
      );
      const data = fields.get('data');
      if (data) events.push({ id: fields.get('id') ?? '', event: fields.get('event') ?? '', task: JSON.parse(data) });
    }
    if (events.length >= count) break;
  }
  abort.abort();
  return { status: answer.status, events };
}

function taskApi(options: () => TestGatewayOptions): void {
  let gateway: TestGateway;
  beforeAll(async () => {
    // Some of these ask without pause until something is seen.
    const environment = { FREE_REQUESTS_PER_MINUTE: '1000000' };
    gateway = await startTestGateway({ environment, ...options() });
  });
  afterAll(() => gateway.stop());

  it('holds the response until the status changes, and no longer', async () => {
    const taskId = await gateway.submit(IMAGES, slow(700));
    await gateway.send('GET', `/v1/tasks/${taskId}?wait=5`);
    const began = performance.now();
    const { body } = await gateway.send<{ data: TaskView }>('GET', `/v1/tasks/${taskId}?wait=50`);
    expect(body.data.status).toBe('completed');
    expect(performance.now() - began).toBeLessThan(49_000);
  });

  it('answers with the current task when the wait is over, and says when to ask again', async () => {
    const taskId = await gateway.submit(IMAGES, slow(600_000));
    await eventually(async () => {
      const { body } = await gateway.send<{ data: TaskView }>('GET', `/v1/tasks/${taskId}?wait=5`);
      return body.data.status === 'in_progress';
    });
    const answer = await gateway.send<{ data: TaskView }>('GET', `/v1/tasks/${taskId}`, undefined, {
      authorization: `Bearer ${TEST_KEY}`,
      prefer: 'respond-async, wait=1',
    });
    expect(answer.body.data.status).toBe('in_progress');
    expect(answer.headers.get('preference-applied')).toBe('wait=1');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it.each(['61', '-1', '1.5', 'soon', ''])('refuses wait=%s and names the bounds', async (wait) => {
    const { status, body } = await gateway.send('GET', `/v1/tasks/${UNKNOWN}?wait=${wait}`);
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ error: expect.objectContaining({ param: 'wait', code: 'invalid_parameter' }) }),
    ]);
  });

  it('streams every status up to the last and then ends', async () => {
    const { status, events } = await readEvents(gateway, await gateway.submit(IMAGES, slow(300)));
    expect(status).toBe(200);
    expect(events.at(-1)).toMatchObject({ event: 'task.completed', task: { status: 'completed', progress: 100 } });
    const ids = events.map(({ id }) => Number(id));
    expect(ids).toEqual([...new Set(ids)].sort((first, second) => first - second));
  });

  it('never shows a client a task that was in progress as submitted again, even when its start is retried', async () => {
    const taskId = await gateway.submit(IMAGES, { ...IMAGE, prompt: '[sandbox:flaky=2]' });
    const listed = new Set<string>();
    const following = readEvents(gateway, taskId);
    const listAll = async (): Promise<string> => {
      for (const status of ['submitted', 'in_progress', 'completed']) {
        const { body } = await gateway.send<{ data: TaskView[] }>('GET', `/v1/tasks?status=${status}&limit=100`);
        for (const task of body.data.filter(({ task_id: id }) => id === taskId)) {
          expect(task.status).toBe(status);
          listed.add(status);
        }
      }
      return 'open';
    };
    for (let state = 'open'; state === 'open'; state = await Promise.race([following.then(() => 'ended'), listAll()]));
    const seen = (await following).events.map(({ task }) => task?.status);
    expect(seen.length).toBeGreaterThan(4);
    const begun = seen.indexOf('in_progress');
    expect(seen.slice(begun)).not.toContain('submitted');
    expect([...listed]).toContain('in_progress');
  });

  it('lets a disconnected client resume where it stopped, and answers 204 when nothing is left', async () => {
    const taskId = await gateway.submit(IMAGES, slow(500));
    const { events: early } = await readEvents(gateway, taskId, undefined, 1);
    const { events: late } = await readEvents(gateway, taskId, early[0]?.id);
    expect(late.map(({ id }) => id)).not.toContain(early[0]?.id);
    expect(late.at(-1)?.event).toBe('task.completed');
    expect(await readEvents(gateway, taskId, late.at(-1)?.id)).toEqual({ status: 204, events: [] });
  });

  it('cancels work at the vendor and releases the whole hold', async () => {
    const taskId = await gateway.submit(IMAGES, slow(60_000));
    await gateway.send('GET', `/v1/tasks/${taskId}?wait=5`);
    const { status, body } = await gateway.send<{ data: TaskView }>('POST', `/v1/tasks/${taskId}/cancel`);
    expect([status, body.data.status]).toEqual([200, 'cancelled']);
    expect(body.data.usage).toMatchObject({ amount: '0.000000', final: true });
    expect(body.data.cancellation).toMatchObject({
      outcome: 'cancelled',
      message: expect.stringMatching(/nothing is charged/),
    });
    const again = await gateway.send<{ data: TaskView }>('POST', `/v1/tasks/${taskId}/cancel`);
    expect(again.body.data.status).toBe('cancelled');
  });

  it('refuses to cancel what is finished, and names the charge', async () => {
    const taskId = await gateway.submit(IMAGES, IMAGE);
    await gateway.waitForTask(taskId);
    const { status, body } = await gateway.send('POST', `/v1/tasks/${taskId}/cancel`);
    expect([status, body['message']]).toEqual([409, expect.stringMatching(/completed already; 0\.0\d+ USD/)]);
  });

  it('lists newest first, page by page, without gaps or duplicates', async () => {
    const submitted: string[] = [];
    for (let count = 0; count < 5; count += 1) submitted.push(await gateway.submit(IMAGES, IMAGE));
    const first = (await gateway.send<Page>('GET', '/v1/tasks?limit=3')).body;
    const second = (await gateway.send<Page>('GET', `/v1/tasks?limit=3&cursor=${first.next_cursor}`)).body;
    expect(first.has_more).toBe(true);
    expect([...first.data, ...second.data].slice(0, 5).map(({ task_id }) => task_id)).toEqual(
      submitted.toSorted().toReversed(),
    );
  });

  it('filters the list by status, type, model and time', async () => {
    const failed = await gateway.submit(IMAGES, { ...IMAGE, prompt: '[sandbox:fail=content_policy]' });
    const { created } = await gateway.waitForTask(failed);
    const page = async (query: string) => (await gateway.send<Page>('GET', `/v1/tasks?${query}`)).body.data;
    expect((await page('status=failed')).map(({ task_id }) => task_id)).toEqual([failed]);
    expect(await page('type=video')).toEqual([]);
    expect(await page('model=eta-image-2.0&status=failed')).toHaveLength(1);
    expect(await page(`status=failed&created_after=${created}&created_before=${created}`)).toHaveLength(1);
    expect(await page(`status=failed&created_after=${created + 1}`)).toEqual([]);
    expect(await page(`status=failed&created_before=${created - 1}`)).toEqual([]);
  });

  it('filters by the shown time of a task, even when its id was made in an earlier second', async () => {
    const taskId = await gateway.submit(IMAGES, { ...IMAGE, prompt: '[sandbox:fail=content_policy] late' });
    await gateway.waitForTask(taskId);
    const text = `update task set created_at = created_at + interval '5 seconds' where id = $1`;
    await gateway.database.query({ text, values: [taskId] });
    const { body } = await gateway.send<{ data: TaskView }>('GET', `/v1/tasks/${taskId}`);
    const { created } = body.data;
    const found = async (query: string) =>
      (await gateway.send<Page>('GET', `/v1/tasks?${query}`)).body.data.map((task) => task.task_id);
    expect(await found(`created_after=${created}&created_before=${created}`)).toContain(taskId);
    expect(await found(`created_before=${created - 1}`)).not.toContain(taskId);
    expect(await found(`created_after=${created + 1}`)).not.toContain(taskId);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['status=done', 'status'],
    ['cursor=abc', 'cursor'],
    ['state=failed', 'state'],
    ['type=image&type=video', 'type'],
  ])('refuses the list query %s', async (query, param) => {
    const { status, body } = await gateway.send('GET', `/v1/tasks?${query}`);
    expect([status, body['error']]).toEqual([400, expect.objectContaining({ param })]);
  });

  it('returns many tasks at once in the requested order, and names unknown ones', async () => {
    const mine = [await gateway.submit(IMAGES, IMAGE), await gateway.submit(IMAGES, IMAGE)];
    const { body } = await gateway.send<{ data: TaskView[]; not_found: string[] }>('POST', '/v1/tasks/batch', {
      task_ids: [mine[1], UNKNOWN, 'nonsense', mine[0]],
    });
    expect(body.data.map(({ task_id }) => task_id)).toEqual([mine[1], mine[0]]);
    expect(body.not_found).toEqual([UNKNOWN, 'nonsense']);
  });

  it.each([
    ['without ids', {}],
    ['with an empty list', { task_ids: [] }],
    ['with 101 ids', { task_ids: Array.from({ length: 101 }, () => UNKNOWN) }],
    ['with an id that is no text', { task_ids: [1] }],
    ['with another field', { ids: [UNKNOWN] }],
    ['that is no object', []],
  ])('refuses a batch %s', async (_case, body) => {
    expect((await gateway.send('POST', '/v1/tasks/batch', body)).status).toBe(400);
  });

  it('answers 404 alike for waiting for, following and cancelling an unknown task', async () => {
    const answers = await Promise.all([
      gateway.send('GET', `/v1/tasks/${UNKNOWN}?wait=1`),
      gateway.send('GET', `/v1/tasks/${UNKNOWN}/events`),
      gateway.send('POST', `/v1/tasks/${UNKNOWN}/cancel`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  });
}

describe('The task API, with notifications over Postgres', () => {
  taskApi(() => ({}));
});
describeWithRedis('The task API, with notifications over Redis', (redisUrl) => taskApi(() => ({ redisUrl })));

describe('The task API without a worker', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false });
  });
  afterAll(() => gateway.stop());

  it('shows each waiting task its position among those of its account', async () => {
    const first = await gateway.submit(IMAGES, IMAGE);
    const second = await gateway.submit(IMAGES, IMAGE);
    const places = await Promise.all(
      [first, second].map(async (taskId) => {
        const { body } = await gateway.send<{ data: TaskView }>('GET', `/v1/tasks/${taskId}`);
        return [body.data.status, body.data.queue_position];
      }),
    );
    expect(places).toEqual([
      ['submitted', 1],
      ['submitted', 2],
    ]);
  });

  it('cancels a task that no vendor has seen at once', async () => {
    const taskId = await gateway.submit(IMAGES, IMAGE);
    const { status, body } = await gateway.send<{ data: TaskView }>('POST', `/v1/tasks/${taskId}/cancel`);
    expect([status, body.data.status, body.data.usage.amount]).toEqual([200, 'cancelled', '0.000000']);
  });

  it('ends the requests of waiting clients when the process stops', async () => {
    const taskId = await gateway.submit(IMAGES, IMAGE);
    await gateway.untilAnswered();
    const waiting = gateway.send<{ data: TaskView }>('GET', `/v1/tasks/${taskId}?wait=50`);
    await gateway.untilAsked();
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    const { body: events } = await fetch(`${gateway.baseUrl}/v1/tasks/${taskId}/events`, { headers });
    const began = performance.now();
    // A client still waiting would be cut off then, and a connection kept alive would delay the stop.
    await gateway.stop(40_000);
    expect(performance.now() - began).toBeLessThan(20_000);
    expect((await waiting).body.data.status).toBe('submitted');
    expect(await new Response(events).text()).toMatch(/event: error\ndata: {"code":503,.*"code":"unavailable".*\n\n$/);
    gateway = await startTestGateway({ workers: false });
  });
});
