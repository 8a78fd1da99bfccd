import { type AdminGateway, startAdminGateway } from '../harness/admin-gateway.js';
import { monthOfUsage } from '../harness/month-of-usage.js';

interface Sum {
  readonly model?: string;
  readonly account_id?: string;
  readonly records: number;
  readonly earned_before: string;
  readonly earned_after: string;
  readonly cost: string;
  readonly margin_before: string | null;
  readonly margin_after: string | null;
}
interface Simulation {
  readonly total: Sum;
  readonly unpriced_records: number;
  readonly models: readonly Sum[];
  readonly accounts: readonly Sum[];
}

/** More than are read at a time. */
const RECORDS = 20_000;

describe('A simulation of prices', () => {
  let api: AdminGateway;
  beforeAll(async () => {
    api = await startAdminGateway();
    await api.gateway.database.query(monthOfUsage(api.gateway.accountId, RECORDS));
  });
  afterAll(() => api.gateway.stop());

  const simulate = (body: object) => api.admin<Simulation>('POST', '/price-simulations', body);
  const million = (model: string, unit: string, amount: string): object => ({
    model,
    unit,
    amount,
    per_quantity: 1_000_000,
  });
  const prices = [
    million('vendor-5', 'input_token', '4'),
    million('vendor-5', 'output_token', '10'),
    million('vendor-4-vision', 'input_token', '1'),
    million('vendor-4-vision', 'output_token', '5'),
  ];

  it('charges past records again, by model and account, and changes nothing', async () => {
    const before = (await api.admin('GET', '/prices/export')).body;
    const { data } = (await simulate({ prices })).body;
    expect(data.total).toEqual({
      records: RECORDS,
      earned_before: '60.000000',
      earned_after: '65.000000',
      cost: '30.000000',
      records_without_cost: 0,
      margin_before: '30.000000',
      margin_after: '35.000000',
    });
    expect(data.unpriced_records).toBe(0);
    expect(
      data.models.map((sum) => [sum.model, sum.records, sum.earned_before, sum.earned_after, sum.margin_after]),
    ).toEqual([
      ['vendor-5', RECORDS / 2, '30.000000', '50.000000', '35.000000'],
      ['vendor-4-vision', RECORDS / 2, '30.000000', '15.000000', '0.000000'],
    ]);
    expect(data.accounts.map((sum) => [sum.account_id, sum.earned_after])).toEqual([
      [api.gateway.accountId, '65.000000'],
    ]);
    expect((await api.admin('GET', '/prices/export')).body).toEqual(before);
  });

  it('takes the prices of a proposal, of a list, and the list that an account has', async () => {
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const days = { from: day, to: day };
    const { body } = await api.admin<{ id: string }>('POST', '/price-proposals', {
      source: 'litellm',
      file: JSON.stringify({
        'vendor-5': { input_cost_per_token: 4e-6, output_cost_per_token: 1e-5 },
        'vendor-4-vision': { input_cost_per_token: 1e-6, output_cost_per_token: 5e-6 },
      }),
    });
    const ofProposal = (await simulate({ ...days, proposal: body.data.id })).body.data;
    const ofPrices = (await simulate({ ...days, prices })).body.data;
    expect(ofProposal).toEqual(ofPrices);
    const one = (await simulate({ ...days, proposal: body.data.id, items: ['vendor-5'] })).body.data;
    expect(one.models.find(({ model }) => model === 'vendor-5')).toEqual(
      ofPrices.models.find(({ model }) => model === 'vendor-5'),
    );
    expect(one.total.earned_after).not.toBe(ofPrices.total.earned_after);

    expect(
      (await api.admin('POST', '/price-lists', { id: 'free', name: 'Free', rules: [{ model: '*', factor: '0' }] }))
        .status,
    ).toBe(200);
    const ofList = (await simulate({ ...days, list: 'free' })).body.data;
    expect([ofList.total.earned_after, ofList.total.earned_before]).toEqual(['0.000000', ofPrices.total.earned_before]);
  });

  it.each([
    [{}, 400, 'prices'],
    [{ list: 'free', prices }, 400, 'prices'],
    [{ prices: [{ model: 'vendor-5' }] }, 400, 'prices[0].unit'],
    // A band that is not whole charges nobody: it must not be said to change nothing.
    [{ prices: [{ model: 'vendor-5', unit: 'input_token', amount: '1', from_input_tokens: 3 }] }, 400, 'prices'],
    [{ prices, from: '2026-02-01', to: '2026-01-01' }, 400, 'from'],
    [{ list: 'nobody' }, 404, 'list_id'],
    [{ proposal: 'nobody' }, 404, 'proposal_id'],
  ])('is refused by its field: %j', async (body, status, param) => {
    const answer = await simulate(body);
    expect([answer.status, answer.body.error.param]).toEqual([status, param]);
  });
});
