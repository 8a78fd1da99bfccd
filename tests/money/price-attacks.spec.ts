import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import { type AdminGateway, startAdminGateway } from '../harness/admin-gateway.js';
import { type FakeEngine, startFakeEngine } from '../harness/tools/search-engine.js';
import { startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';

const ADMIN = { authorization: 'Bearer an-admin-token-for-tests' };
const MODEL = 'banded';
/** Micros for a token of input, twice that for one of output; from so many tokens of input on the dearer ones. */
const [FROM, BASE, DEAR] = [1_000, 100n, 300n];
const ROUNDS = 5;

/** Two accounts at one vendor, whose costs change elsewhere than our prices. */
const UPSTREAMS = `
  - { id: first, protocol: chat, base_url: "VENDOR_URL", key: k, priority: 0, models: { ${MODEL}: vendor-chat }, costs: { unit: USD, per_quantity: 1000000, ${MODEL}: [{ input_token: 2, output_token: 2 }, { from_input_tokens: 500, input_token: 9, output_token: 9 }] } }
  - { id: second, protocol: chat, base_url: "VENDOR_URL", key: k, priority: 1, models: { ${MODEL}: vendor-chat }, costs: { unit: USD, per_quantity: 1000000, ${MODEL}: [{ input_token: 1, output_token: 1 }, { from_input_tokens: 2000, input_token: 5, output_token: 5 }] } }
`;

interface Line {
  readonly unit: string;
  readonly quantity: number;
  readonly price_micros: string;
  readonly amount_micros: string;
  readonly source: string;
  readonly from_input_tokens: number;
  readonly band_tokens: number;
}

interface Row {
  readonly request: string;
  readonly status: string;
  readonly upstream: string;
  readonly amount: bigint;
  readonly worth: bigint | null;
  readonly input: bigint;
  readonly output: bigint;
  readonly lines: readonly Line[];
}

const words = (count: number): string => 'word '.repeat(count);

describe('A price by size of the prompt', () => {
  let engine: FakeEngine;
  let gateway: TextGateway;
  beforeAll(async () => {
    engine = await startFakeEngine();
    gateway = await startTextGateway(
      {
        ADMIN_TOKEN: 'an-admin-token-for-tests',
        WEB_SEARCH_ENGINE: 'searxng',
        WEB_SEARCH_URL: engine.baseUrl,
        TOOLS_MAX_ROUNDS: String(ROUNDS),
        TOOLS_MAX_CALLS: '9',
      },
      { more: UPSTREAMS },
    );
    await gateway.spareMoney();
    const prices = [0, FROM].flatMap((from) =>
      ['input_token', 'cached_input_token', 'output_token'].map((unit) => ({
        model: MODEL,
        unit,
        from_input_tokens: from,
        amount: String((from === 0 ? BASE : DEAR) * (unit === 'output_token' ? 2n : 1n)),
        per_quantity: 1_000_000,
        effective_from: '2026-02-01',
      })),
    );
    const { status } = await admin('POST', '/prices/import', { prices });
    if (status !== 200) throw new Error(`the prices were refused with ${status}`);
  });
  afterAll(async () => {
    await gateway.stop();
    await engine.stop();
  });
  afterEach(() => {
    gateway.vendor.rewrite = (json) => json;
    gateway.vendor.fault = 'none';
    gateway.vendor.faultyRequests = Number.POSITIVE_INFINITY;
    gateway.vendor.gate = undefined;
    gateway.vendor.script = () => undefined;
  });

  const admin = (method: string, path: string, body?: object) =>
    gateway.send<{ data: JsonObject & { id: string; key: string } }>(method, `/admin/v1${path}`, body, ADMIN);

  const ask = (more: object = {}, signal?: AbortSignal): Promise<Response> =>
    fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: MODEL,
        messages: [{ role: 'user', content: 'Hello' }],
        max_completion_tokens: 64,
        ...more,
      }),
      ...(signal && { signal }),
    });

  /** What came into the books, the oldest first. */
  async function rows(): Promise<readonly Row[]> {
    await gateway.settled();
    const found = await gateway.database.query<Row & Record<string, unknown>>({
      text: `select request_id as request, status, upstream, amount_micros as amount, cost_worth_micros as worth, input_tokens as input,
        output_tokens as output, lines from usage_record where model = $1 order by created_at, id`,
      values: [MODEL],
    });
    for (const { lines, amount } of found.rows)
      expect(lines.reduce((sum, line) => sum + BigInt(line.amount_micros), 0n)).toBe(amount);
    return found.rows;
  }

  /** The record of one request. */
  async function charged(more: object = {}): Promise<Row> {
    const before = (await rows()).length;
    const answer = await ask(more);
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(text);
    const row = await eventually(async () => (await rows())[before]);
    return row;
  }

  const bandOf = ({ lines }: Row): readonly number[] => [...new Set(lines.map(({ from_input_tokens: from }) => from))];
  const message = (text: string) => ({ messages: [{ role: 'user', content: text }] });
  const report = (tokens: number): void => {
    gateway.vendor.rewrite = (json) => json.replaceAll(/"prompt_tokens":\d+/g, `"prompt_tokens":${tokens}`);
  };

  it('is that of each round of a tool loop: five of 600 are five below 1,000, not one of 3,000', async () => {
    report(600);
    let left = ROUNDS - 1;
    gateway.vendor.script = () => {
      left -= 1;
      const call = { id: `call_${left}`, name: 'web_search', args: { query: 'tides' } };
      return left >= 0
        ? { reasoning: undefined, text: '', call }
        : { reasoning: undefined, text: 'At 17:42.', call: undefined };
    };
    const before = (await rows()).length;
    const answer = await gateway.send('POST', '/v1/responses', {
      model: MODEL,
      input: 'When is high water?',
      store: false,
      tools: [{ type: 'web_search' }],
    });
    expect(answer.status).toBe(200);
    const all = await eventually(async () => {
      const found = (await rows()).slice(before);
      return found.length === ROUNDS && found;
    });
    expect(all.map((row) => [row.input, bandOf(row)])).toEqual(all.map(() => [600n, [0]]));
  });

  it('counts the prompt of several answers once, and each answer once', async () => {
    gateway.vendor.fault = 'no-usage';
    const one = await charged(message(words(600)));
    gateway.vendor.rewrite = (json) => {
      const reply = JSON.parse(json) as { choices: object[] };
      return JSON.stringify({ ...reply, choices: [0, 1, 2, 3].map((index) => ({ ...reply.choices[0], index })) });
    };
    const four = await charged({ ...message(words(600)), n: 4 });
    expect([four.input, bandOf(four)]).toEqual([one.input, [0]]);
    // Where two answers meet, their tokens may melt into one.
    expect(Math.abs(Number(four.output - 4n * one.output))).toBeLessThan(4);
    expect(four.lines.every(({ source }) => source === 'counted')).toBe(true);
  });

  it('goes by our own count where the vendor reports nothing', async () => {
    gateway.vendor.fault = 'no-usage';
    const row = await charged(message(words(1_500)));
    expect(bandOf(row)).toEqual([FROM]);
    expect(row.lines.map(({ source, band_tokens: tokens }) => [source, BigInt(tokens)])).toEqual(
      row.lines.map(() => ['counted', row.input]),
    );
  });

  it.each([
    [5_000, 900, 0],
    [900, 5_000, FROM],
  ])('goes by the last of two reports of one input: %i, then %i', async (first, last, from) => {
    gateway.vendor.rewrite = (event) =>
      event
        .replace(/"prompt_tokens":\d+/, `"prompt_tokens":${last}`)
        .replace(
          '"choices":[{"index":0,"delta":{"role"',
          `"usage":{"prompt_tokens":${first},"completion_tokens":1},"choices":[{"index":0,"delta":{"role"`,
        );
    const row = await charged({ stream: true });
    expect([row.input, bandOf(row)]).toEqual([BigInt(last), [from]]);
  });

  it('goes by the sum of the parts where they are more than the whole', async () => {
    gateway.vendor.rewrite = (json) => json.replaceAll(/"cached_tokens":\d+/g, '"cached_tokens":1200');
    const row = await charged();
    expect(row.input).toBeGreaterThanOrEqual(1_200n);
    expect(bandOf(row)).toEqual([FROM]);
    expect(row.lines.filter(({ unit }) => /input/.test(unit)).reduce((sum, { quantity }) => sum + quantity, 0)).toBe(
      Number(row.input),
    );
  });

  it('is ours after a fail-over, and the cost is that of the upstream that served, in a band of its own', async () => {
    report(1_500);
    const usual = await charged();
    expect([usual.upstream, bandOf(usual), usual.worth]).toEqual(['first', [FROM], 9n * (usual.input + usual.output)]);
    gateway.vendor.fault = 'error-500';
    gateway.vendor.faultyRequests = 1;
    const moved = await charged();
    expect([moved.upstream, bandOf(moved), moved.amount]).toEqual(['second', [FROM], usual.amount]);
    expect(moved.worth).toBe(moved.input + moved.output);
  });

  it('is that of the known input where the caller leaves', async () => {
    let reached = (): void => undefined;
    const isReached = new Promise<void>((resolve) => (reached = resolve));
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    gateway.vendor.gate = { at: 'middle', opened, onReached: reached };
    gateway.vendor.fault = 'no-usage';
    const before = (await rows()).length;
    const caller = new AbortController();
    const answer = await ask({ ...message(words(1_500)), stream: true }, caller.signal);
    await isReached;
    caller.abort();
    await answer.text().catch(() => undefined);
    open();
    const row = await eventually(async () => (await rows())[before]);
    expect(bandOf(row)).toEqual([FROM]);
    expect(row.input).toBeGreaterThanOrEqual(1_500n);
  });

  it('stays that of the moment at which a request came, whatever book, list and account say while it runs', async () => {
    report(FROM);
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    let reached = (): void => undefined;
    const isReached = new Promise<void>((resolve) => (reached = resolve));
    gateway.vendor.gate = { at: 'start', opened, onReached: reached };
    const early = ask();
    await isReached;
    gateway.vendor.gate = undefined;
    await admin('POST', '/prices', {
      model: MODEL,
      unit: 'input_token',
      from_input_tokens: FROM,
      amount: '500',
      per_quantity: 1_000_000,
    });
    await admin('POST', '/price-lists', { id: 'double', name: 'Double', rules: [{ model: MODEL, factor: '2' }] });
    await admin('POST', `/accounts/${gateway.accountId}/price-list`, { list: 'double' });
    const priceOf = async (answer: Promise<Response>): Promise<string | undefined> => {
      const id = (await answer).headers.get('x-request-id');
      await (await answer).text();
      const query = {
        text: 'select lines from usage_record where request_id = $1',
        values: [id],
      };
      const row = await eventually(async () => (await gateway.database.query<{ lines: Line[] }>(query)).rows[0]);
      const line = row.lines.find(({ unit }) => unit === 'input_token');
      return (
        line &&
        String((BigInt(line.price_micros) * 1_000_000n) / BigInt((line as { per_quantity?: string }).per_quantity ?? 1))
      );
    };
    await eventually(async () => (await priceOf(ask())) === '1000000000', { pauseMs: 200 });
    open();
    expect(await priceOf(early)).toBe(String(DEAR * 1_000_000n));
    await admin('POST', `/accounts/${gateway.accountId}/price-list`, { list: null });
  });

  it('of one account is seen by no other, nor what any of it cost', async () => {
    const rules = [
      { model: MODEL, unit: 'input_token', amount: '77.123456', per_quantity: 1_000_000 },
      { model: 'eta-image-2.0', factor: '0.123' },
    ];
    await admin('POST', '/price-lists', { id: 'secret-list', name: 'Secret name', rules });
    const { id } = (await admin('POST', '/accounts', { name: 'Other', unlimited: true })).body.data;
    await admin('POST', `/accounts/${id}/price-list`, { list: 'secret-list' });
    const { key } = (await admin('POST', `/accounts/${id}/keys`, { name: 'k' })).body.data;
    const seen = async (bearer: string): Promise<string> => {
      const paths = [
        '/v1/models',
        `/v1/models/${MODEL}`,
        '/v1beta/models',
        '/v1/usage',
        '/v1/usage/records',
        '/v1/ledger',
      ];
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
      const quote = JSON.stringify({ model: MODEL, ...message('Hello') });
      const answers = [
        ...paths.map((path) => fetch(gateway.baseUrl + path, { headers })),
        fetch(`${gateway.baseUrl}/v1/quote`, { method: 'POST', headers, body: quote }),
        fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body: quote }),
      ];
      const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
      return texts.join('\n');
    };
    await eventually(async () => (await seen(key)).includes('77.123456'), { pauseMs: 300 });
    const [theirs, ours] = [await seen(key), await seen(gateway.key)];
    expect(ours).not.toMatch(/77\.123456|secret-list|Secret name/);
    for (const text of [theirs, ours]) expect(text).not.toMatch(/Secret name|"cost|cost_|"upstream":|margin/);
  });
});

