import type { JsonObject } from '#contracts';
import { signals } from '#platform';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

const PROTOCOLS = ['responses', 'chat', 'messages', 'gemini'] as const;
type Protocol = (typeof PROTOCOLS)[number];
const ADMIN = { authorization: 'Bearer an-admin-token-for-tests' };
const SINCE = '2026-02-01';
const FROM = 1_000;

interface Line {
  readonly unit: string;
  readonly variant: string;
  readonly quantity: number;
  readonly amount_micros: string;
  readonly from_input_tokens?: number;
  readonly band_tokens?: number;
}

const million = (model: string, unit: string, amount: number, more: object = {}): object => ({
  model,
  unit,
  amount: String(amount),
  per_quantity: 1_000_000,
  effective_from: SINCE,
  ...more,
});

/** Every kind of token of a model of the example book: `cents` for input, twice that for output. */
const priced = (model: string, amount: number, more: object = {}): object[] =>
  ['input_token', 'cached_input_token', 'cache_write_token', 'output_token'].map((unit) =>
    million(model, unit, unit === 'output_token' ? 2 * amount : amount, more),
  );

describe('A band of prices', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway({ ADMIN_TOKEN: 'an-admin-token-for-tests' });
    await gateway.setBalance(1_000_000_000n);
    const prices = Object.values(MODEL_OVER).flatMap((model) => [
      ...priced(model, 100),
      ...priced(model, 300, { from_input_tokens: FROM }),
      ...priced(model, 200, { variant: 'priority' }),
      ...priced(model, 600, { variant: 'fast', from_input_tokens: FROM }),
    ]);
    const { status, body } = await admin('POST', '/prices/import', { prices });
    if (status !== 200) throw new Error(body.error.message);
    // A process keeps a price that it knows for some seconds.
    await eventually(
      async () => (await charged('responses', MODEL_OVER.responses)).lines[0]?.band_tokens !== undefined,
      { pauseMs: 200 },
    );
  });
  afterAll(() => gateway.stop());
  afterEach(() => {
    gateway.vendor.rewrite = (json) => json;
  });

  const admin = (method: string, path: string, body?: object) =>
    gateway.send<JsonObject & { data: JsonObject; error: { code: string; message: string; param: string } }>(
      method,
      `/admin/v1${path}`,
      body,
      ADMIN,
    );

  /** The lines that a request was charged by, and what was held for it. */
  async function charged(style: Style, model: string, added: JsonObject = {}, stream = false) {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream });
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...body, ...added }),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(text);
    await gateway.settled();
    const { rows } = await gateway.database.query<{ lines: Line[]; amount_micros: bigint; input_tokens: bigint }>({
      text: 'select lines, amount_micros, input_tokens from usage_record order by created_at desc, id desc limit 1',
    });
    return rows[0]!;
  }

  /** Lets the vendor report so much input, of which three tokens are read from a cache. */
  const report = (protocol: Protocol, tokens: number, more = ''): void => {
    const counts: Readonly<Record<Protocol, readonly [RegExp, string]>> = {
      responses: [/"input_tokens":\d+/g, `${more}"input_tokens":${tokens}`],
      chat: [/"prompt_tokens":\d+/g, `${more}"prompt_tokens":${tokens}`],
      messages: [/"input_tokens":\d+/g, `${more}"input_tokens":${tokens - 3}`],
      gemini: [/"promptTokenCount":\d+/g, `${more}"promptTokenCount":${tokens}`],
    };
    gateway.vendor.rewrite = (json) => json.replaceAll(...counts[protocol]);
  };

  it.each(PROTOCOLS.flatMap((protocol) => [false, true].map((stream) => [protocol, stream] as const)))(
    'holds from its first token on for the whole call: over %s, streamed %s',
    async (protocol, stream) => {
      for (const tokens of [FROM - 1, FROM, FROM + 1]) {
        report(protocol, tokens);
        const {
          lines,
          amount_micros: amount,
          input_tokens: input,
        } = await charged(protocol, MODEL_OVER[protocol], {}, stream);
        const from = tokens < FROM ? 0 : FROM;
        const price = tokens < FROM ? 100n : 300n;
        const output = lines.reduce(
          (sum, { unit, quantity }) => (unit === 'output_token' || unit === 'reasoning_token' ? sum + quantity : sum),
          0,
        );
        expect(Number(input)).toBe(tokens);
        expect(lines.map((line) => [line.from_input_tokens, line.band_tokens])).toEqual(
          lines.map(() => [from, tokens]),
        );
        expect(amount).toBe(price * BigInt(tokens + 2 * output));
        expect(lines.reduce((sum, line) => sum + BigInt(line.amount_micros), 0n)).toBe(amount);
      }
    },
  );

  it('is held by what 1.35 times the estimate can reach', async () => {
    const words = 'word '.repeat(1_500);
    const { id } = (
      await gateway.send<{ id: string }>('POST', '/v1/responses', {
        model: MODEL_OVER.responses,
        input: words,
        max_output_tokens: 16,
      })
    ).body;
    expect(id).toBeDefined();
    await gateway.settled();
    const held = async () =>
      (
        await gateway.database.query<{ amount: bigint }>({
          text: `select amount_micros as amount from ledger_entry where kind = 'hold' order by id desc limit 1`,
        })
      ).rows[0]!.amount;
    expect(await held()).toBeGreaterThanOrEqual(1_500n * 300n);
    await gateway.send('POST', '/v1/responses', { model: MODEL_OVER.responses, input: 'Hello', max_output_tokens: 16 });
    await gateway.settled();
    expect(await held()).toBeLessThan(200n * 300n);
  });

  it.each([
    ['responses', { service_tier: 'priority' }],
    ['chat', { service_tier: 'fast' }],
    ['gemini', { serviceTier: 'SERVICE_TIER_PRIORITY' }],
  ] as const)('passes a tier that has prices, and charges what served, in the %s style', async (style, added) => {
    // One of the vendors names the tier in every reply.
    gateway.vendor.rewrite = (json) => json.replaceAll('"service_tier":"default"', '"service_tier":"priority"');
    const { lines } = await charged(style, MODEL_OVER[style], added);
    expect(gateway.vendor.last.text).toMatch(/priority|fast/i);
    expect(new Set(lines.map(({ variant }) => variant))).toEqual(new Set(['priority']));
    const shown = gateway.vendor.rewrite;
    gateway.vendor.rewrite = (json) =>
      json
        .replaceAll(/"usage":\{/g, '"service_tier":"default","usage":{')
        .replaceAll(/"usageMetadata":\{/g, '"usageMetadata":{"serviceTier":"STANDARD",');
    expect(new Set((await charged(style, MODEL_OVER[style], added)).lines.map(({ variant }) => variant))).toEqual(
      new Set(['default']),
    );
    gateway.vendor.rewrite = shown;
  });

  const TIER_ASKED = {
    responses: 'service_tier',
    chat: 'service_tier',
    messages: 'service_tier',
    gemini: 'serviceTier',
  } as const;
  const TRANSLATED = STYLES.flatMap((style) =>
    PROTOCOLS.filter((protocol) => protocol !== style).flatMap((protocol) =>
      [false, true].map((stream) => [style, protocol, stream] as const),
    ),
  );

  it.each(TRANSLATED.filter(([, protocol]) => protocol !== 'messages'))(
    'asks a vendor of another protocol for a tier that has prices: %s over %s, streamed %s',
    async (style, protocol, stream) => {
      gateway.vendor.rewrite = (json) => json.replaceAll('"service_tier":"default"', '"service_tier":"priority"');
      const { lines } = await charged(style, MODEL_OVER[protocol], { [TIER_ASKED[style]]: 'priority' }, stream);
      expect(new Set(lines.map(({ variant }) => variant))).toEqual(new Set(['priority']));
      expect(gateway.vendor.last.body).toHaveProperty(TIER_ASKED[protocol], 'priority');
    },
  );

  it.each(TRANSLATED.filter(([, protocol]) => protocol === 'messages'))(
    'refuses a tier that the vendor has no field for: %s over %s, streamed %s',
    async (style, protocol, stream) => {
      const asked = charged(style, MODEL_OVER[protocol], { [TIER_ASKED[style]]: 'priority' }, stream);
      await expect(asked).rejects.toThrow(/service tier \\?"priority\\?"/);
    },
  );

  it('charges a tier without prices as it was asked for, and counts it', async () => {
    const counted = async () =>
      (await signals.tierUnpriced.get()).values.find(({ labels }) => labels.tier === 'ultrafast')?.value ?? 0;
    const before = await counted();
    gateway.vendor.rewrite = (json) => json.replaceAll('"usage":{', '"service_tier":"ultrafast","usage":{');
    const { lines } = await charged('chat', MODEL_OVER.chat);
    expect(new Set(lines.map(({ variant }) => variant))).toEqual(new Set(['default']));
    expect((await counted()) - before).toBe(1);
  });

  it('refuses a tier without prices by its name', async () => {
    const { status, body } = await gateway.send<{ error: { message: string } }>('POST', '/v1/responses', {
      model: MODEL_OVER.responses,
      input: 'Hello',
      service_tier: 'flex',
    });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('"flex"')]);
  });

  it.each([
    [
      'without a kind of token that the base has',
      priced('one', 1).concat(priced('one', 2, { from_input_tokens: 9 }).slice(1)),
      'one input_token default from 9',
    ],
    ['without what lies below it', priced('two', 2, { from_input_tokens: 9 }), 'two input_token default'],
    [
      'in one tier alone',
      [
        ...priced('three', 1),
        ...priced('three', 1, { variant: 'flex' }),
        ...priced('three', 2, { from_input_tokens: 9 }),
      ],
      'three input_token flex from 9',
    ],
    [
      'of a tier that has no base',
      [
        ...priced('four', 1),
        ...priced('four', 2, { from_input_tokens: 9 }),
        ...priced('four', 2, { from_input_tokens: 9, variant: 'flex' }),
      ],
      'four input_token flex',
    ],
  ])('is refused %s, with the rows that it lacks, and looked at by a dry run', async (_what, prices, missing) => {
    const { status, body } = await admin('POST', '/prices/import', { prices });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_parameter', 'prices']);
    expect(body.error.message).toContain(missing);
    const look = await admin('POST', '/prices/import?dry_run=true', { prices });
    expect((look.body.data['missing'] as object[]).length).toBeGreaterThan(0);
  });

  it('takes a new price of a unit that all bands have, and no new unit for the base alone', async () => {
    const later = { effective_from: '2031-01-01T00:00:00Z', per_quantity: 1_000_000 };
    const model = MODEL_OVER.responses;
    const alone = await admin('POST', '/prices', { model, unit: 'reasoning_token', amount: '1', ...later });
    expect([alone.status, alone.body.error.param]).toEqual([400, 'from_input_tokens']);
    const dearer = { model, unit: 'input_token', amount: '400', from_input_tokens: FROM, ...later };
    const added = await admin('POST', '/prices', dearer);
    expect([added.status, added.body.data]).toEqual([
      200,
      expect.objectContaining({ variant: 'default', from_input_tokens: FROM, amount: '400.000000' }),
    ]);
    expect((await admin('POST', '/prices', dearer)).status).toBe(409);
    const tool = await admin('POST', '/prices', { model, unit: 'web_search_call', amount: '1', from_input_tokens: 9 });
    expect([tool.status, tool.body.error.param]).toEqual([400, 'from_input_tokens']);
    const word = await admin('POST', '/prices', { model, unit: 'input_token', amount: '1', variant: 'quick' });
    expect([word.status, word.body.error.param]).toEqual([400, 'variant']);
  });

  it('is listed behind the base, in the history and in an export that changes nothing when it is imported', async () => {
    const { body: listed } = await gateway.send<{ data: { prices: { from_input_tokens?: number }[] } }>(
      'GET',
      `/v1/models/${MODEL_OVER.responses}`,
    );
    const starts = listed.data.prices.map(({ from_input_tokens: from = 0 }) => from);
    expect(starts).toEqual([...starts].sort((one, other) => one - other));
    expect(starts.at(-1)).toBe(FROM);
    const history = await admin('GET', `/prices?history=true&model=${MODEL_OVER.responses}`);
    expect(JSON.stringify(history.body)).not.toContain('@');
    const book = (await admin('GET', '/prices/export')).body as unknown as { prices: object[] };
    const again = (await admin('POST', '/prices/import', { prices: book.prices })).body.data;
    expect(again).toMatchObject({ added: [], changed: [], conflicts: [], missing: [], unchanged: book.prices.length });
  });

  it('is not seen by a process of the version before, which sells at the base', async () => {
    const { rows } = await gateway.database.query<{ amount: bigint }>({
      text: `select distinct on (model, unit, variant) model, unit, variant, amount_micros as amount from price
        where model = $1 and unit = 'input_token' and variant = 'default' and effective_from <= now()
        order by model, unit, variant, effective_from desc`,
      values: [MODEL_OVER.chat],
    });
    expect(rows.map(({ amount }) => amount)).toEqual([100_000_000n]);
    for (const [variant, from] of [
      ['default', 7],
      ['default@8', 7],
      ['@7', 7],
      ['default@7', 0],
      ['default@-7', -7],
    ])
      await expect(
        gateway.database.query({
          text: `insert into price (id, model, unit, variant, from_input_tokens, amount_micros, effective_from, created_by)
            values ('x', 'm', 'input_token', $1, $2, 1, now(), 'test')`,
          values: [variant, from],
        }),
      ).rejects.toThrow('price_band_named');
  });
});
