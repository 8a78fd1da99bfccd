import type { JsonObject } from '#contracts';
import { Turns } from '#platform';
import { TextCosts } from '#providers';
import type { TextUpstream } from '../../upstreams/text-upstreams.js';
import { PricesInForce } from './price-book.js';
import type { PriceInForce, PriceRule } from './price-rules.js';
import { textPricesBelowCost } from './text-below-cost.js';

const price = (unit: string, fromInputTokens: number, amount: number, variant = 'default'): PriceInForce => ({
  id: `${unit} ${fromInputTokens}`,
  unit,
  variant,
  fromInputTokens,
  amountMicros: BigInt(amount * 1_000_000),
  perQuantity: 1_000_000n,
});

const upstreamOf = (costs: JsonObject): TextUpstream =>
  ({
    provider: { id: 'u' },
    models: new Map([['m', 'm']]),
    costs: new TextCosts({ costs: { unit: 'USD', per_quantity: 1_000_000, m: costs } }, 'USD'),
  }) as unknown as TextUpstream;

/** What sells below cost, as `unit from`, where a model costs so much for a million. */
async function losses(costs: JsonObject, prices: readonly PriceInForce[], rules: readonly PriceRule[] = []) {
  const inForce = new PricesInForce(new Map([['m', prices]]), rules);
  const found = await textPricesBelowCost(inForce, [upstreamOf(costs)], rules[0]?.listId);
  return found.map(({ unit, variant, from_input_tokens: from = 0, price_list: list = '' }) =>
    `${unit} ${variant} ${from} ${list}`.trim(),
  );
}

const BANDS = [
  { input_token: 2, output_token: 10 },
  { from_input_tokens: 200_000, input_token: 4, output_token: 15 },
] as unknown as JsonObject;

describe('Prices of text below what they cost', () => {
  it('are none where each band of the costs is met by a band of the prices', async () => {
    const base = [price('input_token', 0, 3), price('output_token', 0, 12)];
    expect(
      await losses(BANDS, [...base, price('input_token', 200_000, 5), price('output_token', 200_000, 16)]),
    ).toEqual([]);
    expect(await losses(BANDS, base)).toEqual(['input_token default 200000', 'output_token default 200000']);
  });

  it('are found where a band of the prices begins later than that of the costs, or is too low itself', async () => {
    const output = [price('output_token', 0, 20)];
    const late = [price('input_token', 0, 3), price('input_token', 200_001, 5), ...output];
    expect(await losses(BANDS, late)).toEqual(['input_token default 200000']);
    const cheap = [price('input_token', 0, 9), price('input_token', 100_000, 1), ...output];
    expect(await losses(BANDS, cheap)).toEqual(['input_token default 200000', 'input_token default 100000']);
  });

  it('are looked for at the price that a kind of token is sold at where it has none', async () => {
    const costs = { input_token: 2, cached_input_token: 3, output_token: 10 };
    expect(await losses(costs, [price('input_token', 0, 2.5), price('output_token', 0, 20)])).toEqual([
      'cached_input_token default 0',
    ]);
  });

  it('are those of a list where its rule makes the price, and those of the book where it leaves that alone', async () => {
    const costs = { input_token: 2, output_token: 10 };
    const rule: PriceRule = {
      id: 'r',
      listId: 'gold',
      model: '*',
      unit: 'output_token',
      variant: null,
      fromInputTokens: null,
      factorMillionths: 800_000n,
      amountMicros: null,
      perQuantity: null,
    };
    const prices = [price('input_token', 0, 1), price('output_token', 0, 12)];
    expect(await losses(costs, prices)).toEqual(['input_token default 0']);
    expect(await losses(costs, prices, [rule])).toEqual(['input_token default 0', 'output_token default 0 gold']);
    expect(await losses(costs, prices, [{ ...rule, factorMillionths: 900_000n }])).toEqual(['input_token default 0']);
  });

  it('are looked for in each service tier', async () => {
    const tiers = [
      { input_token: 1, output_token: 1 },
      { tier: 'priority', input_token: 4, output_token: 4 },
    ] as unknown as JsonObject;
    const sold = ['default', 'priority'].flatMap((tier) =>
      ['input_token', 'output_token'].map((unit) => price(unit, 0, 2, tier)),
    );
    expect(await losses(tiers, sold)).toEqual(['input_token priority 0', 'output_token priority 0']);
  });

  it('are looked for in many lists without keeping others waiting', async () => {
    const rule = (list: string): PriceRule => ({
      id: list,
      listId: list,
      model: 'm',
      unit: null,
      variant: null,
      fromInputTokens: null,
      factorMillionths: 500_000n,
      amountMicros: null,
      perQuantity: null,
    });
    const lists = Array.from({ length: 3_000 }, (_, index) => `list ${index}`);
    const prices = [price('input_token', 0, 3), price('output_token', 0, 12)];
    const inForce = new PricesInForce(new Map([['m', prices]]), lists.map(rule));
    const upstreams = [upstreamOf(BANDS)];
    let [rounds, isOver] = [0, false];
    const count = (): void => void (++rounds, isOver || setImmediate(count));
    setImmediate(count);
    const turns = new Turns();
    let found = 0;
    for (const list of lists) found += (await textPricesBelowCost(inForce, upstreams, list, turns)).length;
    isOver = true;
    expect(found).toBeGreaterThanOrEqual(lists.length);
    expect(rounds).toBeGreaterThan(1);
  });
});
