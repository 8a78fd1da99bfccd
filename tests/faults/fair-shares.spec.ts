import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { ItemStore } from '#features';
import { readProcessConfig } from '#runtime';
import { eventually } from '#testing';
import { type Style, STYLES, textRequest } from '../harness/text-vendor/text-requests.js';
import { type AdminGateway, startAdminGateway } from '../harness/admin-gateway.js';

const MIB = 1024 * 1024;
const ORDER = { model: 'beta-2.5-preview', prompt: 'waves', resolution: '480p', size: '16:9', duration: 5 };
const IMAGE = { model: 'eta-image-2.0', prompt: '[sandbox:delay=600000]', size: '1:1', resolution: '1K' };
const MESSAGE = { model: 'vendor-haiku-4-5-20251001', messages: [{ role: 'user', content: 'hello' }] };

describe('Resources that accounts share', () => {
  let api: AdminGateway;
  const keys: string[] = [];
  let slow: { readonly body: ReturnType<typeof answerTo>; readonly unused: Promise<'closed'> } | undefined;
  const [hostile, victim] = [0, 1] as const;
  beforeAll(async () => {
    api = await startAdminGateway({
      BODY_LIMIT_MB: '8',
      BODY_MEMORY_MB: '32',
      FREE_REQUESTS_PER_MINUTE: '25',
      LONG_POLLS_PER_ACCOUNT: '4',
      TEXTS_AT_ONCE_PER_ACCOUNT: '3',
      DISCONNECT_DRAIN_SECONDS: '1',
    });
    for (let made = 0; made < 6; made += 1) {
      const account = await api.newAccount({ unlimited: true });
      keys.push((await api.newKey(account.id)).key);
    }
    // They are slow, and delay no other request.
    slow = { body: dripping(), unused: unusedConnection() };
  });
  afterAll(() => api.gateway.stop());

  async function dripping(): ReturnType<typeof answerTo> {
    const sent = begin(keys[3], '/v1/responses', MIB);
    sent.write('{"input":"');
    const drip = setInterval(() => sent.write('x'), 500);
    return answerTo(sent).finally(() => clearInterval(drip));
  }

  async function unusedConnection(): Promise<'closed'> {
    const socket = connect(Number(new URL(api.gateway.baseUrl).port), '127.0.0.1');
    socket.on('data', () => undefined);
    await once(socket, 'close');
    return 'closed';
  }

  async function uploaded(key: string | undefined): Promise<string> {
    const form = new FormData();
    form.set('purpose', 'assistants');
    form.set('file', new Blob([new Uint8Array(24 * MIB)]), 'long.txt');
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${api.gateway.baseUrl}/v1/files`, { method: 'POST', headers, body: form });
    return ((await answer.json()) as { id: string }).id;
  }

  /** Begins a request and leaves its body to the caller. */
  function begin(key: string | undefined, path: string, length: number, headers = {}): ClientRequest {
    const sent = httpRequest(api.gateway.baseUrl + path, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': length,
        ...headers,
      },
    });
    return sent.on('error', () => undefined);
  }

  async function answerTo(
    sent: ClientRequest,
  ): Promise<{ status: number | undefined; headers: IncomingMessage['headers']; body: string }> {
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
  }

  it('do not include memory for lists that one of them asks for and does not read', async () => {
    await api.gateway.database.query({
      text: `insert into uploaded_file (id, account_id, api_key_id, filename, purpose, content_type, store_key, state, bytes, sha256)
        select 'file-' || lpad(n::text, 30, '0'), k.account_id, k.id, repeat(chr(23383), 255), 'vision', '', 'none/' || n, 'ready', 1, ''
        from (select id, account_id from api_key order by created_at desc limit 1) k, generate_series(1, 5000) n`,
      limit: 'long',
    });
    const list = async (key = keys.at(-1)): Promise<number> => {
      const answer = await fetch(`${api.gateway.baseUrl}/v1/files?limit=10000`, {
        headers: { authorization: `Bearer ${key}` },
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    expect(await list()).toBe(200);
    const unread = connect(Number(new URL(api.gateway.baseUrl).port), '127.0.0.1');
    unread.write(`GET /v1/files?limit=10000 HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${keys.at(-1)}\r\n\r\n`);
    await once(unread, 'readable');
    expect([await list(), await list(keys[victim])]).toEqual([429, 200]);
    unread.destroy();
    await eventually(async () => (await list()) === 200, { pauseMs: 1_000 });
  });

  it('are not exhausted by one account with stalled bodies', async () => {
    const stalled = Array.from({ length: 12 }, () => {
      const sent = begin(keys[hostile], '/v1/responses', 8 * MIB);
      sent.write(`{"input":"${'x'.repeat(7 * MIB)}`);
      return sent;
    });
    const refused = await Promise.race(stalled.map((sent) => answerTo(sent).catch(() => undefined)));
    expect(refused?.status ?? 408).not.toBe(503);
    const body = JSON.stringify({ ...MESSAGE, max_tokens: 5, messages: [{ role: 'user', content: 'y'.repeat(MIB) }] });
    const sent = begin(keys[victim], '/v1/messages', body.length, { 'anthropic-version': '2023-06-01' });
    sent.end(body);
    expect((await answerTo(sent)).status).not.toBe(503);
    for (const one of stalled) one.destroy();
  });

  it('are not exhausted by one account with small requests that refer to large stored data', async () => {
    const { id: accountId } = await api.newAccount({ unlimited: true });
    const { key, id: apiKeyId } = await api.newKey(accountId);
    const items = [{ type: 'message', role: 'user', id: 'in_large', content: 'x'.repeat(7 * MIB) }];
    const response = { id: 'resp_large', object: 'response', output: [] };
    await new ItemStore(api.gateway.database, { config: readProcessConfig({}) }).save({
      accountId,
      apiKeyId,
      response,
      inputItems: items,
      previousResponseId: undefined,
    });
    const body = { model: 'vendor-5', previous_response_id: 'resp_large' };
    const ask = () => api.withKey(key, '/v1/responses/input_tokens', 'POST', body);
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    // A conversation that found room is too large to be counted (413); the others get 429.
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([413, 429]));
    expect((await ask()).status).toBe(413);
  });

  it('are released when a body arrives too slowly, and the connection is closed', async () => {
    expect(await slow?.body).toMatchObject({
      status: 408,
      headers: { connection: 'close' },
      body: expect.stringContaining('too slowly'),
    });
  });

  it('are released when a connection is opened and not used', async () => {
    expect(await slow?.unused).toBe('closed');
  });

  it('refuses a key over its limit before its body is read', async () => {
    const { id } = await api.newAccount({ unlimited: true });
    const { key } = await api.newKey(id, { requests_per_minute: 1 });
    const paths = [
      '/v1/quote',
      '/v1/responses',
      '/v1/messages/count_tokens',
      '/v1/videos/generations',
      '/v1/tasks/batch',
    ];
    await api.withKey(key, '/v1/quote', 'POST', ORDER);
    for (const path of paths) {
      const sent = begin(key, path, 500_000);
      sent.write('{');
      const { status, headers } = await answerTo(sent);
      expect([path, status]).toEqual([path, 429]);
      expect(headers).toMatchObject({
        'retry-after': expect.any(String),
        ratelimit: expect.stringContaining('"requests";r=0'),
      });
      sent.destroy();
    }
  });

  it.each([
    ['quotes', 'POST', '/v1/quote', ORDER],
    ['counting of tokens', 'POST', '/v1/messages/count_tokens', MESSAGE],
    ['batches', 'POST', '/v1/tasks/batch', { task_ids: ['a'] }],
    ['lists', 'GET', '/v1/tasks', undefined],
  ] as const)(
    'lets an account without limits have so much of what costs nothing and no more: %s',
    async (_what, method, path, body) => {
      const { id } = await api.newAccount({ unlimited: true });
      const owned = [await api.newKey(id), await api.newKey(id)].map(({ key }) => key);
      const headers = { 'anthropic-version': '2023-06-01' };
      const answers: Awaited<ReturnType<typeof api.gateway.send>>[] = [];
      for (let sent = 0; sent < 26; sent += 1) {
        const key = owned[sent % 2] ?? '';
        answers.push(await api.gateway.send(method, path, body, { authorization: `Bearer ${key}`, ...headers }));
      }
      const statuses = answers.map(({ status }) => status);
      expect(statuses.slice(0, 25)).not.toContain(429);
      expect(statuses[25]).toBe(429);
      expect(Number(answers[25]?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answers[25]?.headers.get('ratelimit')).toMatch(/^"free-requests";r=0;t=\d+$/);
      const other = await api.gateway.send(method, path, body, { authorization: `Bearer ${keys[victim]}`, ...headers });
      expect(other.status).toBe(200);
    },
  );

  it('are not exhausted by one account with downloads that it does not read', async () => {
    const [greedy, other] = [keys[5], keys[4]];
    const download = async (key: string | undefined, id: string): Promise<IncomingMessage> => {
      const headers = { authorization: `Bearer ${key}` };
      const asked = httpRequest(`${api.gateway.baseUrl}/v1/files/${id}/content`, { agent: false, headers });
      asked.on('error', () => undefined).end();
      return ((await once(asked, 'response')) as [IncomingMessage])[0];
    };
    const [mine, theirs] = [await uploaded(greedy), await uploaded(other)];
    const unread = await Promise.all(Array.from({ length: 4 }, () => download(greedy, mine)));
    expect(unread.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
    const refused = await download(greedy, mine);
    expect([refused.statusCode, await text(refused)]).toEqual([
      429,
      expect.stringContaining('download 4 files at once'),
    ]);
    const served = await download(other, theirs);
    expect([served.statusCode, (await text(served)).length]).toEqual([200, 24 * MIB]);
    for (const answer of unread) answer.destroy();
    await eventually(async () => {
      const again = await download(greedy, mine);
      again.destroy();
      return again.statusCode === 200;
    });
  });

  it('are not exhausted by unread downloads of the links of one account', async () => {
    const linkOf = async (key: string | undefined): Promise<string> => {
      const { rows } = await api.gateway.database.query<{ key: string }>({
        text: 'select store_key as key from uploaded_file where id = $1',
        values: [await uploaded(key)],
      });
      return api.gateway.platform.store.url(rows[0]?.key ?? '', { ttlSeconds: 60 });
    };
    const download = async (link: string): Promise<IncomingMessage> => {
      const asked = httpRequest(link, { agent: false });
      asked.on('error', () => undefined).end();
      return ((await once(asked, 'response')) as [IncomingMessage])[0];
    };
    const [mine, mineToo, theirs] = [await linkOf(keys[5]), await linkOf(keys[5]), await linkOf(keys[4])];
    const unread = await Promise.all(Array.from({ length: 64 }, () => download(mine)));
    expect(new Set(unread.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    const refused = await download(mineToo);
    expect([refused.statusCode, refused.headers['retry-after'], await text(refused)]).toEqual([
      429,
      '2',
      expect.stringContaining('download 64 files at once'),
    ]);
    const served = await download(theirs);
    expect([served.statusCode, (await text(served)).length]).toEqual([200, 24 * MIB]);
    for (const answer of unread) answer.destroy();
    await eventually(async () => {
      const again = await download(mine);
      again.destroy();
      return again.statusCode === 200;
    });
  });

  it('limits the text requests of an account that run at once, whole and streamed, in every style', async () => {
    const { id: accountId } = await api.newAccount({ unlimited: true });
    const { key } = await api.newKey(accountId);
    const leaving = new AbortController();
    const slowly = { ...MESSAGE, max_tokens: 50, messages: [{ role: 'user', content: '[sandbox:hang]' }] };
    const statuses: number[] = [];
    /** Asked again while it is refused: what looks for the limit takes places as well. */
    const hang = async (stream: boolean): Promise<void> => {
      while (!leaving.signal.aborted) {
        const answer = await fetch(`${api.gateway.baseUrl}/v1/messages`, {
          method: 'POST',
          headers: { 'x-api-key': key, 'vendor-version': '2025-01-01', 'content-type': 'application/json' },
          body: JSON.stringify({ ...slowly, stream }),
          signal: leaving.signal,
        }).catch(() => undefined);
        if (answer) statuses.push(answer.status);
        await answer?.text().catch(() => undefined);
      }
    };
    const running = [true, false, true].map(hang);
    const ask = (style: Style, by: string) => {
      const { path, headers, body } = textRequest(style, { key: by, model: MESSAGE.model, stream: style !== 'chat' });
      const init = {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      };
      return fetch(api.gateway.baseUrl + path, init);
    };
    await eventually(
      async () => {
        const answers = await Promise.all(STYLES.map((style) => ask(style, key)));
        return answers.every(({ status }) => status === 429);
      },
      { shows: () => statuses.join(' ') },
    );
    for (const style of STYLES) {
      const refused = await ask(style, key);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
      expect((await ask(style, keys[victim] ?? '')).status).toBe(200);
    }
    leaving.abort();
    await Promise.all(running);
    await eventually(async () => (await ask('chat', key)).status === 200);
  });

  it('limits the open waits and event streams of an account', async () => {
    const key = keys[2] ?? '';
    const authorization = { authorization: `Bearer ${key}` };
    const submitted = await api.withKey<{ data: { task_id: string }[] }>(key, '/v1/images/generations', 'POST', IMAGE);
    const path = `/v1/tasks/${submitted.body.data[0]?.task_id}`;
    const leaving = new AbortController();
    const open = await Promise.all(
      [1, 2, 3, 4].map(() =>
        fetch(`${api.gateway.baseUrl}${path}/events`, { headers: authorization, signal: leaving.signal }),
      ),
    );
    expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    for (const further of [`${path}?wait=5`, `${path}/events`]) {
      const answer = await api.gateway.send('GET', further, undefined, authorization);
      expect(answer).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
      expect(answer.headers.get('retry-after')).toBe('2');
    }
    expect((await api.gateway.send('GET', path, undefined, authorization)).status).toBe(200);
    leaving.abort();
    const again = async (): Promise<number> =>
      (await api.gateway.send('GET', `${path}?wait=1`, undefined, authorization)).status;
    await eventually(async () => (await again()) !== 429);
    expect(await again()).toBe(200);
  });
});
