import fc from 'fast-check';
import type { PriceInForce } from './price-rules.js';
import { pricedBy, type PriceRule } from './price-rules.js';

const price = (unit: string, amountMicros: bigint, more: Partial<PriceInForce> = {}): PriceInForce => ({
  id: `price_${unit}`,
  unit,
  variant: 'default',
  fromInputTokens: 0,
  amountMicros,
  perQuantity: 1_000_000n,
  ...more,
});

const rule = (model: string, more: Partial<PriceRule>): PriceRule => ({
  id: `rule_${model}`,
  listId: 'list',
  model,
  unit: null,
  variant: null,
  fromInputTokens: null,
  factorMillionths: null,
  amountMicros: null,
  perQuantity: null,
  ...more,
});

const BOOK = [price('input_token', 1_250_000n), price('output_token', 10_000_000n)];
const EVERY = rule('*', { factorMillionths: 900_000n });
const MODEL = rule('m', { factorMillionths: 500_000n });
const OWN = rule('m', { id: 'own', unit: 'input_token', amountMicros: 7n, perQuantity: 3n });
const amounts = (rules: readonly PriceRule[], prices = BOOK) =>
  pricedBy(rules, prices).map(({ amountMicros, perQuantity, rule: by }) => [amountMicros, perQuantity, by]);

describe('The rules of a price list', () => {
  it('apply one at a time: the own amount, else the factor of the model, else that of all, else the book', () => {
    expect(amounts([EVERY, MODEL, OWN])).toEqual([
      [7n, 3n, 'own'],
      [5_000_000n, 1_000_000n, 'rule_m'],
    ]);
    expect(amounts([EVERY])[1]).toEqual([9_000_000n, 1_000_000n, 'rule_*']);
    expect(amounts([])).toEqual(BOOK.map(({ amountMicros, perQuantity }) => [amountMicros, perQuantity, undefined]));
  });

  it('give away what has the factor 0', () => {
    expect(amounts([rule('m', { factorMillionths: 0n })]).map(([amount]) => amount)).toEqual([0n, 0n]);
  });

  it('are of a unit, tier and band where they name them', () => {
    const banded = [...BOOK, price('input_token', 2_500_000n, { fromInputTokens: 9 })];
    const rules = [EVERY, MODEL, rule('m', { id: 'band', fromInputTokens: 9, factorMillionths: 100_000n })];
    expect(amounts(rules, banded).map(([, , by]) => by)).toEqual(['rule_m', 'rule_m', 'band']);
    expect(amounts([OWN], banded).map(([, , by]) => by)).toEqual(['own', undefined, undefined]);
  });

  it('sell what only the list has a price for', () => {
    const search = rule('m', { id: 'search', unit: 'vendor_web_search_call', amountMicros: 5n, perQuantity: 1n });
    expect(pricedBy([search], []).map(({ id, unit, amountMicros }) => [id, unit, amountMicros])).toEqual([
      ['search', 'vendor_web_search_call', 5n],
    ]);
  });

  it('keep a factor exact, whatever it is of', () => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, 10n ** 15n),
        fc.bigInt(1n, 10n ** 9n),
        fc.bigInt(0n, 10n ** 7n),
        (amount, per, factor) => {
          const [made] = pricedBy(
            [rule('m', { factorMillionths: factor })],
            [price('x', amount, { perQuantity: per })],
          );
          expect(made!.amountMicros * per * 1_000_000n).toBe(amount * factor * made!.perQuantity);
        },
      ),
    );
  });
});
