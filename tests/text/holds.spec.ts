import fc from 'fast-check';
import { ReconciliationService } from '#features';
import { eventually } from '#testing';
import {
  ALLOW_EVERYTHING,
  MODEL_OVER,
  startTextGateway,
  type TextGateway,
} from '../harness/text-vendor/text-gateway.js';
import { STYLES, textRequest, type Style } from '../harness/text-vendor/text-requests.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const HELLO = 'Hello there';

/** The native field of the limit in what an upstream of the style got. */
const LIMIT_OF: Record<Style, (body: Record<string, unknown>) => unknown> = {
  responses: (body) => body['max_output_tokens'],
  chat: (body) => body['max_tokens'],
  messages: (body) => body['max_tokens'],
  gemini: (body) => (body['generationConfig'] as Record<string, unknown> | undefined)?.['maxOutputTokens'],
};
const MODEL_MOST: Record<Style, number> = { responses: 128_000, chat: 16_384, messages: 64_000, gemini: 65_535 };

/** A chat vendor that knows the newer name of the limit alone. */
const NEWER = 'newer-chat';
const NEWER_UPSTREAM = `  - { id: newer, protocol: chat, base_url: "VENDOR_URL", key: k, models: { ${NEWER}: vendor-newer }, output_limit_field: max_completion_tokens, ${ALLOW_EVERYTHING} }\n`;

/** Names of a limit that are not of the style, and those of a number of replies: vendors differ in which they obey. */
const FOREIGN = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_tokens_to_sample',
  'maxOutputTokens',
  'maxTokens',
  'n_predict',
  'best_of',
  'num_return_sequences',
  'candidate_count',
] as const;

