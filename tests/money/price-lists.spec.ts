import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import { type AdminGateway, startAdminGateway } from '../harness/admin-gateway.js';

const TEXT = { model: 'vendor-5', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] };
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse' };

interface Model {
  readonly prices: readonly { readonly unit: string; readonly amount: string; readonly per_quantity: number }[];
}
interface Line {
  readonly unit: string;
  readonly amount: string;
  readonly price_list?: string;
  readonly price_rule?: string;
}

describe('A price list', () => {
  let api: AdminGateway;
  beforeAll(async () => {
    api = await startAdminGateway();
  });
  afterAll(() => api.gateway.stop());

  /** An account that has a list, and a key of it, once every process knows. */
  async function customer(list: string | null, price: string): Promise<string> {
    const { id } = await api.newAccount({ unlimited: true });
    await api.admin('POST', `/accounts/${id}/price-list`, { list });
    const { key } = await api.newKey(id);
    await eventually(async () => (await priceOf(key, 'output_token')) === price, { pauseMs: 200 });
    await eventually(async () => ((await unitPrice(key)) === imagePrice(list) ? true : undefined), {
      pauseMs: 200,
    });
    return key;
  }

  const imagePrice = (list: string | null): string =>
    ({ half: '0.017500', gold: '0.031500' })[list ?? ''] ?? '0.035000';

  const priceOf = async (key: string, unit: string, model = 'vendor-5'): Promise<string | undefined> => {
    const { body } = await api.withKey<{ data: Model }>(key, `/v1/models/${model}`);
    const price = body.data.prices.find((each) => each.unit === unit);
    return price && String(Number(price.amount) / (price.per_quantity / 1_000_000));
  };

  const unitPrice = async (key: string): Promise<string> => {
    const { body } = await api.withKey<{ data: { unit_price: string } }>(key, '/v1/quote', 'POST', IMAGE);
    return body.data.unit_price;
  };

  const linesOf = async (key: string): Promise<readonly Line[]> =>
    eventually(async () => {
      const { body } = await api.withKey<{ data: { lines: Line[] }[] }>(key, '/v1/usage/records');
      return body.data.length > 0 ? body.data.flatMap(({ lines }) => lines) : undefined;
    });

  it('is shown, held and charged by account: one rule applies, and factors never multiply', async () => {
    const gold = await api.admin('POST', '/price-lists', {
      id: 'gold',
      name: 'Gold',
      rules: [
        { model: '*', factor: '0.9' },
        { model: 'vendor-5', factor: '0.5' },
        { model: 'vendor-5', unit: 'input_token', amount: '3', per_quantity: 1_000_000 },
      ],
    });
    expect([gold.status, gold.body.data]).toEqual([200, expect.objectContaining({ id: 'gold', accounts: [] })]);
    expect(
      (await api.admin('POST', '/price-lists', { id: 'half', name: 'Half', rules: [{ model: '*', factor: 0.5 }] }))
        .status,
    ).toBe(200);
    const [plain, golden, halved] = [
      await customer(null, '10'),
      await customer('gold', '5'),
      await customer('half', '5'),
    ];
    const inputs = await Promise.all([plain, golden, halved].map((key) => priceOf(key, 'input_token')));
    expect(inputs).toEqual(['1.25', '3', '0.625']);
    expect(await priceOf(golden, 'output_token', 'vendor-2.5-pro')).toBe('9');
    for (const [key, list] of [
      [plain, undefined],
      [golden, 'gold'],
      [halved, 'half'],
    ] as const) {
      expect((await api.withKey(key, '/v1/chat/completions', 'POST', TEXT)).status).toBe(200);
      const lines = await linesOf(key);
      expect(lines.map(({ price_list: each }) => each)).toEqual(lines.map(() => list));
      expect(lines.every(({ price_rule: rule }) => (rule === undefined) === (list === undefined))).toBe(true);
    }
    const answer = await fetch(`${api.gateway.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${golden}` } });
    expect(answer.headers.get('cache-control')).toBe('private');
    expect(await answer.text()).not.toMatch(/gold|half/);
    const { body } = await api.admin<JsonObject[]>('GET', '/price-lists');
    expect(body.data).toMatchObject([
      { id: 'gold', account_count: 1 },
      { id: 'half', account_count: 1, rule_count: 1, factor: '0.5' },
    ]);
    // What each holds is read by itself: ten lists may have 100,000 rules.
    expect(body.data.every((list) => !('rules' in list) && !('accounts' in list))).toBe(true);
  });

  it('is replaced from a moment on, and by the book where it is null', async () => {
    const { id } = await api.newAccount({ unlimited: true });
    const { key } = await api.newKey(id);
    const assign = (list: string | null, from?: string) =>
      api.admin('POST', `/accounts/${id}/price-list`, { list, ...(from && { effective_from: from }) });
    await assign('half');
    await eventually(async () => (await priceOf(key, 'output_token')) === '5', { pauseMs: 200 });
    await assign('gold', '2090-01-01T00:00:00Z');
    expect(await priceOf(key, 'output_token')).toBe('5');
    await assign(null);
    await eventually(async () => (await priceOf(key, 'output_token')) === '10', { pauseMs: 200 });
    const unknown = await assign('silver');
    expect([unknown.status, unknown.body.error.param]).toEqual([404, 'list']);
    expect((await assign('half', '2020-01-01')).body.error.param).toBe('effective_from');
    expect((await api.admin('POST', `/accounts/${id}/price-list`, {})).body.error.param).toBe('list');
    expect((await api.admin('POST', '/accounts/nobody/price-list', { list: null })).status).toBe(404);
  });

  it('is refused with the field of each mistake', async () => {
    const wrong = async (rule: object): Promise<unknown> =>
      (await api.admin('POST', '/price-lists/half/rules', { rules: [rule] })).body.error.param;
    expect(await wrong({ model: 'a' })).toBe('rules[0]');
    expect(await wrong({ model: 'a', factor: '1', amount: '1', unit: 'image' })).toBe('rules[0]');
    expect(await wrong({ model: '*', amount: '1', unit: 'image' })).toBe('rules[0].model');
    expect(await wrong({ model: '*', amount: '1', unit: 'input_token' })).toBe('rules[0].model');
    expect(await wrong({ model: 'vendor-5', factor: '1', unit: 'second' })).toBe('rules[0].unit');
    expect(await wrong({ model: 'eta-image-2.0', factor: '1', unit: 'input_token' })).toBe('rules[0].unit');
    expect(await wrong({ model: 'vendor-5', factor: '1', variant: 'gold' })).toBe('rules[0].variant');
    expect(await wrong({ model: 'vendor-5', amount: '1', unit: 'input_token', variant: 'gold' })).toBe(
      'rules[0].variant',
    );
    expect(await wrong({ model: 'eta-image-2.0', factor: '1', variant: 'priority' })).toBe('rules[0].variant');
    expect(await wrong({ model: '*', factor: '1', unit: 'image', from_input_tokens: 9 })).toBe(
      'rules[0].from_input_tokens',
    );
    expect(await wrong({ model: 'a', amount: '1' })).toBe('rules[0].unit');
    expect(await wrong({ model: 'a', factor: '-1' })).toBe('rules[0].factor');
    expect(await wrong({ model: 'a', factor: '1e3' })).toBe('rules[0].factor');
    expect(await wrong({ model: 'a', factor: '1', colour: 'red' })).toBe('rules[0].colour');
    expect(await wrong({ model: 'a', factor: '1', unit: 'word' })).toBe('rules[0].unit');
    expect(await wrong({ model: 'a', factor: '1', effective_from: '2020-01-01' })).toBe('rules[0].effective_from');
    expect((await api.admin('POST', '/price-lists', { id: 'half', name: 'Half' })).status).toBe(409);
    expect((await api.admin('GET', '/price-lists/silver')).status).toBe(404);
    const later = { model: 'a', factor: '0', effective_from: '2090-01-01' };
    expect((await api.admin('POST', '/price-lists/half/rules', { rules: [later] })).status).toBe(200);
    expect((await api.admin('POST', '/price-lists/half/rules', { rules: [later] })).status).toBe(409);
  });

  it('shows amounts and factors to the last millionth', async () => {
    const most = '9223372036854.775807';
    const rules = [
      { model: 'a', unit: 'input_token', amount: most },
      { model: 'b', factor: most },
    ];
    const { body } = await api.admin<{ rules: object[] }>('POST', '/price-lists', { id: 'most', name: 'Most', rules });
    expect(body.data.rules).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ model: 'a', amount: most }),
        expect.objectContaining({ model: 'b', factor: most }),
      ]),
    );
  });

  it('holds and charges media by its rule', async () => {
    const key = await customer('half', '5');
    expect((await api.withKey(key, '/v1/images/generations', 'POST', IMAGE)).status).toBe(200);
    const { rows } = await api.gateway.database.query<{ rule: string; hold: bigint }>({
      text: `select price_rule_id as rule, hold_micros as hold from task order by created_at desc limit 1`,
    });
    expect(rows[0]).toEqual({ rule: expect.stringMatching(/^rule_/), hold: 17_500n });
  });

  it('quotes text with its input counted and its longest reply, and refuses what the endpoint refuses', async () => {
    const key = await customer('half', '5');
    const quote = async (body: object) =>
      api.withKey<{ data: { amount: string; held: string; basis: Record<string, number> }; error: { param: string } }>(
        key,
        '/v1/quote',
        'POST',
        body,
      );
    const { status, body } = await quote(TEXT);
    const { amount, held, basis } = body.data;
    const { input_tokens: input = 0, output_tokens: output = 0, from_input_tokens: from } = basis;
    expect([status, input > 0, output, from]).toEqual([200, true, 8, 0]);
    expect(amount).toBe(((input * 0.625 + output * 5) / 1_000_000).toFixed(6));
    expect(Number(held)).toBeGreaterThanOrEqual(Number(amount));
    expect((await quote({ ...TEXT, messages: 'x' })).body.error.param).toBe('messages');
  });
});
