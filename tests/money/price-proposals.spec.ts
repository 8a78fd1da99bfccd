import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '#testing';
import { type AdminGateway, startAdminGateway } from '../harness/admin-gateway.js';

interface Price {
  readonly unit: string;
  readonly variant: string;
  readonly from_input_tokens: number;
  readonly amount: string;
  readonly per_quantity: number;
  readonly cost?: string | null;
  readonly margin?: string | null;
}
interface Item {
  readonly id: string;
  readonly model: string | null;
  readonly flags: readonly string[];
  readonly ticked: boolean;
  readonly missing: readonly string[];
  readonly suggestions: readonly string[];
  readonly moved_bands: readonly number[];
  readonly book: readonly Price[];
  readonly proposed: readonly Price[];
}
interface Proposal {
  readonly id: string;
  readonly sha256: string;
  readonly state: string;
  readonly counts: { readonly read: number; readonly unchanged: number };
  readonly items: readonly Item[];
  readonly added: number;
  readonly removed: number;
}

/** A list of litellm's form, in USD for a million of input and output. */
const litellm = (models: Readonly<Record<string, readonly [number, number]>>, more: object = {}): string =>
  JSON.stringify({
    sample_spec: { input_cost_per_token: 0 },
    ...Object.fromEntries(
      Object.entries(models).map(([id, [input, output]]) => [
        id,
        { litellm_provider: 'openai', input_cost_per_token: input / 1e6, output_cost_per_token: output / 1e6, ...more },
      ]),
    ),
  });

/** A band of such a list, from so many tokens on. */
const bandFrom = (start: unknown): object => ({
  tiered_pricing: [{ range: [start, 1e6], input_cost_per_token: 2e-6, output_cost_per_token: 4e-6 }],
});

