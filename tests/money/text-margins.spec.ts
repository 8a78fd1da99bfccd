import { formatMicros, parseMicros } from '#contracts';
import { MarginsService, UsageDaysService } from '#features';
import { eventually } from '#testing';
import { startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const MODELS = ['fat', 'thin', 'lean'] as const;
/** Of the vendor's 11 tokens of input, 3 from a cache, and 7 of output: 739, 7,390 and 0.739 micros. */
const FIGURES = { fat: 30, thin: 300, lean: 0.03 };
const BILLS = { fat: 739, thin: 7_390, lean: 0.739 };

const upstream = (model: keyof typeof FIGURES, more = ''): string => {
  const input = FIGURES[model];
  const [cached, output] = [input / 10, (input * 70) / 30];
  return `
  - id: at-${model}
    protocol: chat
    base_url: "VENDOR_URL"
    key: sk-vendor
    models: { ${model}: vendor-chat }
    costs: { unit: USD, per_quantity: 1000000, ${model}: { input_token: ${input}, cached_input_token: ${cached}, output_token: ${output} } }
    ${more}`;
};

interface Margin {
  readonly upstream: string | null;
  readonly model: string | null;
  readonly account?: string;
  readonly kind?: string;
  readonly band?: number;
  readonly tasks: number;
  readonly earned: string;
  readonly cost: string;
  readonly margin: string | null;
}

describe('The margin of text', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway(
      { ADMIN_TOKEN },
      {
        more: [
          ...MODELS.map((model) => upstream(model)),
          upstream('fat').replaceAll('fat', 'dear').replace('costs:', 'refuse_below_cost: true\n    costs:'),
          upstream('fat')
            .replaceAll('fat', 'vectors')
            .replace('models:', 'models: { plain: vendor-chat }\n    embedding_models:')
            .replace('costs:', 'refuse_below_cost: true\n    costs:'),
          upstream('fat')
            .replaceAll('fat', 'banded')
            .replace(
              /banded: (\{ input_token.*?\})/,
              'banded: [{ input_token: 1, output_token: 1 }, { from_input_tokens: 2001, input_token: 90, output_token: 90 }]',
            ),
        ].join('\n'),
      },
    );
    await gateway.spareMoney();
    const prices = [...MODELS, 'dear'].flatMap((model) =>
      ['input_token', 'output_token'].map((unit) => ({ model, unit, amount: '100', per_quantity: 1_000_000 })),
    );
    await admin('POST', '/prices/import', { effective_from: '2026-01-01', prices });
  });
  afterAll(() => gateway.stop());

  const admin = (method: string, path: string, body?: unknown) =>
    gateway.send<{ readonly data: unknown; readonly error?: { readonly param: string } }>(
      method,
      `/admin/v1${path}`,
      body,
      {
        authorization: `Bearer ${ADMIN_TOKEN}`,
      },
    );
  const margins = async (groups: string): Promise<readonly Margin[]> =>
    (await admin('GET', `/margins?group_by=${groups}`)).body.data as readonly Margin[];

  async function ask(model: string, index = 0): Promise<number> {
    const style = STYLES[index % STYLES.length] ?? 'chat';
    const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream: index % 3 === 0 });
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await answer.text();
    return answer.status;
  }

  it("is what customers paid less the vendor's bills, within a micro a record, and reports add up to records", async () => {
    const asked = Array.from({ length: 48 }, (_, index) => MODELS[index % 3] ?? 'fat');
    await Promise.all(asked.map(ask));
    const rows = await eventually(async () => {
      const found = (await margins('upstream,model,account,kind,band')).filter(({ model }) => model !== 'dear');
      return found.reduce((sum, { tasks }) => sum + tasks, 0) === asked.length && found;
    });
    expect(new Set(rows.map(({ model }) => model))).toEqual(new Set(MODELS));
    for (const { model, tasks, earned, cost, margin, kind, band, account, upstream: id } of rows) {
      expect([kind, band, account, id, tasks]).toEqual(['text', 0, gateway.accountId, `at-${model}`, 16]);
      const bill = BILLS[model as keyof typeof BILLS] * tasks;
      expect(Math.abs(Number(parseMicros(cost)) - bill)).toBeLessThanOrEqual(tasks);
      // 18 tokens at 100 for a million.
      expect(earned).toBe(formatMicros(1_800n * BigInt(tasks)));
      expect(margin).toBe(formatMicros(parseMicros(earned) - parseMicros(cost)));
    }
    expect(await margins('tag')).toMatchObject([{ tag: null, upstream: null, model: null, tasks: asked.length }]);
    const [total] = await margins('kind');
    const records = (await admin('GET', '/usage/records?limit=1000')).body.data as { amount: string; cost: string }[];
    const sum = (name: 'amount' | 'cost') => records.reduce((all, row) => all + parseMicros(row[name]), 0n);
    expect([total?.earned, total?.cost]).toEqual([formatMicros(sum('amount')), formatMicros(sum('cost'))]);
  });

  it('shows where less came in than went out within a day, from 20 requests on', async () => {
    const service = new MarginsService(gateway.database);
    expect((await service.losses()).map(({ model }) => model)).toEqual([]);
    await Promise.all(Array.from({ length: 4 }, () => ask('thin')));
    const [loss] = await eventually(async () => {
      const found = await service.losses();
      return found.length > 0 && found;
    });
    expect(loss).toMatchObject({ model: 'thin', upstream: 'at-thin' });
  });

  it('warns of each price below its cost, at the moment it is set and by metric', async () => {
    const set = await admin('POST', '/prices', {
      model: 'fat',
      unit: 'output_token',
      amount: '69',
      per_quantity: 1_000_000,
    });
    expect(set.body.data).toMatchObject({
      warnings: [
        {
          code: 'price-below-cost',
          model: 'fat',
          unit: 'output_token',
          upstream: 'at-fat',
          price: '69.000000',
          cost: '70.000000',
        },
      ],
    });
    const metrics = await eventually(async () => {
      const text = await (await fetch(`${gateway.baseUrl}/metrics`)).text();
      return text.includes('gateway_price_below_cost{model="fat",upstream="at-fat"} 1') && text;
    });
    expect(metrics).toContain('gateway_price_below_cost{model="thin",upstream="at-thin"} 1');
    expect(metrics).not.toContain('gateway_price_below_cost{model="lean"');
  });

  it('warns of a price below its cost up to the band of prices where another one holds', async () => {
    const units = ['input_token', 'output_token'];
    const row = (unit: string, amount: number, more: object = {}) => ({
      model: 'banded',
      unit,
      amount: String(amount),
      per_quantity: 1_000_000,
      ...more,
    });
    const warned = (answer: { readonly body: { readonly data: unknown } }) =>
      (answer.body.data as { warnings: { unit: string; from_input_tokens?: number }[] }).warnings.map(
        ({ unit, from_input_tokens: from = 0 }) => `${unit} ${from}`,
      );
    const imported = async (prices: object[], query = '?dry_run=true') =>
      warned(await admin('POST', `/prices/import${query}`, { effective_from: '2026-01-01', prices }));
    const base = units.map((unit) => row(unit, 50));
    const band = (from: number) => units.map((unit) => row(unit, 95, { from_input_tokens: from }));
    const lost = units.map((unit) => `${unit} 2001`);
    expect(await imported(base)).toEqual(lost);
    expect(await imported([...base, ...band(2_002)])).toEqual(lost);
    expect(await imported([...base, ...band(2_001)], '')).toEqual([]);
    await eventually(async () => {
      const later = row('input_token', 49, { effective_from: '2031-01-01' });
      return (await imported([later])).length === 0;
    });
  });

  it('passes an upstream over that refuses to sell below cost, and returns to it when the price covers it', async () => {
    expect(await ask('dear')).toBe(200);
    await admin('POST', '/prices', { model: 'dear', unit: 'output_token', amount: '1', per_quantity: 1_000_000 });
    await eventually(async () => (await ask('dear')) === 503);
    const { body } = await admin('GET', '/prices?model=dear');
    const rows = body.data as { unit: string; effective_from: string }[];
    expect(rows).toHaveLength(2);
    await admin('POST', '/prices', { model: 'dear', unit: 'output_token', amount: '200', per_quantity: 1_000_000 });
    await eventually(async () => (await ask('dear')) === 200);
  });

  it('passes an upstream over for embeddings, too, that are sold below cost', async () => {
    const embed = async () =>
      (await gateway.send('POST', '/v1/embeddings', { model: 'vectors', input: 'Hello' })).status;
    const price = { model: 'vectors', unit: 'input_token', per_quantity: 1_000_000 };
    await admin('POST', '/prices', { ...price, amount: '100' });
    await eventually(async () => (await embed()) === 200);
    await admin('POST', '/prices', { ...price, amount: '1' });
    await eventually(async () => (await embed()) !== 200);
    expect(await embed()).toBe(503);
  });

  it('is watched by price list: what a list sells below cost is told, and passed over for its accounts alone', async () => {
    const list = { id: 'cheap', name: 'Cheap', rules: [{ model: 'dear', unit: 'output_token', factor: '0.1' }] };
    const { body } = await admin('POST', '/price-lists', list);
    expect(body.data).toMatchObject({
      warnings: [
        {
          code: 'price-below-cost',
          model: 'dear',
          unit: 'output_token',
          upstream: 'at-dear',
          price_list: 'cheap',
          cost: '70.000000',
        },
      ],
    });
    const raised = await admin('POST', '/price-lists/cheap/rules', { rules: [{ model: 'lean', factor: '2' }] });
    expect(raised.body.data).toMatchObject({ warnings: [] });
    expect(await ask('dear')).toBe(200);
    await admin('POST', `/accounts/${gateway.accountId}/price-list`, { list: 'cheap' });
    await eventually(async () => (await ask('dear')) === 503);
    const metrics = await eventually(async () => {
      const text = await (await fetch(`${gateway.baseUrl}/metrics`)).text();
      return text.includes('gateway_price_below_cost{model="dear",upstream="at-dear"} 1') && text;
    });
    expect(metrics).not.toContain('gateway_price_below_cost{model="lean"');
    await admin('POST', `/accounts/${gateway.accountId}/price-list`, { list: null });
    await eventually(async () => (await ask('dear')) === 200);
  });

  it('is told of each list by whose factor a new price of the book does not cover its cost', async () => {
    const rules = [
      { model: 'fat', factor: '0.5' },
      { model: 'fat', unit: 'input_token', amount: '1', per_quantity: 1_000_000 },
    ];
    await admin('POST', '/price-lists', { id: 'half', name: 'Half', rules });
    await admin('POST', '/price-lists', { id: 'aside', name: 'Aside', rules: [{ model: 'lean', factor: '0.5' }] });
    const price = { model: 'fat', unit: 'output_token', amount: '138', per_quantity: 1_000_000 };
    const ofHalf = { code: 'price-below-cost', model: 'fat', unit: 'output_token', price_list: 'half' };
    const warned = async (path: string, body: object): Promise<unknown> =>
      ((await admin('POST', path, body)).body.data as { warnings: unknown }).warnings;
    // 138 covers 70 in the book, and half of it does not: by each way to set it.
    const whole = [price, { ...price, unit: 'input_token', amount: '100' }];
    const imported = { effective_from: '2026-01-02', prices: whole };
    const expected = [expect.objectContaining(ofHalf)];
    await eventually(async () => ((await warned('/prices/import?dry_run=true', imported)) as unknown[]).length > 0);
    expect(await warned('/prices/import?dry_run=true', imported)).toEqual(expected);
    expect(await warned('/prices', price)).toEqual(expected);
    expect(await warned('/prices', { ...price, amount: '141' })).toEqual([]);
  });

  it('is kept for days that are over, and the same from there', async () => {
    await gateway.settled();
    const before = await margins('upstream,model');
    const insert = `insert into usage_record (id, account_id, api_key_id, kind, model, request_id, upstream, status, amount_micros, lines,
        cost_micros, cost_unit, cost_worth_micros, created_at)
      select 'usage_old_' || n, $1, 'key', 'text', 'old', 'req', 'at-old', 'completed', 10, '[]', 4, 'USD', 4,
        now() - interval '40 days' from generate_series(1, 5) n`;
    await gateway.database.query({
      text: `insert into usage_daily (account_id, day, model, api_key_id, kind, requests, amount_micros)
        values ($1, (now() - interval '40 days')::date, 'old', 'key', 'text', 5, 50)`,
      values: [gateway.accountId],
    });
    await gateway.database.query({ text: insert, values: [gateway.accountId] });
    const days = new UsageDaysService(gateway.database);
    const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const read = async (): Promise<unknown> =>
      (await admin('GET', `/margins?from=${day(45)}&to=${day(0)}&group_by=upstream,model`)).body.data;
    const fromRecords = await read();
    await days.closeUntil(day(33));
    await gateway.database.query({ text: `delete from usage_record where model = 'old'`, values: [] });
    expect(await read()).toEqual(fromRecords);
    expect(await read()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ model: 'old', tasks: 5, earned: '0.000050', cost: '0.000020', margin: '0.000030' }),
      ]),
    );
    expect(await margins('upstream,model')).toEqual(before);
    const tooOld = await admin('GET', `/margins?from=${day(45)}&group_by=band`);
    expect([tooOld.status, tooOld.body.error?.param]).toEqual([400, 'group_by']);
  });
});
