import { randomUUID } from 'node:crypto';
import { Database } from '#platform';
import { eventually } from '#testing';
import { CONTROLLERS } from '../controllers.js';
import { declaredRoutes } from './declared-routes.js';
import { CONSOLE_API } from '../console/console-gate.js';
import { consoleClient, OWN_PAGE } from '../../../../tests/harness/console-client.js';
import { createGatewayPlace, type GatewayPlace, TEST_KEY } from '../../../../tests/harness/test-gateway.js';
import { startTextGateway, type TextGateway } from '../../../../tests/harness/text-vendor/text-gateway.js';
import { textRequest } from '../../../../tests/harness/text-vendor/text-requests.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
const TEXT = { model: 'vendor-5', input: 'Say something about lighthouses.' };
const IMAGES = '/v1/images/generations';
const ADMIN_TOKEN = 'an-admin-token-for-tests';

describe('Idempotency-Key', () => {
  let place: GatewayPlace;
  let gateway: TextGateway;
  /** Connections beside those of the gateway, whose last statements can so be seen. */
  let beside: Database;
  beforeAll(async () => {
    place = await createGatewayPlace();
    beside = new Database(place.databaseUrl);
    gateway = await startTextGateway({ ADMIN_TOKEN }, {}, { place });
  });
  afterAll(async () => {
    await gateway.stop();
    await beside.close();
    await place.remove();
  });

  /** Has the vendor keep every reply back; answers how to let them go on. */
  const holdReplies = (): (() => void) => {
    let letGoOn = (): void => undefined;
    gateway.vendor.gate = { at: 'start', opened: new Promise((resolve) => (letGoOn = resolve)) };
    return () => {
      gateway.vendor.gate = undefined;
      letGoOn();
    };
  };
  /** Waits until a repeat, since a moment of the database's clock, asks whether the first request is at work. */
  const untilAwaited = (since: string) =>
    eventually(async () => {
      const asked = `select 1 from pg_stat_activity where datname = current_database() and query_start > $1::timestamptz
        and query like '%select from idempotency_record%' and query not like '%pg_stat_activity%'`;
      return (await beside.query({ text: asked, values: [since] })).rows.length > 0;
    });
  const now = async () => (await run<{ at: string }>('select clock_timestamp()::text as at'))[0]?.at ?? '';

  const send = (path: string, body: unknown, key: string, secret = TEST_KEY) =>
    gateway.send('POST', path, body, { authorization: `Bearer ${secret}`, 'idempotency-key': key });
  /** Another API key of the account: what a key may do is believed for seconds after it is changed. */
  const keyWith = async (settings: object): Promise<string> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const path = `/admin/v1/accounts/${gateway.accountId}/keys`;
    const { body } = await gateway.send<{ data: { key: string } }>(
      'POST',
      path,
      { name: 'other', ...settings },
      headers,
    );
    return body.data.key;
  };
  const run = async <Row extends object>(text: string, ...values: unknown[]) =>
    (await gateway.database.query<Row>({ text, values })).rows;
  /** Entries of the ledger, once what was answered is settled too. */
  const charges = async () => {
    await eventually(async () => (await run('select 1 from request_hold')).length === 0);
    return (await run<{ n: number }>('select count(*)::integer n from ledger_entry'))[0]?.n;
  };

  it.each([
    ['a task', IMAGES, IMAGE],
    ['a text', '/v1/responses', TEXT],
    ['a message', '/v1/messages', { model: 'vendor-haiku-4-5-20251001', messages: [{ role: 'user', content: 'hi' }] }],
  ])('replays the response and charges %s once', async (_what, path, body) => {
    const key = randomUUID();
    const headers = { authorization: `Bearer ${TEST_KEY}`, 'idempotency-key': key, 'anthropic-version': '2023-06-01' };
    const first = await gateway.send('POST', path, body, headers);
    const entries = await charges();
    const second = await gateway.send('POST', path, body, headers);
    expect(first.status).toBe(200);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(second).toMatchObject({ status: 200, body: first.body });
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(await charges()).toBe(entries);
  });

  it('refuses the key for another body or another path', async () => {
    const key = randomUUID();
    await send(IMAGES, IMAGE, key);
    expect(await send(IMAGES, { ...IMAGE, prompt: 'a tower' }, key)).toMatchObject({
      status: 422,
      body: { error: { code: 'idempotency_mismatch', param: 'Idempotency-Key' } },
    });
    expect((await send('/v1/images/edits', IMAGE, key)).status).toBe(422);
  });

  const COSTLY = declaredRoutes(CONTROLLERS).filter(({ facts: { cost } }) => cost === 'task' || cost === 'text');

  /** What opens a route: the key, or on pages of the console a session that the same key opened. */
  const opening = async (path: string): Promise<Record<string, string>> => {
    if (!path.startsWith(CONSOLE_API)) return { authorization: `Bearer ${TEST_KEY}` };
    const page = consoleClient(gateway);
    await page.call('POST /sign-in/key', { key: TEST_KEY });
    return { ...OWN_PAGE, cookie: page.cookie };
  };

  it.each(COSTLY.map(({ path }) => path))('is checked first at %s', async (path) => {
    const key = randomUUID();
    await send(IMAGES, IMAGE, key);
    const headers = { ...(await opening(path)), 'idempotency-key': key };
    const answer = await gateway.send('POST', path.replace(':target', 'any:generateContent'), {}, headers);
    expect(answer.status).toBe(422);
  });

  it('creates one task for concurrent requests; the others get it, or a conflict', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(IMAGES, IMAGE, key)));
    expect(new Set(answers.map(({ status }) => status)).has(200)).toBe(true);
    for (const { status, headers } of answers) {
      expect([200, 409]).toContain(status);
      expect(status === 409 ? headers.get('retry-after') : '1').toBe('1');
    }
    const requests = await run('select 1 from idempotency_record where key = $1', key);
    const tasks = await run(
      'select 1 from task where id = (select reserved_task_id from idempotency_record where key = $1)',
      key,
    );
    expect([requests.length, tasks.length]).toEqual([1, 1]);
  });

  it('gives a repeat the answer of the first request that is still at work, also when its client was cut off, and charges once', async () => {
    const [key, start] = [randomUUID(), (await charges()) ?? 0];
    await send('/v1/responses', TEXT, randomUUID());
    const before = (await charges()) ?? 0;
    const body = { ...TEXT, input: 'lighthouses' };
    const letGoOn = holdReplies();
    const cut = new AbortController();
    const headers = {
      authorization: `Bearer ${TEST_KEY}`,
      'idempotency-key': key,
      'content-type': 'application/json',
    };
    const first = fetch(`${gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: cut.signal,
    }).catch(() => 'cut off');
    await eventually(async () => (await run('select 1 from idempotency_record where key = $1', key)).length === 1);
    const sent = await now();
    const repeats = [send('/v1/responses', body, key), send('/v1/responses', body, key)];
    cut.abort();
    expect(await first).toBe('cut off');
    await untilAwaited(sent);
    letGoOn();
    const [one, other] = await Promise.all(repeats);
    expect([one?.status, other?.status, one?.headers.get('idempotent-replayed')]).toEqual([200, 200, 'true']);
    expect(one?.body).toEqual(other?.body);
    expect((await charges()) ?? 0).toBe(before + (before - start));
  });

  describe('of a library that sends none, but counts its repeats', () => {
    const counted = (path: string, body: unknown, count: number, signal?: AbortSignal, more: object = {}) =>
      fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${TEST_KEY}`,
          'content-type': 'application/json',
          'x-stainless-retry-count': String(count),
          ...more,
        },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      });
    const records = () => run(`select 1 from idempotency_record where key like 'key\\_%  %'`);
    const used = async () => {
      await charges();
      return (await run<{ used: bigint }>('select used_micros as used from account'))[0]?.used ?? 0n;
    };
    const fresh = () => ({ ...TEXT, input: `lighthouses ${randomUUID()}` });
    /** Sends a first try, and cuts it off while it is at work. Answers how to let it go on. */
    const cutOff = async (path: string, body: unknown, isNoted = true, headers: object = {}) => {
      const letGoOn = holdReplies();
      const before = (await records()).length;
      const cut = new AbortController();
      const first = counted(path, body, 0, cut.signal, headers).catch(() => 'cut off');
      await eventually(async () => (await run('select 1 from request_hold where not is_reservation')).length > 0);
      cut.abort();
      expect(await first).toBe('cut off');
      if (isNoted) await eventually(async () => (await records()).length > before);
      return letGoOn;
    };
    /** Sends a repeat of a try that is at work, which goes on when the repeat waits for it. */
    const join = async (path: string, body: unknown, letGoOn: () => void, headers: object = {}) => {
      const sent = await now();
      const answer = counted(path, body, 1, undefined, headers);
      await untilAwaited(sent);
      letGoOn();
      return answer;
    };

    it('gives a repeat the answer of the try that was cut off, while it is at work and after, and charges once', async () => {
      const body = fresh();
      const start = await used();
      const letGoOn = await cutOff('/v1/responses', body);
      const joined = await join('/v1/responses', body, letGoOn);
      expect([joined.status, joined.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
      const answer: unknown = await joined.json();
      const again = await counted('/v1/responses', body, 2);
      expect(await again.json()).toEqual(answer);
      const price = (await used()) - start;
      expect(price).toBeGreaterThan(0n);
      // A first try is a request of its own, and so is a repeat of another body or way.
      expect(await (await counted('/v1/responses', body, 0)).json()).not.toEqual(answer);
      expect((await used()) - start).toBe(2n * price);
      const other = await counted('/v1/responses', { ...body, input: `${body.input}!` }, 1);
      expect(other.headers.get('idempotent-replayed')).toBeNull();
    });

    it('keeps nothing of a try that was answered, and does a repeat of it', async () => {
      const body = { ...TEXT, input: randomUUID() };
      const before = (await records()).length;
      const first: unknown = await (await counted('/v1/responses', body, 0)).json();
      expect((await records()).length).toBe(before);
      const repeat = await counted('/v1/responses', body, 1);
      expect([repeat.status, repeat.headers.get('idempotent-replayed')]).toEqual([200, null]);
      expect(await repeat.json()).not.toEqual(first);
    });

    it('is known for 15 minutes', async () => {
      const body = fresh();
      const letGoOn = await cutOff('/v1/responses', body);
      await (await join('/v1/responses', body, letGoOn)).text();
      const [record] = await run<{ minutes: number }>(
        `select max(round(extract(epoch from expires_at - now()) / 60))::integer as minutes from idempotency_record where key like 'key\\_%  %'`,
      );
      expect(record?.minutes).toBe(15);
      await run(`update idempotency_record set expires_at = now() where key like 'key\\_%  %'`);
      expect((await counted('/v1/responses', body, 1)).headers.get('idempotent-replayed')).toBeNull();
    });

    it('joins a repeat that comes at once', async () => {
      const body = fresh();
      const letGoOn = await cutOff('/v1/responses', body, false);
      const repeat = await join('/v1/responses', body, letGoOn);
      expect([repeat.status, repeat.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    });

    it.each(['chat', 'messages', 'gemini'] as const)('gives it in every style: %s', async (style) => {
      const text = `lighthouses ${randomUUID()}`;
      const { path, headers, body } = textRequest(style, { key: TEST_KEY, model: TEXT.model, stream: false, text });
      const start = await used();
      const letGoOn = await cutOff(path, body, true, headers);
      const joined = await join(path, body, letGoOn, headers);
      expect([joined.status, joined.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
      const answer = await joined.text();
      const price = (await used()) - start;
      expect(await (await counted(path, body, 2, undefined, headers)).text()).toBe(answer);
      expect((await used()) - start).toBe(price);
    });

    it('does one order for a try and its repeats', async () => {
      const body = { ...IMAGE, prompt: randomUUID() };
      const answers = await Promise.all([1, 1, 2].map((count) => counted(IMAGES, body, count)));
      const ids = await Promise.all(answers.map((answer) => answer.text()));
      expect(new Set(ids).size).toBe(1);
      expect(await run('select 1 from task where parameters ->> $1 = $2', 'prompt', body.prompt)).toHaveLength(1);
    });
  });

  it('refuses the repeat of a stream that is still written, which is not kept, at once', async () => {
    const key = randomUUID();
    const body = { ...TEXT, stream: true, input: 'lighthouses' };
    const letGoOn = holdReplies();
    const first = fetch(`${gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'idempotency-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then((answer) => answer.text());
    await eventually(async () => (await run('select 1 from idempotency_record where key = $1', key)).length === 1);
    expect(await send('/v1/responses', body, key)).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_in_flight' } },
    });
    letGoOn();
    expect(await first).toContain('response.completed');
  });

  it('frees the key when the request was refused, so that a corrected one may use it', async () => {
    const key = randomUUID();
    expect((await send(IMAGES, { ...IMAGE, size: 'huge' }, key)).status).toBe(400);
    expect((await send(IMAGES, IMAGE, key)).status).toBe(200);
  });

  it('returns the task of an attempt that died before its response', async () => {
    const key = randomUUID();
    const first = await send(IMAGES, IMAGE, key);
    await run(
      `update idempotency_record set state = 'in_flight', response_body = null, locked_until = now() where key = $1`,
      key,
    );
    const tasks = await run<{ n: number }>('select count(*)::integer n from task');
    expect(await send(IMAGES, IMAGE, key)).toMatchObject({ status: 200, body: first.body });
    expect(await run<{ n: number }>('select count(*)::integer n from task')).toEqual(tasks);
  });

  it('charges a text once although its attempt died before its response', async () => {
    const key = randomUUID();
    await send('/v1/responses', TEXT, key);
    await run(
      `update idempotency_record set state = 'in_flight', response_body = null, locked_until = now() where key = $1`,
      key,
    );
    const entries = await charges();
    expect((await send('/v1/responses', TEXT, key)).status).toBe(200);
    expect(await charges()).toBe(entries);
  });

  it('answers one repeat of a paid text for nothing, and no other after that one failed', async () => {
    const key = randomUUID();
    await send('/v1/responses', TEXT, key);
    await charges();
    await run(
      `update idempotency_record set state = 'in_flight', response_body = null, locked_until = now() where key = $1`,
      key,
    );
    const used = async () =>
      (await run<{ used: bigint }>('select sum(used_micros)::bigint used from account'))[0]?.used;
    const before = await used();
    const forOthers = await keyWith({ allowed_models: [IMAGE.model] });
    expect((await send('/v1/responses', TEXT, key, forOthers)).status).toBe(403);
    expect((await send('/v1/responses', TEXT, key)).status).toBe(200);
    await charges();
    expect(await used()).toBeGreaterThan(before ?? 0n);
  });

  it('does not store streams, and does not run one twice', async () => {
    const key = randomUUID();
    const headers = { authorization: `Bearer ${TEST_KEY}`, 'idempotency-key': key, 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify({ ...TEXT, stream: true }) };
    const stream = await fetch(`${gateway.baseUrl}/v1/responses`, request);
    expect(await stream.text()).toContain('data:');
    expect(await send('/v1/responses', { ...TEXT, stream: true }, key)).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    });
  });

  it('replays to a key over its limit, and frees the keys of requests that the limit refused', async () => {
    const [key, refused] = [randomUUID(), randomUUID()];
    const first = await send(IMAGES, IMAGE, key);
    const slow = await keyWith({ requests_per_minute: 1 });
    const statuses: number[] = [];
    for (let sent = 0; sent < 2; sent += 1) statuses.push((await send(IMAGES, IMAGE, refused, slow)).status);
    const another = await send(IMAGES, IMAGE, randomUUID(), slow);
    const repeated = await send(IMAGES, IMAGE, key, slow);
    const records = await run("select 1 from idempotency_record where state = 'in_flight'");
    expect([statuses, another.status]).toEqual([[200, 200], 429]);
    expect(repeated).toMatchObject({ status: 200, body: first.body });
    expect(records).toEqual([]);
  });

  it('expires after 24 hours', async () => {
    const key = randomUUID();
    await send(IMAGES, IMAGE, key);
    await run(`update idempotency_record set expires_at = now() where key = $1`, key);
    expect((await send(IMAGES, { ...IMAGE, prompt: 'a tower' }, key)).status).toBe(200);
  });

  it.each([
    ['with a space', 'two words'],
    ['of 256 characters', 'x'.repeat(256)],
  ])('refuses a key %s', async (_what, key) => {
    const answer = await send(IMAGES, IMAGE, key);
    expect(answer).toMatchObject({ status: 400, body: { error: { param: 'Idempotency-Key' } } });
  });
});