async function listening(answer: RequestListener): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('A price proposal', () => {
  let api: AdminGateway;
  let host: Server;
  let url: string;
  let served = { status: 200, body: '', headers: {} as Record<string, string> };
  beforeAll(async () => {
    ({ server: host, url } = await listening((_request, response) => {
      response.writeHead(served.status, served.headers).end(served.body);
    }));
    api = await startAdminGateway({ MEDIA_FETCH_ALLOW: url.slice('http://'.length) });
  });
  afterAll(async () => {
    await api.gateway.stop();
    host.closeAllConnections();
    host.close();
  });

  const propose = async (file: string, more: object = {}): Promise<Proposal> => {
    const { status, body } = await api.admin<Proposal>('POST', '/price-proposals', {
      source: 'litellm',
      file,
      ...more,
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.data;
  };
  const apply = (id: string, items: readonly string[]) =>
    api.admin<Proposal>('POST', `/price-proposals/${id}/apply`, { items });
  const undo = (id: string) => api.admin<Proposal>('POST', `/price-proposals/${id}/undo`);
  const itemOf = ({ items }: Proposal, id: string): Item => {
    const item = items.find((each) => each.id === id);
    if (!item) throw new Error(`there is no item ${id}`);
    return item;
  };
  /** The whole book as it is in force and to come, whoever wrote it. */
  const book = async (): Promise<unknown> => (await api.admin('GET', '/prices/export')).body['prices' as never];
  const amountsOf = async (model: string): Promise<Record<string, string>> => {
    const { body } = await api.admin<readonly Price[]>('GET', `/prices?model=${model}`);
    return Object.fromEntries(
      body.data.map(({ unit, from_input_tokens: from, amount }) => [
        from === 0 ? unit : `${unit} from ${from}`,
        amount,
      ]),
    );
  };

  it('changes nothing until a person says yes, then once, and one step brings back exactly what was', async () => {
    const before = await book();
    const proposal = await propose(litellm({ 'gpt-fresh': [1, 4], 'vendor-5': [1.5, 12] }), {
      factor: '1.2',
      rounding: 'cent',
    });
    expect([proposal.state, proposal.counts.read]).toEqual(['open', 2]);
    expect(await book()).toEqual(before);

    // Nobody chose its price, so an example price is none.
    const item = itemOf(proposal, 'vendor-5');
    expect(item).toMatchObject({ model: 'vendor-5', ticked: true, flags: ['new'] });
    expect(item.proposed.map(({ unit, amount }) => [unit, amount])).toEqual([
      ['input_token', '1.800000'],
      ['output_token', '14.400000'],
    ]);

    const applied = await apply(proposal.id, ['vendor-5']);
    expect([applied.status, applied.body.data.state, applied.body.data.added]).toEqual([200, 'applied', 2]);
    expect(await amountsOf('vendor-5')).toMatchObject({ input_token: '1.800000', output_token: '14.400000' });
    const during = await book();
    const again = await apply(proposal.id, ['vendor-5']);
    expect([again.status, again.body.data.added]).toEqual([200, 0]);
    expect(await book()).toEqual(during);

    const undone = await undo(proposal.id);
    expect([undone.status, undone.body.data.state, undone.body.data.removed]).toEqual([200, 'undone', 2]);
    expect(await book()).toEqual(before);
    const twice = await undo(proposal.id);
    expect([twice.status, twice.body.error.code]).toEqual([409, 'conflict']);
    expect((await apply(proposal.id, ['vendor-5'])).status).toBe(409);

    const { body } = await api.admin<readonly { action: string; actor: string; after: Record<string, unknown> }[]>(
      'GET',
      `/audit?subject_id=${proposal.id}`,
    );
    expect(body.data.map(({ action }) => action)).toEqual([
      'price_proposal.undone',
      'price_proposal.applied',
      'price_proposal.added',
    ]);
    expect(body.data[1]).toMatchObject({
      actor: 'finance@example.com',
      after: { source: 'litellm', origin: 'file', sha256: proposal.sha256, factor_millionths: '1200000' },
    });
  });

  it.each<[what: string, file: string, flag: string]>([
    [
      'for a million tokens where its form has one',
      litellm({ 'vendor-4o-image': [2_500_000, 10_000_000] }),
      'unlikely_amount',
    ],
    ['of next to nothing', litellm({ 'vendor-4o-image': [1, 1e-24] }), 'unlikely_amount'],
    [
      'twice, with other prices',
      litellm({ 'vendor-4o-image': [1, 2] }).replace(/\}$/, `,${litellm({ 'vendor-4o-image': [3, 4] }).slice(1)}`),
      'listed_twice',
    ],
    ['of a band that begins at no token', litellm({ 'vendor-4o-image': [1, 2] }, bandFrom(32_000.5)), 'unknown_unit'],
    [
      'of a band that begins below the first token',
      litellm({ 'vendor-4o-image': [1, 2] }, bandFrom(-5)),
      'unknown_unit',
    ],
    ['of a band that nobody reaches', litellm({ 'vendor-4o-image': [1, 2] }, bandFrom(1e15)), 'unknown_unit'],
  ])('is not ticked where its list says a price %s', async (_, file, flag) => {
    const { ticked, flags, proposed } = itemOf(await propose(file), 'vendor-4o-image');
    expect({ ticked, flags }).toEqual({ ticked: false, flags: expect.arrayContaining([flag]) as string[] });
    for (const { from_input_tokens: from } of proposed) expect(from === 0 || from === 32_001).toBe(true);
  });

  it('reads the beginning of a band that is written as a text, and no entry without a name', async () => {
    const proposal = await propose(litellm({ 'vendor-4o-image': [1, 2], '': [1, 2] }, bandFrom('32000')));
    expect(proposal.items.map(({ id }) => id)).toEqual(['vendor-4o-image']);
    expect(itemOf(proposal, 'vendor-4o-image').proposed.map(({ from_input_tokens: from }) => from)).toContain(32_001);
  });

  it('sells at the new price, and at the old one after it is undone', async () => {
    const inputPrice = async (): Promise<string | undefined> => {
      const { body } = await api.gateway.send<{ data: { prices: readonly Price[] } }>('GET', '/v1/models/vendor-5');
      return body.data.prices.find(({ unit }) => unit === 'input_token')?.amount;
    };
    const soldAt = (amount: string | undefined): Promise<unknown> =>
      eventually(async () => (await inputPrice()) === amount, { pauseMs: 200 });
    const was = await inputPrice();
    const { id } = await propose(litellm({ 'vendor-5': [7, 8] }));
    await apply(id, ['vendor-5']);
    await soldAt('7.000000');
    await undo(id);
    await soldAt(was);
    expect(await inputPrice()).toBe(was);
  });

  it('is applied and undone once by many at once, and of two for one model one holds whole', async () => {
    const MODEL = 'vendor-4-vision';
    const before = await book();
    const [one, other] = [await propose(litellm({ [MODEL]: [2, 9] })), await propose(litellm({ [MODEL]: [5, 20] }))];
    const five = Array.from({ length: 5 });
    const applied = await Promise.all([one, other].flatMap(({ id }) => five.map(() => apply(id, [MODEL]))));
    const taken = applied.filter(({ status, body }) => status === 200 && body.data.added > 0);
    expect(taken).toHaveLength(1);
    const [winner, loser] = taken[0]?.body.data.id === one.id ? [one, other] : [other, one];
    expect(applied.filter(({ status }) => status === 409)).toHaveLength(5);
    const [input, output] = winner === one ? ['2.000000', '9.000000'] : ['5.000000', '20.000000'];
    expect(await amountsOf(MODEL)).toMatchObject({ input_token: input, output_token: output });

    // Undone while others apply it, and the one that lost, again.
    const both = await Promise.all([
      ...five.map(() => undo(winner.id)),
      ...five.flatMap(() => [apply(winner.id, [MODEL]), apply(loser.id, [MODEL])]),
    ]);
    expect(both.map(({ status }) => status).filter((status) => ![200, 409].includes(status))).toEqual([]);
    expect(both.filter(({ status, body }) => status === 200 && body.data.state === 'undone')).not.toEqual([]);
    const states = await Promise.all(
      [winner, loser].map(
        async ({ id }) => (await api.admin<Proposal>('GET', `/price-proposals/${id}`)).body.data.state,
      ),
    );
    expect(states[0]).toBe('undone');
    const undone = states[1] === 'applied' ? (await undo(loser.id)).status : 200;
    expect([undone, await book()]).toEqual([200, before]);
  });

  it('is not removed while it is applied, and keeps nobody from making another', async () => {
    const { id } = await propose(litellm({ 'vendor-4-vision': [3, 11] }));
    const { database } = api.gateway;
    await database.query({
      text: `update price_proposal set expires_at = now() - interval '1 minute' where id = $1`,
      values: [id],
    });
    // As the application of it does first.
    await database.transaction(async (transaction) => {
      await transaction.query({ text: 'select from price_proposal where id = $1 for update', values: [id] });
      await propose(litellm({ 'vendor-4-vision': [4, 12] }));
    });
    expect((await api.admin('GET', `/price-proposals/${id}`)).status).toBe(200);
    await propose(litellm({ 'vendor-4-vision': [4, 13] }));
    expect((await api.admin('GET', `/price-proposals/${id}`)).status).toBe(404);
  });

  it('is refused by name where prices changed since it was made, or since it was applied', async () => {
    const { id } = await propose(litellm({ 'vendor-4-vision': [2, 9], 'vendor-5': [3, 9] }));
    const add = (amount: string) =>
      api.admin('POST', '/prices', { model: 'vendor-4-vision', unit: 'input_token', amount, per_quantity: 1_000_000 });
    expect((await add('3')).status).toBe(200);
    const stale = await apply(id, ['vendor-4-vision', 'vendor-5']);
    expect([stale.status, JSON.stringify(stale.body.error)]).toEqual([409, expect.stringContaining('vendor-4-vision')]);
    expect(JSON.stringify(stale.body.error)).not.toContain('vendor-5');
    // What did not change can still be applied.
    expect((await apply(id, ['vendor-5'])).status).toBe(200);
    expect((await undo(id)).status).toBe(200);

    const later = await propose(litellm({ 'vendor-4-vision': [4, 9] }));
    expect((await apply(later.id, ['vendor-4-vision'])).status).toBe(200);
    expect((await add('5')).status).toBe(200);
    const refused = await undo(later.id);
    expect([refused.status, JSON.stringify(refused.body.error)]).toEqual([
      409,
      expect.stringContaining('vendor-4-vision'),
    ]);
    expect(await amountsOf('vendor-4-vision')).toMatchObject({ input_token: '5.000000' });
  });

  it('corrects prices to come, and puts them back', async () => {
    const from = '2030-01-01T00:00:00.000Z';
    const price = {
      model: 'vendor-2.5-pro',
      unit: 'input_token',
      amount: '2',
      per_quantity: 1_000_000,
      effective_from: from,
    };
    expect((await api.admin('POST', '/prices', price)).status).toBe(200);
    const before = await book();
    const { id, items } = await propose(litellm({ 'vendor-2.5-pro': [2.5, 12] }), { effective_from: from });
    expect(items[0]?.flags).toEqual(['rises']);
    expect((await apply(id, ['vendor-2.5-pro'])).status).toBe(200);
    expect(await book()).not.toEqual(before);
    expect((await undo(id)).status).toBe(200);
    expect(await book()).toEqual(before);
  });

  it('completes bands, moves their beginnings but those of xAI, and names what one would lack', async () => {
    const band = { input_cost_per_token_above_200k_tokens: 4e-6 };
    const [openai, xai] = [
      await propose(litellm({ 'vendor-2.5-flash': [2, 10] }, band)),
      await propose(litellm({ 'vendor-2.5-flash': [2, 10] }, { ...band, litellm_provider: 'xai' })),
    ];
    const bands = (proposal: Proposal) =>
      proposal.items[0]?.proposed
        .filter(({ from_input_tokens: from }) => from > 0)
        .map((price) => [price.unit, price.from_input_tokens, price.amount]);
    // The book has cached input too, which the list does not name.
    expect(openai.items[0]).toMatchObject({
      ticked: false,
      moved_bands: [200_000],
      missing: ['vendor-2.5-flash cached_input_token default from 200001'],
    });
    expect(openai.items[0]?.flags).toEqual(['new', 'incomplete_band', 'moved_band']);
    expect(bands(openai)).toEqual([
      ['input_token', 200_001, '4.000000'],
      ['output_token', 200_001, '10.000000'],
    ]);
    expect(bands(xai)?.[0]).toEqual(['input_token', 200_000, '4.000000']);
    const refused = await apply(openai.id, ['vendor-2.5-flash']);
    expect([refused.status, JSON.stringify(refused.body.error)]).toEqual([
      400,
      expect.stringContaining('cached_input_token default from 200001'),
    ]);

    const whole = await propose(
      litellm({ 'vendor-2.5-flash': [2, 10] }, { ...band, cache_read_input_token_cost: 2e-7 }),
    );
    expect((await apply(whole.id, ['vendor-2.5-flash'])).status).toBe(200);
    expect(await amountsOf('vendor-2.5-flash')).toMatchObject({
      'cached_input_token from 200001': '0.200000',
      'input_token from 200001': '4.000000',
    });
  });

  it('keeps what an operator says of a name, for every later list', async () => {
    const list = litellm({ 'vendor-haiku-4.5': [1, 5] });
    const unknown = await propose(list);
    expect(unknown.items[0]).toMatchObject({ model: null, flags: ['unmapped'], ticked: false });
    expect((await apply(unknown.id, ['vendor-haiku-4.5'])).status).toBe(400);
    const name = { source: 'litellm', id: 'vendor-haiku-4.5', model: 'vendor-haiku-4-5-20251001' };
    expect((await api.admin('PUT', '/price-names', name)).status).toBe(200);
    expect((await propose(list)).items[0]?.model).toBe('vendor-haiku-4-5-20251001');
    expect((await api.admin('PUT', '/price-names', { ...name, model: null })).status).toBe(200);
    expect((await propose(list)).items[0]?.model).toBeNull();
    expect((await api.admin('GET', '/price-names')).body.data).toEqual([{ ...name, model: null }]);
    const media = await api.admin('PUT', '/price-names', { ...name, model: 'beta-2.5-preview' });
    expect([media.status, media.body.error.param]).toEqual([400, 'model']);
  });

  it('is read from an address through the safe fetcher, within bounds', async () => {
    const read = (address: string) =>
      api.admin<Proposal>('POST', '/price-proposals', { source: 'openrouter', url: address });
    served = {
      status: 200,
      headers: {},
      body: JSON.stringify({ data: [{ id: 'acme/vendor-5', pricing: { prompt: '0.000002', completion: '0.00001' } }] }),
    };
    const { status, body } = await read(`${url}/models`);
    expect([status, body.data.items[0]?.model]).toEqual([200, 'vendor-5']);
    served = { ...served, status: 500 };
    expect((await read(url)).status).toBe(400);
    served = { status: 200, headers: { 'content-length': String(33 * 1024 * 1024) }, body: '' };
    expect((await read(url)).status).toBe(400);
    served = { status: 302, headers: { location: 'http://127.0.0.1:1/list' }, body: '' };
    expect((await read(url)).status).toBe(400);
    for (const address of [
      'http://example.com/list',
      'https://127.0.0.1:1/',
      'https://169.254.169.254/',
      'file:///etc/passwd',
    ])
      expect([address, (await read(address)).status]).toEqual([address, 400]);
  });

  it("is read from an upstream's own list, with its prices where it has any", async () => {
    const vendor = await listening((request, response) => {
      const isList = request.url === '/models' && request.headers.authorization === 'Bearer vendor-key';
      response.writeHead(isList ? 200 : 401, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          data: [{ id: 'their-5', pricing: { prompt: '0.000003', completion: '0.000009' } }, { id: 'their-6' }],
        }),
      );
    });
    const entry = {
      kind: 'text',
      id: 'acme',
      protocol: 'chat',
      base_url: vendor.url,
      key: 'vendor-key',
      models: { 'acme-5': 'their-5' },
      costs: { unit: 'USD', per_quantity: 1_000_000, 'acme-5': { input_token: 4, output_token: 8 } },
    };
    expect((await api.admin('POST', '/upstreams', entry)).status).toBe(200);
    const { body } = await api.admin<Proposal>('POST', '/price-proposals', { source: 'upstream', upstream: 'acme' });
    const [known, other] = body.data.items;
    expect(known).toMatchObject({ id: 'their-5', model: 'acme-5', ticked: false, flags: ['new', 'below_cost'] });
    expect(known?.proposed.map(({ cost, margin }) => [cost, margin])).toEqual([
      ['4.000000', '-1.000000'],
      ['8.000000', '1.000000'],
    ]);
    expect(other).toMatchObject({ id: 'their-6', model: null, flags: ['unmapped', 'no_price', 'not_offered'] });
    vendor.server.closeAllConnections();
    vendor.server.close();
  });

  it.each([
    [{ source: 'litellm' }, 'url'],
    [{ source: 'litellm', file: '{}' }, 'file'],
    [{ source: 'litellm', file: '{}', url: 'https://example.com' }, 'url'],
    [{ source: 'nowhere', file: '{}' }, 'source'],
    [{ source: 'upstream', file: '{}' }, 'upstream'],
    [{ source: 'litellm', file: '{}', factor: '0' }, 'factor'],
    [{ source: 'litellm', file: '{}', factor: '-1' }, 'factor'],
    [{ source: 'litellm', file: '{}', factor: '1e3' }, 'factor'],
    [{ source: 'litellm', file: '{}', factor: '1001' }, 'factor'],
    [{ source: 'litellm', file: '{}', rounding: 'euro' }, 'rounding'],
    [{ source: 'litellm', file: '{}', rounding: 0 }, 'rounding'],
    [{ source: 'litellm', file: '{}', effective_from: '2020-01-01' }, 'effective_from'],
  ])('is refused by its field: %j', async (body, param) => {
    const answer = await api.admin('POST', '/price-proposals', body);
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  });

  it('of many models is applied whole, and undone to the last price', async () => {
    const models = Array.from({ length: 1_000 }, (_, index) => `model-${index}`);
    const list = (input: number): string =>
      litellm(Object.fromEntries(models.map((model) => [model, [input, 10] as const])), {
        cache_read_input_token_cost: 1e-7,
      });
    const first = models.flatMap((model) =>
      ['input_token', 'output_token'].map((unit) => ({
        model,
        unit,
        amount: '2',
        per_quantity: 1_000_000,
        effective_from: '2026-01-01',
      })),
    );
    expect((await api.admin('POST', '/prices/import', { prices: first })).status).toBe(200);
    const before = await book();
    const proposal = await propose(list(2.5), { factor: 1.1 });
    const ids = proposal.items.filter(({ model }) => model?.startsWith('model-')).map(({ id }) => id);
    expect(ids).toHaveLength(1_000);
    const applied = await apply(proposal.id, ids);
    expect([applied.status, applied.body.data.added]).toEqual([200, 3_000]);
    expect((await undo(proposal.id)).status).toBe(200);
    expect(await book()).toEqual(before);
  });
});