const LIMIT = 77;
const value = fc.constantFrom(undefined, null, LIMIT);
/** Fields in any order, those without a value left out. */
const fields = (of: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .tuple(fc.record(of), fc.shuffledSubarray(Object.keys(of)))
    .map(([sent, order]) =>
      Object.fromEntries(order.flatMap((name) => (sent[name] === undefined ? [] : [[name, sent[name]]]))),
    );
const foreign = (own: readonly string[]) =>
  fields(Object.fromEntries(FOREIGN.filter((name) => !own.includes(name)).map((name) => [name, value])));

const config = (limit: string) => fields({ [limit]: value, temperature: fc.constantFrom(undefined, 1) });

/** What a request of a style may say of its output: the limit under each name, and what the bytes are changed for besides. */
const SAID: Record<Style, fc.Arbitrary<object>> = {
  chat: fc
    .tuple(
      fields({
        max_tokens: value,
        max_completion_tokens: value,
        n: fc.constantFrom(undefined, null, 1, 2),
        stream: fc.constantFrom(undefined, null, false, true),
        stream_options: fc.constantFrom(undefined, null, {}, { include_usage: null }, { include_usage: false }),
        thinking_budget: fc.constantFrom(undefined, null, 5),
      }),
      foreign(['max_tokens', 'max_completion_tokens']),
    )
    .map(([own, others]) => ({ ...others, ...own })),
  responses: fc
    .tuple(
      fields({
        max_output_tokens: value,
        max_tokens: value,
        max_completion_tokens: value,
        stream: fc.constantFrom(undefined, null, true),
      }),
      foreign(['max_output_tokens', 'max_tokens', 'max_completion_tokens', 'best_of']),
    )
    .map(([own, others]) => ({ ...others, ...own })),
  messages: fc
    .tuple(fields({ max_tokens: value, stream: fc.constantFrom(undefined, null, true) }), foreign(['max_tokens']))
    .map(([own, others]) => ({ ...others, ...own })),
  gemini: fc
    .tuple(
      fields({
        generationConfig: fc.oneof(
          fc.constantFrom(undefined, null, {}),
          config('maxOutputTokens'),
          config('max_output_tokens'),
        ),
        generation_config: fc.oneof(
          fc.constantFrom(undefined, undefined, null, {}),
          config('maxOutputTokens'),
          config('max_output_tokens'),
        ),
        model: fc.constantFrom(undefined, null, MODEL_OVER.gemini, `models/${MODEL_OVER.gemini}`, 'a-dearer-model'),
      }),
      foreign([]),
    )
    .map(([own, others]) => ({ ...others, ...own })),
};

const OWN_LIMIT: Record<Style, string> = {
  responses: 'max_output_tokens',
  chat: 'max_tokens',
  messages: 'max_tokens',
  gemini: 'maxOutputTokens',
};

/** Whether the request sets the limit under one of the names that its style has for it. */
function saysOwn(style: Style, said: object): boolean {
  const names = {
    responses: FOREIGN.slice(0, 3),
    chat: FOREIGN.slice(0, 2),
    messages: FOREIGN.slice(0, 1),
    gemini: [],
  }[style];
  const { generationConfig, generation_config: snake } = said as Record<string, object | null>;
  const inside = { ...generationConfig, ...snake };
  return (
    names.some((name) => (said as Record<string, unknown>)[name] === LIMIT) ||
    (style === 'gemini' && JSON.stringify(inside).includes(String(LIMIT)))
  );
}

describe('What a text request holds', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway(
      { ADMIN_TOKEN },
      { idleSeconds: 5, settings: ALLOW_EVERYTHING, more: NEWER_UPSTREAM },
    );
    await gateway.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        select 'price_newer_' || unit, $1, unit, 1, 1, now() - interval '1 day', 'test'
        from unnest(array['input_token', 'output_token']) unit`,
      values: [NEWER],
    });
  });
  afterAll(() => gateway.stop());
  afterEach(() => {
    gateway.vendor.rewrite = (json) => json;
  });

  const untilSettled = () =>
    eventually(async () => {
      const { rows } = await gateway.database.query({ text: 'select 1 from account where held_micros <> 0' });
      return rows.length === 0;
    });

  /** The smallest request of a style, without a limit. */
  function unlimited(style: Style) {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model: MODEL_OVER[style], stream: false });
    const { max_tokens: _limit, ...rest } = body as Record<string, unknown>;
    return { path, headers, body: rest };
  }

  async function send(style: Style, more: object = {}) {
    const { path, headers, body } = unlimited(style);
    const answer = await gateway.send<{ message?: string; error?: object }>(
      'POST',
      path,
      { ...body, ...more },
      { ...headers },
    );
    await untilSettled();
    return answer;
  }

  describe.each([...STYLES.map((style) => [style, MODEL_OVER[style]] as const), ['chat', NEWER] as const])(
    'in the %s style, for the model %s',
    (style, model) => {
      it('is what the vendor is told, once, whatever names and nulls the request has', async () => {
        const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream: false });
        const { max_tokens: _limit, ...rest } = body as Record<string, unknown>;
        await fc.assert(
          fc.asyncProperty(SAID[style], async (said) => {
            const seen = gateway.vendor.seen.length;
            const answer = await fetch(gateway.baseUrl + path, {
              method: 'POST',
              headers: { 'content-type': 'application/json', ...headers },
              body: JSON.stringify({ ...rest, ...said }),
            });
            await answer.text();
            const isRefused = answer.status === 400;
            expect([answer.status, gateway.vendor.seen.length - seen]).toEqual(isRefused ? [400, 0] : [200, 1]);
            const { text, body: told } = isRefused ? { text: '{}', body: {} } : gateway.vendor.last;
            // A key that stands there twice is lost when the text is read.
            expect(JSON.stringify(JSON.parse(text)).length).toBe(text.length);
            const own = model === NEWER ? 'max_completion_tokens' : OWN_LIMIT[style];
            const { generationConfig: inside = {}, ...outside } = told as Record<string, unknown>;
            const all = Object.entries({ ...outside, ...(inside as object) });
            const limits = all.filter(([name]) => FOREIGN.some((other) => other === name));
            const isLimited = saysOwn(style, said);
            expect(limits.map(([name, limit]) => [name, limit === LIMIT, typeof limit])).toEqual(
              isRefused ? [] : [[own, isLimited, 'number']],
            );
            expect(outside['model']).not.toBe('a-dearer-model');
          }),
          { numRuns: 60 },
        );
      });
    },
  );

  describe.each(STYLES)('in the %s style', (style) => {
    it('is sent with the output limit of the model where the balance covers it, all other bytes unchanged', async () => {
      await gateway.setBalance(100_000_000n);
      expect((await send(style)).status).toBe(200);
      const { body, text } = gateway.vendor.last;
      expect(LIMIT_OF[style](body)).toBe(MODEL_MOST[style]);
      const { body: sent } = unlimited(style);
      const plain = JSON.stringify(sent)
        .replaceAll(/"model":"[^"]*"/g, '')
        .slice(1);
      expect(text.replaceAll(/"model":"[^"]*"/g, '').endsWith(plain)).toBe(true);
    });

    it('is sent with the limit that a small balance covers, and refused when that is too small', async () => {
      await gateway.setBalance(40_000n);
      expect((await send(style)).status).toBe(200);
      const limit = Number(LIMIT_OF[style](gateway.vendor.last.body));
      expect(limit).toBeGreaterThanOrEqual(1_024);
      expect(limit).toBeLessThan(MODEL_MOST[style]);
      await gateway.setBalance(100n);
      const asked = gateway.vendor.seen.length;
      expect((await send(style)).status).toBe(402);
      expect(gateway.vendor.seen).toHaveLength(asked);
    });

    it('gets a 400 that names the field for an absurd limit', async () => {
      await gateway.spareMoney();
      for (const limit of [9_007_199_254_740_991, 1e300]) {
        const more =
          style === 'gemini'
            ? { generationConfig: { maxOutputTokens: limit } }
            : { [style === 'responses' ? 'max_output_tokens' : 'max_tokens']: limit };
        const answers = await Promise.all(Array.from({ length: 16 }, () => send(style, more)));
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
        expect(JSON.stringify(answers[0]?.body)).toMatch(/max_tokens|max_output_tokens|maxOutputTokens/);
      }
    });
  });

  it.each<[string, Style, object]>([
    [
      'a document by its address',
      'messages',
      {
        messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'url', url: 'https://a.test/x' } }] }],
      },
    ],
    ['a file of gemini', 'gemini', { contents: [{ parts: [{ fileData: { fileUri: 'https://a.test/x' } }] }] }],
    [
      'a file of gemini, spelled in snake case',
      'gemini',
      { contents: [{ parts: [{ file_data: { file_uri: 'https://a.test/x' } }] }] },
    ],
    ['a cache', 'gemini', { cachedContent: 'cachedContents/x' }],
    [
      'a file by its address',
      'responses',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://a.test/x' }] }] },
    ],
  ])('holds the largest cost of %s: 402 for a balance that covers only the text', async (_what, style, more) => {
    await gateway.setBalance(50_000n);
    const asked = gateway.vendor.seen.length;
    expect((await send(style, more)).status).toBe(402);
    expect(gateway.vendor.seen).toHaveLength(asked);
  });

  it('also holds reasoning beyond the limit, and requests no more than is held', async () => {
    const thinking = { enable_thinking: true, thinking_budget: 30_000 };
    await gateway.setBalance(40_000n);
    expect((await send('chat', { max_tokens: 10, ...thinking })).status).toBe(402);
    expect((await send('chat', thinking)).status).toBe(402);
    expect((await send('chat', { max_tokens: 10, enable_thinking: true, thinking_budget: 0 })).status).toBe(200);
    await gateway.setBalance(100_000_000n);
    expect((await send('chat', thinking)).status).toBe(200);
    expect(gateway.vendor.last.body['max_tokens']).toBe(30_000 + 1_024);
  });

  it('holds the limit that is sent on where the caller named a lower one than the upstream takes', async () => {
    await gateway.spareMoney();
    const heldFor = async (model: string, limit: number): Promise<unknown> => {
      await send('messages', { model, max_tokens: limit });
      const { rows } = await gateway.database.query({
        text: `select amount_micros as held from ledger_entry where kind = 'hold' order by id desc limit 1`,
      });
      return rows[0]?.['held'];
    };
    const { responses, messages } = MODEL_OVER;
    expect(await heldFor(responses, 1)).toBe(await heldFor(responses, 16));
    expect(gateway.vendor.last.body['max_output_tokens']).toBe(16);
    expect(await heldFor(responses, 17)).not.toBe(await heldFor(responses, 16));
    expect(await heldFor(messages, 1)).not.toBe(await heldFor(messages, 16));
  });

  it('validates one spelling of a limit and sends that one', async () => {
    await gateway.setBalance(100_000_000n);
    const twice = await send('gemini', {
      generationConfig: { maxOutputTokens: 65_536 },
      generation_config: { max_output_tokens: 1 },
    });
    expect(twice.status).toBe(400);
    expect(JSON.stringify(twice.body)).toMatch(/generation_config and generationConfig/);
    expect((await send('gemini', { generation_config: { max_output_tokens: 77 } })).status).toBe(200);
    expect(gateway.vendor.last.body).toMatchObject({ generationConfig: { maxOutputTokens: 77 } });
    expect(gateway.vendor.last.text).not.toContain('generation_config');
    expect((await send('gemini', { generation_config: { candidate_count: 4 } })).status).toBe(400);
    expect((await send('gemini', { generationConfig: { temperature: 1 } })).status).toBe(200);
    expect(gateway.vendor.last.body).toMatchObject({ generationConfig: { temperature: 1, maxOutputTokens: 65_535 } });
    expect((await send('responses', { max_output_tokens: 5, max_tokens: 90_000 })).status).toBe(400);
    expect((await send('responses', { n: 3 })).status).toBe(400);
    expect((await send('messages', { max_tokens: 50, max_output_tokens: 90_000 })).status).toBe(200);
    expect(gateway.vendor.last.text).not.toContain('max_output_tokens');
  });

  it('leaves costs beyond the holds of six parallel requests as a debt, which blocks all charged requests until it is paid', async () => {
    await gateway.setBalance(50_000n);
    gateway.vendor.rewrite = (json) => json.replaceAll(/"input_tokens":\d+/g, '"input_tokens":300000');
    const { path, headers, body } = unlimited('messages');
    const ask = () => gateway.send('POST', path, { ...body, max_tokens: 60 }, { ...headers });
    const answers = await Promise.all(Array.from({ length: 6 }, ask));
    const answered = answers.filter(({ status }) => status === 200).length;
    expect(answered).toBeGreaterThan(0);
    await untilSettled();
    const balance = await gateway.send<Record<string, number>>('GET', '/v1/user/balance');
    expect(balance.body).toMatchObject({ remain_balance: 0, owed_balance: expect.any(Number) });
    const records = await gateway.send<{ data: { owed: string; amount: string }[] }>('GET', '/v1/usage/records');
    const owed = records.body.data.reduce((sum, row) => sum + Number(row.owed), 0);
    expect(owed).toBeCloseTo(balance.body['owed_balance'] ?? 0, 6);

    const usage = await gateway.send<{ owed: string }>('GET', '/v1/usage?group_by=day');
    expect(Number(usage.body.owed)).toBeCloseTo(owed, 6);

    const refused = await ask();
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([402, expect.stringContaining('owes')]);
    const image = { model: 'eta-image-2.0', prompt: HELLO };
    expect((await gateway.send('POST', '/v1/images/generations', image)).status).toBe(402);

    const topUp = { amount: '50', reference: 'pays' };
    const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const funded = await gateway.send<{ data: { available: string } }>(
      'POST',
      `/admin/v1/accounts/${gateway.accountId}/top-ups`,
      topUp,
      admin,
    );
    expect(Number(funded.body.data.available)).toBeCloseTo(50 - owed, 6);
    gateway.vendor.rewrite = (json) => json;
    expect((await ask()).status).toBe(200);
    await untilSettled();
    expect((await gateway.send<object>('GET', '/v1/user/balance')).body).not.toHaveProperty('owed_balance');
    expect((await gateway.send<object>('GET', '/v1/usage')).body).toHaveProperty('owed', '0.000000');
    const report = await new ReconciliationService(gateway.database).run({ full: true });
    const books = report?.findings.filter(({ check }) => check !== 'account_balances');
    expect(books).toEqual([]);
  });

  it.each(STYLES)(
    'covers a prompt whose every byte is a token while there is money for it, in the %s style: parallel ones leave a debt of two at most',
    async (style) => {
      await gateway.spareMoney();
      const prompt = '~^`|#'.repeat(6_000);
      const counts = /"(input_tokens|prompt_tokens|promptTokenCount)":\s*\d+/g;
      gateway.vendor.rewrite = (json) => json.replaceAll(counts, `"$1":${Buffer.byteLength(prompt)}`);
      const { path, headers, body } = textRequest(style, {
        key: gateway.key,
        model: MODEL_OVER[style],
        text: prompt,
        stream: false,
      });
      const limited = style === 'gemini' ? { generationConfig: { maxOutputTokens: 20 } } : { max_tokens: 20 };
      const ask = () => gateway.send('POST', path, { ...body, ...limited }, { ...headers });
      expect((await ask()).status).toBe(200);
      await untilSettled();
      const { rows } = await gateway.database.query<{ amount: bigint }>({
        text: 'select amount_micros as amount from usage_record order by created_at desc limit 1',
      });
      const cost = rows[0]?.amount ?? 0n;
      await gateway.setBalance(4n * cost);
      const answers = await Promise.all(Array.from({ length: 12 }, ask));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 402]));
      await untilSettled();
      const { rows: debts } = await gateway.database.query<{ owed: bigint }>({
        text: 'select owed_micros as owed from account where id = $1',
        values: [gateway.accountId],
      });
      expect(debts[0]?.owed).toBeLessThan((3n * cost) / 2n);
      await gateway.database.query({
        text: 'update account set owed_micros = 0 where id = $1',
        values: [gateway.accountId],
      });
      // What usual text costs is enough for a request alone.
      gateway.vendor.rewrite = (json) => json.replaceAll(counts, `"$1":${Math.floor(Buffer.byteLength(prompt) / 4)}`);
      await gateway.setBalance((6n * cost) / 10n);
      expect((await ask()).status).toBe(200);
    },
  );
});
