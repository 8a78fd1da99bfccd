import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { applyPricesFile, expectBalanceUnit, keepBalanceUnit, type ImportedFile, readPricesFile } from '#features';
import { ConfigError, configureLog, DatabaseConfig, type Readiness } from '#platform';
import { type SalesConfig } from '#runtime';
import { createTestDatabase, eventually } from '#testing';
import { applyPrices } from '../../apps/api/src/seed.js';
import { type AdminGateway, startAdminGateway } from '../harness/admin-gateway.js';
import { TEST_KEY } from '../harness/test-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse' };
const MESSAGE = { model: 'vendor-haiku-4-5-20251001', max_tokens: 16, messages: [{ role: 'user', content: 'Hello' }] };
const VERSION = { 'x-api-key': TEST_KEY, 'vendor-version': '2023-06-01' };

interface Refusal {
  readonly error: { readonly code?: string; readonly type: string };
}

const metric = async (api: AdminGateway, name: string): Promise<number> => {
  const page = await (await fetch(`${api.gateway.baseUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(page)?.[1]);
};

const readiness = async (api: AdminGateway): Promise<[number, Readiness]> => {
  const { status, body } = await api.gateway.send<Readiness>('GET', '/readyz');
  return [status, body];
};

describe('A gateway with DATABASE_URL and no upstream', () => {
  let api: AdminGateway;
  beforeAll(async () => {
    api = await startAdminGateway({ SANDBOX_BILLING_ENABLED: '' });
  });
  afterAll(() => api.gateway.stop());

  it('has no price that the operator did not choose', async () => {
    expect((await api.admin('GET', '/prices')).body.data).toEqual([]);
  });

  it('refuses before money is held, without retry, in every style', async () => {
    const image = await api.gateway.send<Refusal>('POST', '/v1/images/generations', IMAGE);
    expect([image.status, image.body.error.code]).toEqual([404, 'model_not_available']);
    const message = await api.gateway.send<Refusal>('POST', '/v1/messages', MESSAGE, VERSION);
    expect([message.status, message.headers.get('x-should-retry')]).toEqual([404, 'false']);
    const quote = await api.gateway.send('POST', '/v1/quote', IMAGE);
    expect(quote.status).toBe(404);
    const { body } = await api.gateway.send<{ data: object }>('GET', '/v1/user/balance');
    expect(JSON.stringify(body)).toContain('10000');
  });

  it('is ready without a price problem', async () => {
    const [status, { reasons }] = await readiness(api);
    expect([status, reasons]).toEqual([200, []]);
    expect([await metric(api, 'gateway_sandbox_selling'), await metric(api, 'gateway_models_without_price')]).toEqual([
      0, 0,
    ]);
  });
});

describe('A gateway with DATABASE_URL whose sandbox may sell', () => {
  let api: AdminGateway;
  beforeAll(async () => {
    api = await startAdminGateway();
  });
  afterAll(() => api.gateway.stop());

  it('reports it in every response, at /readyz and in a metric, and stays ready', async () => {
    const image = await api.gateway.send('POST', '/v1/images/generations', IMAGE);
    const text = await api.gateway.send('POST', '/v1/messages', MESSAGE, VERSION);
    const stream = await api.gateway.send('POST', '/v1/messages', MESSAGE, VERSION);
    for (const { status, headers } of [image, text, stream])
      expect([status, headers.get('x-gateway-sandbox')]).toEqual([200, 'true']);
    const [status, { reasons }] = await readiness(api);
    expect([status, reasons]).toEqual([200, [expect.stringMatching(/^sandbox: .*sold to customers/)]]);
    expect(await metric(api, 'gateway_sandbox_selling')).toBe(1);
  });
});

describe('A model without a price in force', () => {
  let api: AdminGateway;
  beforeAll(async () => {
    api = await startAdminGateway({ SANDBOX_BILLING_ENABLED: '' });
    await api.admin('POST', '/upstreams', {
      id: 'house',
      protocol: 'sandbox',
      models: { 'house-writer': 'w', 'vendor-5': 'v' },
    });
  });
  afterAll(() => api.gateway.stop());

  it('is refused without retry, named at /readyz, and counted', async () => {
    const answer = await api.gateway.send<Refusal>('POST', '/v1/responses', { model: 'vendor-5', input: 'Hello' });
    expect([answer.status, answer.body.error.code, answer.headers.get('x-should-retry')]).toEqual([
      404,
      'model_not_priced',
      'false',
    ]);
    const [status, { reasons }] = await readiness(api);
    expect([status, reasons]).toEqual([
      200,
      ['prices: 2 model(s) on sale have no price in force: vendor-5, house-writer'],
    ]);
    expect(await metric(api, 'gateway_models_without_price')).toBe(2);
  });

  it('is named with what lacks a price when only a part of it does', async () => {
    const models = { 'beta-2.5-preview': 'beta-2.5-preview' };
    await api.admin('POST', '/upstreams', { id: 'videos', kind: 'media', protocol: 'sandbox', models });
    await api.admin('POST', '/prices', { model: 'beta-2.5-preview', unit: 'second', variant: '480p', amount: '0.05' });
    await api.admin('POST', '/prices', { model: 'vendor-5', unit: 'input_token', amount: '1' });
    const reasons = await eventually(async () => {
      const [, view] = await readiness(api);
      return view.reasons.join().includes('output_token') ? view.reasons : undefined;
    });
    const unpriced = 'beta-2.5-preview (720p, 1080p), vendor-5 (output_token), house-writer';
    expect(reasons).toEqual([`prices: 3 model(s) on sale have no price in force: ${unpriced}`]);
  });
});

describe('Example prices', () => {
  let api: AdminGateway;
  beforeEach(async () => {
    api = await startAdminGateway({ SANDBOX_BILLING_ENABLED: '' });
  });
  afterEach(() => api.gateway.stop());

  const models = { 'vendor-5': 'theirs' };
  const vendor = { id: 'vendor', protocol: 'chat', base_url: 'http://127.0.0.1:9/v1', models } as const;
  /** As a gateway with embedded Postgres does it, whether or not its operator says that the sandbox sells. */
  const seedAs = (sales: SalesConfig) => {
    const config = { sales, database: new DatabaseConfig() };
    return applyPrices({ database: api.gateway.database, config }, undefined, { fromFile: [vendor] });
  };
  const pricedModels = async (): Promise<string[]> => {
    const { body } = await api.admin<{ model: string }[]>('GET', '/prices');
    return body.data.map(({ model }) => model);
  };

  it('are not set for models of configured vendors: those are refused and reported instead', async () => {
    await seedAs({});
    const priced = await pricedModels();
    expect([priced.includes('eta-image-2.0'), priced.includes('vendor-5')]).toEqual([true, false]);
    await api.admin('POST', '/upstreams', vendor);
    const answer = await api.gateway.send<Refusal>('POST', '/v1/responses', { model: 'vendor-5', input: 'Hello' });
    expect([answer.status, answer.body.error.code]).toEqual([404, 'model_not_priced']);
    const [, { reasons }] = await readiness(api);
    expect(reasons).toEqual(['prices: 1 model(s) on sale have no price in force: vendor-5']);
  });

  it('are reported at /readyz and counted for a vendor added later, until an operator sets prices', async () => {
    await seedAs({ SANDBOX_BILLING_ENABLED: true });
    await api.admin('POST', '/upstreams', vendor);
    const reason = 'prices: 1 model(s) of upstreams are sold at example prices that no operator has set: vendor-5';
    const isReported = async (...reasons: string[]) =>
      (await readiness(api))[1].reasons.join() === reasons.join() || undefined;
    await eventually(() => isReported(reason));
    await eventually(async () => (await metric(api, 'gateway_models_without_price')) === 1);
    for (const unit of ['input_token', 'output_token'])
      await api.admin('POST', '/prices', { model: 'vendor-5', unit, amount: '1', per_quantity: 1_000_000 });
    await eventually(() => isReported());
    await eventually(async () => (await metric(api, 'gateway_models_without_price')) === 0);
    expect((await readiness(api))[0]).toBe(200);
  });
});

/** What is logged from now on. */
function capturedLines(): readonly string[] {
  const lines: string[] = [];
  configureLog({ LOG_LEVEL: 'info' }, { write: (line) => void lines.push(line) });
  return lines;
}

describe('The unit of balances', () => {
  it('may change until money moves, and then stops a start that says another one', async () => {
    const { database, remove } = await createTestDatabase();
    await keepBalanceUnit(database, 'USD');
    await keepBalanceUnit(database, 'CNY');
    await database.query({ text: `insert into account (id, name) values ('acct', 'one')` });
    const topUp = (reference: string) =>
      database.query({
        text: `insert into ledger_entry (account_id, kind, debit, credit, amount_micros, reference)
          values ('acct', 'top_up', 'funding', 'available', 1, $1)`,
        values: [reference],
      });
    await topUp('first-balance');
    await keepBalanceUnit(database, 'USD');
    await keepBalanceUnit(database, 'CNY');
    // A worker that is started first keeps nothing of its own.
    await expectBalanceUnit(database, 'Tokens');
    await topUp('invoice-1');
    await keepBalanceUnit(database, 'CNY');
    await expectBalanceUnit(database, 'CNY');
    await expect(expectBalanceUnit(database, 'USD')).rejects.toMatchObject({
      problems: [expect.stringContaining('Set BALANCE_UNIT=CNY')],
    });
    await expect(keepBalanceUnit(database, 'Tokens')).rejects.toMatchObject({
      problems: [expect.stringMatching(/BALANCE_UNIT=CNY.*update balance_unit set unit = 'Tokens'/)],
    });
    await database.query({ text: `update balance_unit set unit = 'Tokens'` });
    await keepBalanceUnit(database, 'Tokens');
    // As a version that wrote no unit leaves it.
    await database.query({ text: 'delete from balance_unit' });
    const lines = capturedLines();
    await keepBalanceUnit(database, 'CNY');
    await keepBalanceUnit(database, 'CNY');
    expect(lines.filter((line) => line.includes('balance_unit.assumed'))).toEqual([
      expect.stringContaining('"unit":"CNY"'),
    ]);
    await remove();
  });
});

describe('Lists of prices', () => {
  let api: AdminGateway;
  let folder: string;
  beforeAll(async () => {
    api = await startAdminGateway({ SANDBOX_BILLING_ENABLED: '' });
    folder = await mkdtemp(join(tmpdir(), 'gateway-prices-'));
  });
  afterAll(async () => {
    await api.gateway.stop();
    await rm(folder, { recursive: true });
  });

  const file = async (text: string): Promise<string> => {
    const path = join(folder, 'prices.yaml');
    await writeFile(path, text);
    return path;
  };
  const problemsOf = async (work: () => unknown): Promise<readonly string[]> => {
    try {
      await work();
    } catch (error) {
      if (error instanceof ConfigError) return error.problems.map((problem) => problem.replace(`${folder}/`, ''));
      throw error;
    }
    return [];
  };

  it('are refused with every mistake, its line and field', async () => {
    const path = await file(`effective_from: 2026-01-01
prices:
  - { model: eta-image-2.0, unit: second, variant: huge, amount: "0.1" }
  - model: vendor-5
    unit: input_token
    amount: -1
    per_quantity: 0
    effective_from: soon
    price: 3
  - { model: beta-2.5-previev, unit: second, amount: "1" }
`);
    expect(await problemsOf(() => readPricesFile(path))).toEqual([
      'prices.yaml:3: prices[0].unit must be one of image',
      expect.stringMatching(/^prices\.yaml:3: prices\[0\]\.variant must be one of /),
      'prices.yaml:9: prices[1].price is not a field here; there are model, unit, variant, from_input_tokens, amount, per_quantity, effective_from',
      'prices.yaml:7: prices[1].per_quantity must be a whole number from 1 to 1000000000',
      'prices.yaml:6: prices[1].amount must be a decimal such as "0.25", not below 0, with at most six places',
      expect.stringMatching(/^prices\.yaml:8: prices\[1\]\.effective_from must be a day or a moment/),
      expect.stringMatching(
        /^prices\.yaml:10: prices\[2\]\.unit must be one of input_token.*unless the model is "beta-2.5-preview"$/,
      ),
    ]);
    expect(await problemsOf(async () => readPricesFile(await file('prices: [')))).toEqual([
      expect.stringMatching(/^prices\.yaml:\d+: /),
    ]);
    expect(await problemsOf(() => readPricesFile(join(folder, 'none.yaml')))).toEqual([
      expect.stringMatching(/^PRICES_FILE names "none\.yaml", which cannot be read/),
    ]);
  });

  it.each([
    ['a model of media in a unit that it is not sold by', { model: 'eta-image-2.0', unit: 'input_token' }, 'unit'],
    ['a model of media in a variant of another', { model: 'eta-image-2.0', unit: 'image', variant: 'huge' }, 'variant'],
    ['kept files by tokens', { model: 'file-storage', unit: 'input_token' }, 'unit'],
    ['a tool in a tier', { unit: 'web_search_call', variant: 'priority' }, 'variant'],
    ['a part of a micro for an image', { model: 'eta-image-2.0', unit: 'image', per_quantity: 3 }, 'amount'],
    ['every model at once', { model: '*' }, 'model'],
    ['a name with a blank at its end', { model: 'vendor-5 ' }, 'model'],
    ['a name with the end of its line', { model: 'vendor-5\n' }, 'model'],
    ['a name of blanks', { model: ' ' }, 'model'],
    ['a day that there is not', { effective_from: '2030-02-30' }, 'effective_from'],
    ['a day that this year has not', { effective_from: '2030-02-29T00:00:00Z' }, 'effective_from'],
  ])('are refused alone and in a list where they would never hold: %s', async (_what, change, param) => {
    const price = { model: 'vendor-5', unit: 'input_token', amount: '1', effective_from: '2030-01-01', ...change };
    const alone = await api.admin('POST', '/prices', price);
    expect([alone.status, alone.body.error?.param]).toEqual([400, param]);
    // A file may hold what an export gave, whatever was once written.
    const isFileAlike = !/\s$/.test(price.model);
    const listed = isFileAlike
      ? await api.admin('POST', '/prices/import?dry_run=true', { prices: [price] })
      : await api.admin('POST', '/price-lists', { id: 'x', name: 'X', rules: [{ model: price.model, factor: '1' }] });
    const within = isFileAlike ? 'prices[0]' : 'rules[0]';
    expect([listed.status, listed.body.error?.param]).toEqual([400, `${within}.${param}`]);
  });

  it('of a file take effect once, even when applied repeatedly and concurrently, and later ones follow', async () => {
    const { database } = api.gateway;
    const apply = async (text: string, times = 1): Promise<void> => {
      const path = await file(text);
      await Promise.all(Array.from({ length: times }, () => applyPricesFile(database, readPricesFile(path))));
    };
    const first =
      'effective_from: 2026-01-01\nprices:\n  - { model: vendor-5, unit: input_token, amount: 1.25, per_quantity: 1000000 }\n';
    await apply(first, 5);
    await apply(
      `${first}  - { model: vendor-5, unit: input_token, amount: 2, per_quantity: 1000000, effective_from: 2099-01-01 }\n`,
    );
    await apply(
      `${first}  - { model: vendor-5, unit: input_token, amount: 3, per_quantity: 1000000, effective_from: 2099-01-01 }\n`,
    );
    const { body } = await api.admin<{ amount: string; created_by: string }[]>(
      'GET',
      '/prices?history=true&model=vendor-5',
    );
    expect(body.data.map(({ amount, created_by: by }) => [amount, by])).toEqual([
      ['3.000000', 'PRICES_FILE'],
      ['1.250000', 'PRICES_FILE'],
    ]);
    expect(await problemsOf(() => apply(first.replace('1.25', '1.26')))).toEqual([
      'prices.yaml:3: vendor-5 input_token default has cost 1.250000 since 2026-01-01T00:00:00.000Z and cannot cost 1.260000 from then on; give the new price a later effective_from',
    ]);
  });

  it('of a file let a start pass that says nothing new, and the book gains no band that a list lacks', async () => {
    const { database } = api.gateway;
    const [base, band] = [0, 200_000].map((from) =>
      ['input_token', 'output_token'].map((unit) => ({
        model: 'vendor-6',
        unit,
        amount: '1',
        per_quantity: 1_000_000,
        ...(from > 0 && { from_input_tokens: from }),
      })),
    );
    const rule = { model: 'vendor-6', unit: 'cached_input_token', amount: '0.1', per_quantity: 1_000_000 };
    const path = await file(
      JSON.stringify({
        effective_from: '2026-01-01',
        prices: base,
        lists: [{ id: 'partners', name: 'Partners', rules: [rule] }],
      }),
    );
    const start = () => problemsOf(() => applyPricesFile(database, readPricesFile(path)));
    expect(await start()).toEqual([]);
    const prices = band!.map((price) => ({ ...price, effective_from: '2026-02-01' }));
    const refused = await api.admin('POST', '/prices/import', { prices });
    expect([refused.status, JSON.stringify(refused.body.error)]).toEqual([
      400,
      expect.stringContaining('in the list partners vendor-6 cached_input_token default from 200000 has no price'),
    ]);
    const lists = [{ id: 'partners', name: 'Partners', rules: [{ ...rule, from_input_tokens: 200_000 }] }];
    const withList = lists.map((list) => ({
      ...list,
      rules: list.rules.map((each) => ({ ...each, effective_from: '2026-02-01' })),
    }));
    expect((await api.admin('POST', '/prices/import', { prices, lists: withList })).status).toBe(200);
    expect(await start()).toEqual([]);
    const one = { ...base![0], unit: 'reasoning_token' };
    expect((await api.admin('POST', '/prices', one)).status).toBe(400);
    // As a process leaves it that does not look at lists.
    await database.query({ text: `delete from price_list_rule where from_input_tokens > 0` });
    const lines = capturedLines();
    expect(await start()).toEqual([]);
    expect(lines.filter((line) => line.includes('prices.incomplete'))).toHaveLength(1);
    await database.query({
      text: `delete from price_list_rule; delete from price_list; delete from price where model = 'vendor-6'`,
    });
  });

  it('are exported and imported through the admin API, first as a preview', async () => {
    const added = {
      model: 'eta-image-2.0',
      unit: 'image',
      variant: 'default',
      amount: '0.05',
      effective_from: '2026-02-01',
    };
    const exported = (await api.admin<never>('GET', '/prices/export')).body as unknown as { prices: object[] };
    const list = { prices: [...exported.prices, added] };
    const look = await api.admin<ImportedFile>('POST', '/prices/import?dry_run=true', list);
    expect(look.body.data).toMatchObject({
      added: [{ ...added, amount: '0.050000', effective_from: '2026-02-01T00:00:00.000Z', was: null }],
      changed: [],
      unchanged: 2,
      conflicts: [],
    });
    expect((await api.admin<unknown[]>('GET', '/prices?model=eta-image-2.0')).body.data).toEqual([]);
    expect((await api.admin<ImportedFile>('POST', '/prices/import', list)).body.data.added).toHaveLength(1);
    expect((await api.admin<ImportedFile>('POST', '/prices/import', list)).body.data).toMatchObject({
      added: [],
      unchanged: 3,
    });
    const conflict = await api.admin('POST', '/prices/import', { prices: [{ ...added, amount: '0.06' }] });
    expect([conflict.status, conflict.body.error.code]).toEqual([409, 'conflict']);
    const wrong = await api.admin('POST', '/prices/import', { prices: [{ ...added, amount: true }] });
    expect([wrong.status, wrong.body.error.param]).toEqual([400, 'prices[0].amount']);
    const answer = await fetch(`${api.gateway.baseUrl}/admin/v1/prices/export?format=yaml`, {
      headers: { authorization: `Bearer ${api.token}` },
    });
    expect(readPricesFile(await file(await answer.text())).prices).toHaveLength(3);
  });
});

describe('A book of prices that is exported', () => {
  const UNITS = ['input_token', 'cached_input_token', 'cache_write_token', 'output_token', 'reasoning_token'];
  let api: AdminGateway;
  beforeAll(async () => {
    api = await startAdminGateway({ SANDBOX_BILLING_ENABLED: '' });
  });
  afterAll(() => api.gateway.stop());

  const send = async (body: string, type: string, dryRun = false): Promise<[number, ImportedFile, object]> => {
    const answer = await fetch(`${api.gateway.baseUrl}/admin/v1/prices/import?dry_run=${dryRun}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.token}`, 'content-type': type },
      body,
    });
    const { data, error } = (await answer.json()) as { data: ImportedFile; error: object };
    return [answer.status, data, error];
  };
  const exported = async (format: 'json' | 'yaml'): Promise<string> => {
    const headers = { authorization: `Bearer ${api.token}` };
    return (await fetch(`${api.gateway.baseUrl}/admin/v1/prices/export?format=${format}`, { headers })).text();
  };
  const empty = () => api.gateway.database.query({ text: 'delete from price', values: [] });
  const rows = async (): Promise<unknown[]> =>
    (
      await api.gateway.database.query({
        text: `select model, unit, variant, amount_micros, per_quantity, effective_from from price
          order by model, unit, variant, effective_from`,
        values: [],
      })
    ).rows;
  /** Names with what YAML and JSON mean something by. */
  const book = (models: number): object[] =>
    fc
      .sample(
        fc.record({
          name: fc.string({ unit: 'grapheme-ascii', maxLength: 20 }),
          amount: fc.integer({ min: 0, max: 10 ** 9 }),
          day: fc.integer({ min: 1, max: 28 }),
          units: fc.subarray(UNITS, { minLength: 1 }),
        }),
        { numRuns: models, seed: models },
      )
      .flatMap(({ name, amount, day, units }, index) =>
        units.map((unit) => ({
          model: `${name} #: "${index}`,
          unit,
          amount: `${Math.floor(amount / 1e6)}.${String(amount % 1e6).padStart(6, '0')}`,
          per_quantity: 1_000_000,
          effective_from: `20${10 + (index % 80)}-01-${String(day).padStart(2, '0')}T00:00:00.000Z`,
        })),
      );

  it.each([1, 170, 1_000])(
    'is imported again in both forms, and changes nothing then: %i models',
    async (models) => {
      await empty();
      const prices = book(models);
      const [status, first] = await send(JSON.stringify({ prices }), 'application/json');
      expect([status, first.added.length]).toEqual([200, prices.length]);
      const before = await rows();
      expect(before).toHaveLength(prices.length);
      for (const [format, type] of [
        ['json', 'application/json'],
        ['yaml', 'application/yaml'],
        ['yaml', 'text/yaml; charset=utf-8'],
      ] as const) {
        const text = await exported(format);
        const same = await send(text, type, true);
        expect([same[0], same[1].added, same[1].changed, same[1].unchanged]).toEqual([200, [], [], prices.length]);
        await empty();
        expect((await send(text, type))[1].added).toHaveLength(prices.length);
        expect(await rows()).toEqual(before);
      }
    },
    120_000,
  );

  it('holds price lists too: the same again changes nothing, a rule to come may be corrected, one in force may not', async () => {
    await empty();
    const own = { model: 'listed', unit: 'input_token', amount: '1', per_quantity: 1_000_000 };
    const rules = Array.from({ length: 70 }, (_, index) => ({ model: `ours ${index} "`, factor: '0.9' }));
    const file = {
      effective_from: '2026-01-01',
      prices: [own, { ...own, unit: 'output_token' }],
      lists: [
        { id: 'gold', name: 'Gold: #1', rules: [...rules, { ...own, amount: '0.5' }] },
        { id: 'new', name: 'New', rules: [] },
        { id: 'gold', name: 'Gold: #1', rules: [{ model: '*', factor: '0', effective_from: '2090-01-01' }] },
      ],
    };
    const [status, first] = await send(JSON.stringify(file), 'application/json');
    expect([status, first.lists?.added.length, first.lists?.named]).toEqual([200, 72, ['gold', 'new']]);
    const listed = () =>
      Promise.all(['gold', 'new'].map(async (id) => (await api.admin('GET', `/price-lists/${id}`)).body.data));
    const before = await listed();
    for (const [format, type] of [
      ['json', 'application/json'],
      ['yaml', 'application/yaml'],
    ] as const) {
      const text = await exported(format);
      const { lists } = (await send(text, type))[1];
      expect(lists).toEqual({ named: [], added: [], changed: [], unchanged: 72, conflicts: [] });
    }
    expect(await listed()).toEqual(before);
    const later = (factor: string, from: string) => `effective_from: 2026-01-01
lists:
  # Partners
  - id: gold
    name: Partners
    rules:
      - { model: '*', factor: ${factor}, effective_from: ${from} }
`;
    const [, { lists: corrected }] = await send(later('0.75', '2090-01-01'), 'application/yaml');
    expect(corrected).toMatchObject({
      named: ['gold'],
      changed: [{ list: 'gold', factor: '0.75', was: { factor: '0' } }],
    });
    expect((await send(later('0.5', '2026-02-01'), 'application/yaml'))[0]).toBe(200);
    const conflict = await send(later('0.6', '2026-02-01'), 'application/yaml');
    expect([conflict[0], conflict[2]]).toEqual([409, expect.objectContaining({ code: 'conflict', param: 'lists' })]);
    const band = [{ ...own, from_input_tokens: 9 }];
    const gap = await send(
      JSON.stringify({ effective_from: '2026-01-01', lists: [{ id: 'gap', name: 'G', rules: band }] }),
      'application/json',
    );
    expect(gap[2]).toMatchObject({
      param: 'lists',
      message: expect.stringContaining('listed output_token default from 9'),
    });
    for (const [rule, param] of [
      [{ model: 'a' }, 'lists[0].rules[0]'],
      [{ model: 'a', factor: '-1' }, 'lists[0].rules[0].factor'],
      [{ model: '*', amount: '1', unit: 'image' }, 'lists[0].rules[0].model'],
      [{ model: 'a', factor: '1', colour: 'red' }, 'lists[0].rules[0].colour'],
      [{ model: 'a', factor: '1', effective_from: 'soon' }, 'lists[0].rules[0].effective_from'],
    ] as const)
      expect(
        (
          await send(JSON.stringify({ ...file, lists: [{ id: 'x', name: 'X', rules: [rule] }] }), 'application/json')
        )[2],
      ).toMatchObject({ param });
    const folder = await mkdtemp(join(tmpdir(), 'gateway-lists-'));
    const path = join(folder, 'prices.yaml');
    await writeFile(path, await exported('yaml'));
    await applyPricesFile(api.gateway.database, readPricesFile(path));
    await api.gateway.database.query({ text: 'delete from price_list_rule', values: [] });
    await applyPricesFile(api.gateway.database, readPricesFile(path));
    await rm(folder, { recursive: true });
    const { rows: kept } = await api.gateway.database.query({ text: 'select from price_list_rule', values: [] });
    expect(kept).toHaveLength(73);
  });

  it('is read from YAML as people write it, and a mistake is named with its line', async () => {
    const yaml = `# ours
effective_from: 2026-01-01   # of all
prices:
# text
- { model: ours, unit: input_token, amount: '1.25', per_quantity: 1000000 }
-   model: "ours"
    unit: output_token
    # dear
    amount: 10
    per_quantity: 1000000

- {"model": "ours", "unit": "cached_input_token", "amount": "0.1", "per_quantity": 1000000}
`;
    const [status, { added }] = await send(yaml, 'application/yaml', true);
    expect(status).toBe(200);
    expect(added.map(({ unit, amount, effective_from: from }) => [unit, amount, from.slice(0, 10)])).toEqual([
      ['input_token', '1.250000', '2026-01-01'],
      ['output_token', '10.000000', '2026-01-01'],
      ['cached_input_token', '0.100000', '2026-01-01'],
    ]);
    const flow = 'prices: [{ model: ours, unit: input_token, amount: 1, effective_from: 2026-01-01 }]';
    expect((await send(flow, 'application/yaml', true))[1].added).toHaveLength(1);
    const cases: [string, string, object][] = [
      [
        yaml.replace("'1.25'", "'1.25"),
        'application/yaml',
        { message: expect.stringMatching(/^The YAML cannot be read: line \d+: /) },
      ],
      [yaml.replace('amount: 10', 'amount: ten'), 'application/yaml', { param: 'prices[1].amount' }],
      [
        yaml.replace('amount: 10', 'amount: 10\n    amount: 11'),
        'application/yaml',
        { message: expect.stringMatching(/unique/) },
      ],
      ['{"prices":[{"model":"a","model":"b"}]}', 'application/json', { code: 'invalid_json' }],
      ['{"prices":[{"model":"a"},]}', 'application/json', { code: 'invalid_json' }],
      ['{"prices":[', 'application/json', { code: 'invalid_json' }],
      ['{"prices":[{}],"prices":[]}', 'application/json', { code: 'invalid_json' }],
      ['', 'application/json', { code: 'invalid_json' }],
      ['prices: []', 'application/yaml', { param: 'prices' }],
      ['- a', 'application/yaml', { param: 'prices' }],
      ['prices: x', 'text/plain', { code: 'unsupported_media_type' }],
    ];
    for (const [body, type, error] of cases) expect((await send(body, type, true))[2]).toMatchObject(error);
    const many = JSON.stringify({ prices: Array.from({ length: 50_001 }, () => ({})) });
    expect((await send(many, 'application/json', true))[2]).toMatchObject({ param: 'prices' });
  });
});
