import type { ConsoleApi, JsonObject } from '#contracts';
import { configureLog, startTracing, TracingConfig } from '#platform';
import { eventually, startTraceCollector } from '#testing';
import { consoleClient } from '../harness/console-client.js';
import { consoleLinks } from '../harness/console-link.js';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const WORDS = 'tell nobody of project heron';

interface Refusable<Data> {
  readonly data: Data;
  readonly error?: { readonly message: string; readonly param: string };
}

type Entry = ConsoleApi['GET /prompt-log/entries/:entry_id']['answer'];

describe('The log of prompts and answers of an account', () => {
  let gateway: TextGateway;
  const lines: string[] = [];
  beforeAll(async () => {
    gateway = await startTextGateway({ ADMIN_TOKEN, PROMPT_LOG_ACCOUNT_MB: '1' });
    configureLog({ LOG_LEVEL: 'trace' }, { write: (line) => void lines.push(line) });
  });
  afterAll(() => gateway.stop());
  beforeEach(async () => {
    await admin('DELETE', '/entries');
    await set({ enabled: false });
    lines.length = 0;
  });

  const admin = <Data = JsonObject>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Refusable<Data> }> =>
    gateway.send(method, `/admin/v1/accounts/${gateway.accountId}/prompt-log${path}`, body, {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      'x-admin-actor': 'ada',
    });
  const entries = async (query = ''): Promise<Entry[]> => (await admin<Entry[]>('GET', `/entries${query}`)).body.data;
  const audited = async (action: string): Promise<JsonObject[]> => {
    const text = `select actor, action, after from audit_record where action = $1 and subject_id = $2 order by created_at`;
    return (await gateway.database.query<JsonObject>({ text, values: [action, gateway.accountId] })).rows;
  };

  /** Until every key of the process says so: what it knows of a key it believes for a few seconds. */
  async function set(settings: JsonObject): Promise<void> {
    expect((await admin('PUT', '', settings)).status).toBe(200);
    if (settings['enabled'] === false) return;
    await eventually(async () => {
      await ask('chat', false, { session: 'until-known' });
      return (await entries('?session=until-known')).length > 0;
    });
    await eventually(async () => {
      const { body } = await admin<{ bytes: number }>('DELETE', '/entries');
      return body.data.bytes === 0;
    });
  }

  async function ask(
    style: (typeof STYLES)[number],
    stream: boolean,
    {
      session = 'a-session',
      text = WORDS,
      over = style,
    }: { session?: string; text?: string; over?: keyof typeof MODEL_OVER } = {},
  ): Promise<string> {
    const request = textRequest(style, { key: gateway.key, model: MODEL_OVER[over], stream, text });
    const response = await fetch(`${gateway.baseUrl}${request.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-session-id': session, ...request.headers },
      body: JSON.stringify(request.body),
    });
    const answer = await response.text();
    expect({ status: response.status, answer: response.status === 200 ? '' : answer }).toMatchObject({ status: 200 });
    await gateway.settled();
    return answer;
  }

  async function kept(count: number, query = ''): Promise<Entry[]> {
    const found = await eventually(async () => {
      const list = (await entries(query)).filter(({ session }) => session !== 'until-known');
      return list.length >= count && list;
    });
    const read = found.map(async ({ id }) => (await admin<Entry>('GET', `/entries/${id}`)).body.data);
    return Promise.all(read);
  }

  /** Everything that the tables hold, as a backup would. */
  async function everyRow(): Promise<string> {
    const { rows } = await gateway.database.query<{ name: string }>({
      text: `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
      values: [],
    });
    const tables = rows.map(async ({ name }) => {
      const all = await gateway.database.query({
        text: `select row_to_json(t)::text as row from "${name}" t`,
        values: [],
      });
      return JSON.stringify(all.rows);
    });
    return (await Promise.all(tables)).join('');
  }

  it('is off at first, and nothing of a request is kept', async () => {
    expect((await admin('GET', '')).body.data).toMatchObject({ enabled: false, retention_days: 7, bytes: 0 });
    await ask('chat', false);
    await ask('messages', true);
    expect(await entries()).toEqual([]);
    expect(await everyRow()).not.toContain('project heron');
  });

  it('keeps request and answer of every style, whole, streamed and translated, sealed, and tells logs and spans nothing of them', async () => {
    await set({ enabled: true });
    const collector = await startTraceCollector();
    const tracing = await startTracing(
      Object.assign(new TracingConfig(), { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }),
      'test',
    );
    for (const style of STYLES)
      for (const stream of [false, true])
        for (const over of [style, style === 'messages' ? 'chat' : 'messages'] as const)
          await ask(style, stream, { session: `${style}-${stream}-${over}`, over });
    await tracing.stop(5_000);
    collector.close();
    const found = await kept(4 * STYLES.length);
    for (const { request, answer, session, model, request_id: id, cut } of found) {
      expect({ session, answer }).not.toMatchObject({ answer: '' });
      expect(JSON.stringify(JSON.parse(request))).toContain(WORDS);
      expect(Object.values(MODEL_OVER)).toContain(model);
      expect(id).toMatch(/\w/);
      expect(cut).toBe(false);
    }
    const [one] = found;
    expect((await entries(`?request_id=${one?.request_id}`)).map(({ id }) => id)).toEqual([one?.id]);
    // Stored responses are the customer's own, and not of this log.
    await gateway.database.query({ text: 'delete from text_response', values: [] });
    for (const place of [await everyRow(), lines.join(''), collector.sent.join('')])
      expect(place).not.toContain('project heron');
    expect((await admin('GET', '')).body.data['bytes']).toBeGreaterThan(1_000);
  });

  it('keeps nothing of requests that are refused before an upstream is asked', async () => {
    await set({ enabled: true });
    await gateway.setBalance(0n);
    for (const style of STYLES)
      for (const stream of [false, true]) {
        const request = textRequest(style, { key: gateway.key, model: MODEL_OVER[style], stream, text: WORDS });
        const { status } = await gateway.send('POST', request.path, request.body, request.headers);
        expect(status).toBe(402);
      }
    await gateway.spareMoney();
    await ask('chat', false, { session: 'paid' });
    expect((await kept(1)).map(({ session }) => session)).toEqual(['paid']);
  });

  it('leaves a record of each reading, change and deletion, with who it was', async () => {
    await set({ enabled: true });
    await ask('chat', false);
    const [entry] = await kept(1);
    const readings = await audited('account.prompt_read');
    expect(readings.at(-1)).toMatchObject({
      actor: 'ada',
      after: { entry_id: entry?.id, request_id: entry?.request_id },
    });
    expect((await admin('DELETE', `/entries/${entry?.id}`)).status).toBe(200);
    expect((await admin('GET', `/entries/${entry?.id}`)).status).toBe(404);
    expect((await admin('DELETE', `/entries/${entry?.id}`)).status).toBe(404);
    expect(await audited('account.prompt_read')).toHaveLength(readings.length);
    expect((await audited('account.prompt_removed')).at(-1)).toMatchObject({ actor: 'ada' });
    expect((await audited('account.prompt_log_set')).at(-1)).toMatchObject({ after: { enabled: true } });
    expect((await audited('account.prompt_log_cleared')).length).toBeGreaterThan(0);
  });

  it('takes out what it is told to before anything is kept, and names the rule of a pattern that it cannot use', async () => {
    await set({ enabled: true, redactions: ['email', 'card_number', 'project *'] });
    await ask('messages', false, { text: `${WORDS}, ada@example.com, 4111 1111 1111 1111, 4111 1111 1111 1112` });
    const [entry] = await kept(1);
    expect(entry?.request).toContain('tell nobody of [redacted] [redacted], [redacted], 4111 1111 1111 1112');
    // Of answers too, though a stream brings them in pieces, and of what is called.
    const told = 'write to ada@example.com of project heron';
    gateway.vendor.script = () => ({
      reasoning: undefined,
      text: told,
      call: { id: 'call_v1', name: 'look_up', args: { about: told } },
    });
    for (const style of STYLES)
      for (const stream of [false, true]) await ask(style, stream, { session: `answered-${style}-${stream}` });
    gateway.vendor.script = () => undefined;
    for (const { session, answer } of (await kept(1 + 2 * STYLES.length)).filter(
      (each) => each.session !== 'a-session',
    )) {
      expect([session, answer]).toEqual([session, expect.stringMatching(/write to \[redacted\] of \[redacted\]/)]);
      expect(answer).not.toMatch(/ada@|heron/);
    }
    const bad = await admin('PUT', '', { enabled: true, redactions: ['email', '(a*)*b'] });
    expect(bad.status).toBe(400);
    expect(bad.body.error).toMatchObject({ param: 'redactions.1', message: expect.stringContaining('card_number') });
    expect((await admin('PUT', '', { enabled: true, retention_days: 91 })).body.error?.param).toBe('retention_days');
  });

  it('keeps 256 KiB of a text, no files, and of an account no more than its space, the oldest going first', async () => {
    await set({ enabled: true });
    const noise = (): string => Array.from({ length: 30_000 }, () => Math.random().toString(36).slice(2)).join(' ');
    const first = noise();
    await ask('chat', false, { text: first, session: 'long' });
    const [long] = await kept(1, '?session=long');
    expect(long).toMatchObject({ cut: true });
    expect(long?.request.length).toBeGreaterThan(200 * 1024);
    expect(long?.request.length).toBeLessThan(257 * 1024);
    for (let turn = 0; turn < 9; turn += 1) await ask('chat', false, { text: noise(), session: `turn-${turn}` });
    await kept(1, '?session=turn-8');
    await eventually(async () => (await entries('?session=long')).length === 0);
    const { bytes, bytes_max: most } = (await admin('GET', '')).body.data as { bytes: number; bytes_max: number };
    expect(bytes).toBeLessThanOrEqual(most);
    const text =
      'select sum(e.kept_bytes)::float8 as sum from prompt_entry e join prompt_log l on l.id = e.log_id where l.ended_at is null';
    const { rows } = await gateway.database.query<{ sum: number }>({ text, values: [] });
    expect(rows[0]?.sum).toBe(bytes);
  });

  it('ends at once when it is deleted, and when the account is disabled, and for good: the key of its entries is gone', async () => {
    await set({ enabled: true });
    await ask('chat', false);
    const [entry] = await kept(1);
    const sealedKeys = async (): Promise<unknown[]> => {
      const text = 'select sealed_key from prompt_log l join prompt_entry e on e.log_id = l.id where e.id = $1';
      return (await gateway.database.query({ text, values: [entry?.id] })).rows;
    };
    expect((await admin('DELETE', '/entries')).body.data).toMatchObject({ enabled: true, bytes: 0 });
    expect((await admin('GET', `/entries/${entry?.id}`)).status).toBe(404);
    expect(await sealedKeys()).toEqual([{ sealed_key: null }]);
    const account = `/admin/v1/accounts/${gateway.accountId}`;
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    await gateway.send('PATCH', account, { disabled: true }, headers);
    expect((await admin('GET', '')).body.data).toMatchObject({ enabled: false });
    expect((await admin('PUT', '', { enabled: true })).status).toBe(409);
    await gateway.send('PATCH', account, { disabled: false }, headers);
  });

  it('is open to the owner of the account and to operators alone', async () => {
    await set({ enabled: true });
    await ask('chat', false);
    const [entry] = await kept(1);
    expect((await consoleClient(gateway).call('GET /prompt-log')).status).toBe(401);
    const holder = consoleClient(gateway);
    await holder.call('POST /sign-in/key', { key: gateway.key });
    expect((await holder.call('GET /prompt-log/entries')).status).toBe(403);
    const links = await consoleLinks(gateway);
    const owner = consoleClient(gateway);
    await owner.call('POST /sign-in/link', { code: new URL(await links.next()).hash.replace('#code=', '') });
    const path = `/prompt-log/entries/${entry?.id}`;
    const read = await owner.call('GET /prompt-log/entries/:entry_id', undefined, path);
    expect(read).toMatchObject({ status: 200, body: { request: expect.stringContaining(WORDS) } });
    expect((await owner.call('POST /prompt-log/clear')).body).toMatchObject({ enabled: true, bytes: 0 });
    const operator = consoleClient(gateway);
    await operator.call('POST /sign-in/operator', { token: ADMIN_TOKEN });
    const ofAccount = `/admin/accounts/${gateway.accountId}/prompt-log`;
    const settings = await operator.call('GET /admin/accounts/:account_id/prompt-log', undefined, ofAccount);
    expect(settings).toMatchObject({ status: 200, body: { enabled: true } });
    expect((await operator.call('GET /prompt-log')).status).toBe(403);
    await links.close();
  });
});