describe('What media cost an operator, and what others pay for it', () => {
  /** Figures and names that stand nowhere else. */
  const [COST, FACTOR, LIST] = ['0.0031417', '0.123457', 'list-of-another'];
  const UNSEEN = /0\.00314|0\.123457|"3142"|list-of-another|studio-vendor|margin|"cost/;
  const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse' };
  let api: AdminGateway;
  let receiver: Server;
  let hook: string;
  const received: string[] = [];
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        received.push(JSON.stringify(request.headers) + Buffer.concat(chunks).toString());
        response.writeHead(204).end();
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    api = await startAdminGateway({ MEDIA_FETCH_ALLOW: hook.slice('http://'.length) });
    const models = { [IMAGE.model]: IMAGE.model };
    const entry = { kind: 'media', id: 'studio-vendor', protocol: 'sandbox', models };
    await api.admin('POST', '/upstreams', { ...entry, costs: { unit: 'USD', [IMAGE.model]: Number(COST) } });
    await api.admin('POST', '/price-lists', { id: LIST, name: LIST, rules: [{ model: '*', factor: FACTOR }] });
    const other = await api.newAccount({ unlimited: true });
    await api.admin('POST', `/accounts/${other.id}/price-list`, { list: LIST });
  });
  afterAll(async () => {
    await api.gateway.stop();
    receiver.closeAllConnections();
    receiver.close();
  });

  it('is in no webhook, error, task or page of a customer', async () => {
    const { id } = await api.newAccount();
    await api.admin('POST', `/accounts/${id}/top-ups`, { amount: '1', reference: 'first' });
    await api.admin('PATCH', `/accounts/${id}`, { low_balance: '0.9999' });
    const { key } = await api.newKey(id);
    const seen: string[] = [];
    const call = async (method: string, path: string, body?: unknown): Promise<JsonObject> => {
      const answer = await fetch(api.gateway.baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      seen.push(`${method} ${path} ${JSON.stringify([...answer.headers])} ${text}`);
      return text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {};
    };
    await call('POST', '/v1/webhooks/endpoints', { url: hook });
    const taskOf = (body: JsonObject) => (body['data'] as [{ task_id: string }])[0].task_id;
    const ordered: string[] = [];
    for (const prompt of ['a lighthouse', '[sandbox:fail=content_policy]', '[sandbox:fail=upstream_error]'])
      ordered.push(taskOf(await call('POST', '/v1/images/generations', { ...IMAGE, prompt })));
    const waiting = taskOf(await call('POST', '/v1/images/generations', { ...IMAGE, prompt: '[sandbox:hang]' }));
    await call('POST', `/v1/tasks/${waiting}/cancel`);
    for (const task of ordered) await call('GET', `/v1/tasks/${task}?wait=30`);
    await call('GET', `/v1/tasks/${ordered[0]}/events`);
    const types = ['task.completed', 'task.failed', 'balance.low'];
    await eventually(() => types.every((type) => received.some((body) => body.includes(`"${type}"`))));
    // What costs more than is left, and what is no order at all.
    await call('POST', '/v1/images/generations', { ...IMAGE, n: 15 });
    await api.admin('PATCH', `/accounts/${id}`, { daily_limit: '0.000001' });
    await eventually(async () => (await call('POST', '/v1/images/generations', IMAGE))['code'] === 402);
    await call('POST', '/v1/images/generations', { ...IMAGE, size: 'x' });
    await call('POST', '/v1/quote', IMAGE);
    const pages = api.gateway.routes().filter(([method, path]) => method === 'GET' && /^\/(v1|user)\b/.test(path));
    for (const [, path] of pages) if (!path.includes(':')) await call('GET', path);
    for (const path of ['/readyz', '/healthz', `/v1/models/${IMAGE.model}`, `/v1/tasks/${ordered[0]}`])
      await call('GET', path);
    expect(seen.length).toBeGreaterThan(25);
    for (const text of [...seen, ...received]) expect(text).not.toMatch(UNSEEN);
  });
});
