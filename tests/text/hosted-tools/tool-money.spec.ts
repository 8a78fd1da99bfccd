import { parseMicros } from '#contracts';
import { ReconciliationService } from '#features';
import { eventually } from '#testing';
import { type FakeEngine, startFakeEngine } from '../../harness/tools/search-engine.js';
import { SHORT_SEARCHES, type ShortRequest } from '../../harness/tools/short-searches.js';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../../harness/text-vendor/text-gateway.js';

interface Line {
  readonly unit: string;
  readonly quantity: number;
  readonly amount_micros: string;
}

interface UsageRow {
  readonly request: string;
  readonly status: string;
  readonly amount: bigint;
  readonly lines: readonly Line[];
}

const SEARCH_MICROS = 5_000n;
/** More than a short first round holds. */
const ROUND_MICROS = 20_000n;
const ROUNDS = 3;

/** As good as the first for the same model. */
const SECOND_UPSTREAM = `  - { id: chat-2, protocol: chat, base_url: "VENDOR_URL", key: k, models: { ${MODEL_OVER.chat}: second } }\n`;

const ADMIN_TOKEN = 'admin-token-for-tests';

describe('The money of tools that the gateway runs', () => {
  let engine: FakeEngine;
  let gateway: TextGateway;
  /** How often the model searches before it answers. */
  let searches = 1;
  beforeAll(async () => {
    engine = await startFakeEngine();
    gateway = await startTextGateway(
      {
        WEB_SEARCH_ENGINE: 'searxng',
        WEB_SEARCH_URL: engine.baseUrl,
        TOOLS_MAX_ROUNDS: String(ROUNDS),
        TOOLS_MAX_CALLS: '2',
        ADMIN_TOKEN,
      },
      { idleSeconds: 30, more: SECOND_UPSTREAM },
    );
    await gateway.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_search', $1, 'web_search_call', $2, 1, now() - interval '1 day', 'test'),
          ('price_round', $1, 'tool_round', $3, 1, now() - interval '1 day', 'test')`,
      values: [MODEL_OVER.chat, SEARCH_MICROS, ROUND_MICROS],
    });
    gateway.vendor.script = ({ toolNames }) => {
      searches -= 1;
      const call = { id: `call_${searches}`, name: 'web_search', args: { query: 'tides' } };
      return searches >= 0 && toolNames.includes('web_search')
        ? { reasoning: undefined, text: '', call }
        : { reasoning: undefined, text: 'At 17:42.【1】', call: undefined };
    };
    // The price book is read again after some seconds.
    await eventually(async () => {
      searches = 1;
      await ask();
      await gateway.settled();
      return (await allRows()).some((row) => unitsOf(row)['web_search_call'] === 1);
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await engine.stop();
  });
  /** The requests of the tests before. */
  let known: readonly string[] = [];
  beforeEach(async () => {
    known = (await allRows()).map(({ request }) => request);
  });
  afterEach(async () => {
    gateway.vendor.fault = 'none';
    await gateway.spareMoney();
    await gateway.settled();
    await expectExact();
  });

  const rows = async (): Promise<readonly UsageRow[]> =>
    (await allRows()).filter(({ request }) => !known.includes(request));

  const allRows = async (): Promise<readonly UsageRow[]> =>
    (
      await gateway.database.query<UsageRow>({
        text: `select request_id as request, status, amount_micros as amount, lines from usage_record order by request_id`,
      })
    ).rows;

  /** Every charge is the sum of its lines, and the books agree with the balances. */
  async function expectExact(): Promise<void> {
    for (const { amount, lines } of await rows())
      expect(lines.reduce((sum, line) => sum + BigInt(line.amount_micros), 0n)).toBe(amount);
    const report = await new ReconciliationService(gateway.database).run();
    // A test that makes an account poor does so behind the back of the books.
    expect(report?.findings.filter(({ check }) => check !== 'account_balances')).toEqual([]);
  }

  const unitsOf = ({ lines }: UsageRow): Record<string, number> =>
    Object.fromEntries(
      lines.filter(({ unit }) => !unit.endsWith('token')).map(({ unit, quantity }) => [unit, quantity]),
    );

  const body = (more: object = {}) => ({
    model: MODEL_OVER.chat,
    input: 'When is high water?',
    store: false,
    tools: [{ type: 'web_search' }],
    ...more,
  });
  const ask = (more?: object) =>
    gateway.send<{ status: string; incomplete_details: object | null; usage: { total_tokens: number } }>(
      'POST',
      '/v1/responses',
      body(more),
    );

  it('is itemized: for each round the tokens read and written, and the calls made', async () => {
    searches = 1;
    const answer = await ask();
    expect([answer.status, answer.body.status]).toEqual([200, 'completed']);
    await gateway.settled();
    const all = await eventually(async () => ((await rows()).length === 2 ? rows() : null));
    expect(all.map(unitsOf)).toEqual([{ web_search_call: 1 }, { tool_round: 1 }]);
    expect(all[1]?.request).toBe(`${all[0]?.request}.2`);
    expect(all.map(({ status }) => status)).toEqual(['completed', 'completed']);
    const call = all[0]?.lines.find(({ unit }) => unit === 'web_search_call');
    expect(call?.amount_micros).toBe(String(SEARCH_MICROS));
    expect(answer.body.usage.total_tokens).toBe(2 * 18);
  });

  it('is quoted with what is held for the calls of the first round', async () => {
    const held = async (sent: object): Promise<bigint> => {
      const { status, body: quote } = await gateway.send<{ data: { held: string } }>('POST', '/v1/quote', sent);
      expect(status).toBe(200);
      return parseMicros(quote.data.held);
    };
    const request = SHORT_SEARCHES.chat(MODEL_OVER.chat, false);
    const { web_search_options: _search, ...without } = request[1];
    expect((await held(request[1])) - (await held(without))).toBeGreaterThanOrEqual(2n * SEARCH_MICROS);
    expect(await held(request[1])).toBeLessThanOrEqual(await firstHold(request));
  });

  it('is found as a whole by the id of the request, for customers and operators', async () => {
    searches = 1;
    await ask();
    await gateway.settled();
    const all = await eventually(async () => ((await rows()).length === 2 ? rows() : null));
    const bills = all.map(({ request }) => request);
    const found = async (path: string, token?: string): Promise<readonly string[]> => {
      const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
      const { body: page } = await gateway.send<{ data: readonly { request_id: string }[] }>(
        'GET',
        `${path}?request_id=${bills[0]}`,
        undefined,
        headers,
      );
      return [...new Set(page.data.map(({ request_id: id }) => id))].toSorted();
    };
    for (const path of ['/v1/usage/records', '/v1/ledger']) expect([path, await found(path)]).toEqual([path, bills]);
    for (const path of ['/admin/v1/usage/records', '/admin/v1/ledger'])
      expect([path, await found(path, ADMIN_TOKEN)]).toEqual([path, bills]);
  });

  it.each([
    ['the rounds of a request', {}, ROUNDS, 2],
    ['the calls that its caller sets', { max_tool_calls: 1 }, ROUNDS, 1],
  ])('ends where %s end, and says so', async (_what, more, rounds, calls) => {
    searches = 100;
    const answer = await ask(more);
    expect([answer.status, answer.body.status]).toEqual([200, 'incomplete']);
    expect(answer.body.incomplete_details).toEqual({ reason: 'max_tool_calls' });
    const all = await eventually(async () => ((await rows()).length === rounds ? rows() : null));
    const made = all.reduce((sum, row) => sum + (unitsOf(row)['web_search_call'] ?? 0), 0);
    expect(made).toBe(calls);
  });

  it('is spent at one upstream for all rounds of a request', async () => {
    for (let nth = 0; nth < 8; nth += 1) {
      searches = ROUNDS - 1;
      const before = gateway.vendor.seen.length;
      expect((await ask()).status).toBe(200);
      const models = gateway.vendor.seen.slice(before).map(({ body: { model } }) => model);
      expect(models).toHaveLength(ROUNDS);
      expect(new Set(models).size).toBe(1);
    }
  });

  it.each([
    ['fails', 'error-500', 502],
    ['is refused', 'refusal-400', 400],
  ] as const)('is charged for completed rounds alone when a later round %s', async (_how, fault, status) => {
    searches = 1;
    const engineAsked = engine.seen.length;
    const script = gateway.vendor.script;
    gateway.vendor.script = (request) => {
      gateway.vendor.fault = fault;
      return script(request);
    };
    const answer = await ask();
    gateway.vendor.script = script;
    expect(answer.status).toBe(status);
    expect(engine.seen).toHaveLength(engineAsked + 1);
    const all = await eventually(async () => ((await rows()).length === 2 ? rows() : null));
    expect(unitsOf(all[0]!)).toEqual({ web_search_call: 1 });
    expect(all[0]!.amount).toBeGreaterThan(SEARCH_MICROS);
    expect(all[1]!.amount).toBe(0n);
    expect(all.map(({ status: ended }) => ended)).toEqual(['completed', 'failed']);
  });

  it.each([
    ['is answered whole', false, 502],
    ['is streamed', true, 200],
  ])(
    'is charged for the rounds before alone when nobody can read a call in the last, which %s',
    async (_how, stream, status) => {
      searches = 1;
      const script = gateway.vendor.script;
      gateway.vendor.script = (request) =>
        request.result === undefined
          ? script(request)
          : { reasoning: undefined, text: '', call: { id: 'call_tide', name: 'get_tide', args: { city: 'Paris' } } };
      gateway.vendor.rewrite = (json) => json.replaceAll('is\\"}"', 'is"');
      const [path, sent] = SHORT_SEARCHES.gemini(MODEL_OVER.chat, stream);
      const declared = { functionDeclarations: [{ name: 'get_tide' }] };
      const response = await send([path, { ...sent, tools: [...sent.tools, declared] }]);
      const text = await response.text();
      gateway.vendor.script = script;
      gateway.vendor.rewrite = (json) => json;
      expect([response.status, text]).toEqual([status, expect.stringContaining('arguments cannot be read')]);
      await gateway.settled();
      const all = await rows();
      expect(all.map(({ status: ended }) => ended)).toEqual(['completed', 'failed']);
      expect(all.map(unitsOf)).toEqual([{ web_search_call: 1 }, stream ? { tool_round: 1 } : {}]);
      // Both rounds report the same tokens. A stream pays for what it was sent; whole, there is nothing to pay for.
      const tokens = all[0]!.amount - SEARCH_MICROS;
      expect(all[1]!.amount).toBe(stream ? ROUND_MICROS + tokens : 0n);
    },
  );

  it('stops before a round that the balance cannot pay, and charges the rounds before it', async () => {
    searches = 1;
    await gateway.setBalance(0n);
    const answer = await ask();
    expect(answer.status).toBe(402);
    expect(await rows()).toHaveLength(0);
  });

  /** Answered in any form. */
  const send = ([path, sent]: ShortRequest, signal?: AbortSignal) =>
    fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${gateway.key}`,
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify(sent),
      ...(signal && { signal }),
    });

  /** What the first round of such a request holds, as the ledger of one that was paid tells. */
  async function firstHold(request: ShortRequest): Promise<bigint> {
    searches = 1;
    expect((await send(request)).status).toBe(200);
    const [first] = await eventually(async () => ((await rows()).length === 2 ? rows() : null));
    known = (await allRows()).map(({ request: id }) => id);
    const { rows: held } = await gateway.database.query<{ amount: bigint }>({
      text: `select amount_micros as amount from ledger_entry where request_id = $1 and kind = 'hold'`,
      values: [first!.request],
    });
    return held[0]!.amount;
  }

  it.each(
    Object.entries(SHORT_SEARCHES).flatMap(([style, request]) => [
      [style, 'answered whole', 402, request(MODEL_OVER.chat, false)] as const,
      [style, 'streamed', 200, request(MODEL_OVER.chat, true)] as const,
    ]),
  )(
    'is charged in %s for a first round, %s, behind which the balance covers no second',
    async (...[, , status, request]) => {
      await gateway.setBalance(await firstHold(request));
      searches = 1;
      const asked = gateway.vendor.seen.length;
      const response = await send(request);
      expect([response.status, await response.text()]).toEqual([status, expect.stringMatching(/balance/i)]);
      await gateway.settled();
      expect(gateway.vendor.seen.length).toBe(asked + 1);
      const all = await rows();
      expect(all.map(unitsOf)).toEqual([{ web_search_call: 1 }]);
      expect(all[0]!.amount).toBeGreaterThan(SEARCH_MICROS);
    },
  );

  it('goes on for a caller whose whole balance the first round held', async () => {
    const request = ['/v1/responses', body({ max_tool_calls: 1, max_output_tokens: 2_000, stream: true })] as const;
    const whole = await firstHold(request);
    let refused = 0;
    for (let nth = 0; nth < 20; nth += 1) {
      // The price of the second round lies beside the hold of the first; its words are paid from what that gives back.
      await gateway.setBalance(whole + ROUND_MICROS + 2_000n);
      searches = 1;
      const response = await send(request);
      expect(response.status).toBe(200);
      if ((await response.text()).includes('insufficient_balance')) refused += 1;
    }
    expect(refused).toBe(0);
  });

  it('is charged for all rounds at the prices of when the request came', async () => {
    searches = 1;
    let open = (): void => undefined;
    gateway.vendor.gate = { at: 'start', opened: new Promise((done) => (open = done)) };
    const asked = gateway.vendor.seen.length;
    const answer = ask();
    await eventually(() => gateway.vendor.seen.length === asked + 1);
    gateway.vendor.gate = undefined;
    await gateway.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_dear', $1, 'output_token', 1000, 1, now(), 'test')`,
      values: [MODEL_OVER.chat],
    });
    const outputPrices = async (): Promise<readonly number[]> =>
      (await rows())
        .flatMap(({ lines }) => lines.filter(({ unit }) => unit === 'output_token'))
        .map(({ quantity, amount_micros: amount }) => Number(amount) / quantity);
    await eventually(async () => {
      searches = 0;
      await ask({ tools: [] });
      return (await outputPrices()).includes(1000);
    });
    known = (await allRows()).map(({ request }) => request);
    open();
    expect((await answer).status).toBe(200);
    const prices = await eventually(async () => ((await rows()).length === 2 ? outputPrices() : null));
    await gateway.database.query({ text: `update price set withdrawn_at = now() where id = 'price_dear'`, values: [] });
    expect(prices.filter((price) => price >= 1000)).toEqual([]);
  });

  it('is charged for both rounds when the caller leaves in the second', async () => {
    searches = 1;
    const script = gateway.vendor.script;
    let open = (): void => undefined;
    gateway.vendor.script = (request) => {
      if (request.result !== undefined)
        gateway.vendor.gate = { at: 'start', opened: new Promise((done) => (open = done)) };
      return script(request);
    };
    const leaving = new AbortController();
    const asked = gateway.vendor.seen.length;
    const answer = send(['/v1/responses', body({ stream: true })], leaving.signal).then((response) => response.text());
    await eventually(() => gateway.vendor.seen.length === asked + 2);
    leaving.abort();
    await answer.catch(() => undefined);
    open();
    gateway.vendor.script = script;
    gateway.vendor.gate = undefined;
    await gateway.untilAnswered();
    await gateway.settled();
    const all = await eventually(async () => ((await rows()).length === 2 ? rows() : null));
    expect(unitsOf(all[0]!)).toEqual({ web_search_call: 1 });
    expect(unitsOf(all[1]!)).toEqual({ tool_round: 1 });
    expect(all[1]!.amount).toBeGreaterThan(ROUND_MICROS);
  });

  it('is charged for the completed rounds alone when the vendor breaks the second, which its caller has left', async () => {
    searches = 1;
    const script = gateway.vendor.script;
    let open = (): void => undefined;
    gateway.vendor.script = (request) => {
      gateway.vendor.fault = 'garbage';
      if (request.result !== undefined)
        gateway.vendor.gate = { at: 'start', opened: new Promise((done) => (open = done)) };
      return script(request);
    };
    const leaving = new AbortController();
    const asked = gateway.vendor.seen.length;
    const answer = send(['/v1/responses', body()], leaving.signal).then((response) => response.text());
    await eventually(() => gateway.vendor.seen.length === asked + 2);
    leaving.abort();
    await answer.catch(() => undefined);
    gateway.vendor.gate = undefined;
    open();
    gateway.vendor.script = script;
    await gateway.untilAnswered();
    await gateway.settled();
    const all = await eventually(async () => ((await rows()).length === 2 ? rows() : null));
    expect(all[0]!.amount).toBeGreaterThan(SEARCH_MICROS);
    expect(all[1]!.amount).toBe(0n);
  });

  it('is charged for the completed rounds when the caller leaves between them', async () => {
    searches = 100;
    const leaving = new AbortController();
    const asked = engine.seen.length;
    const answer = send(['/v1/responses', body({ stream: true })], leaving.signal).then((response) => response.text());
    await eventually(() => engine.seen.length > asked);
    leaving.abort();
    await answer.catch(() => undefined);
    await gateway.untilAnswered();
    await gateway.settled();
    const all = await eventually(async () => ((await rows()).length > 0 ? rows() : null));
    expect(all.length).toBeLessThanOrEqual(ROUNDS);
    expect(unitsOf(all[0]!)).toEqual({ web_search_call: 1 });
    // A round that was held for and not begun has a record of nothing.
    expect(all.filter(({ amount }) => amount === 0n).every(({ lines }) => lines.length === 0)).toBe(true);
    expect(all[0]!.amount).toBeGreaterThan(SEARCH_MICROS);
  });
});
