import fc from 'fast-check';
import { SERVICE_TIERS, type TextUsage, TOKEN_UNITS } from '#contracts';
import { PricesInForce } from '../prices/price-book.js';
import type { PriceInForce } from '../prices/price-rules.js';
import { TextTariff } from '../prices/text-tariff.js';
import { type ChargedLine, RepricedUsage } from './repriced-usage.js';

const MODEL = 'vendor-5';
const price = (unit: string, variant: string, fromInputTokens: number, amountMicros: bigint): PriceInForce => ({
  id: `${unit} ${variant} ${fromInputTokens}`,
  unit,
  variant,
  fromInputTokens,
  amountMicros,
  perQuantity: 1_000_000n,
});

/** Books of one model: each kind of token has a price or none, in bands and tiers or not. */
const books = fc
  .record({
    units: fc.subarray(TOKEN_UNITS.filter((unit) => unit !== 'input_token' && unit !== 'output_token')),
    tiers: fc.subarray(SERVICE_TIERS.filter((tier) => tier !== 'default')),
    bands: fc.uniqueArray(fc.integer({ min: 1, max: 300_000 }), { maxLength: 3 }),
    amounts: fc.array(fc.bigInt(0n, 100_000_000n), { minLength: 7, maxLength: 7 }),
    request: fc.boolean(),
  })
  .map(({ units, tiers, bands, amounts, request }) => {
    const tokens = ['default', ...tiers].flatMap((tier) =>
      [0, ...bands].flatMap((from) =>
        ['input_token', 'output_token', ...units].map((unit) => [unit, tier, from] as const),
      ),
    );
    const prices = tokens.map(([unit, tier, from], index) => price(unit, tier, from, amounts[index % amounts.length]!));
    return request ? [...prices, { ...price('request', 'default', 0, 5_000n), perQuantity: 1n }] : prices;
  });

const counts = fc.integer({ min: 0, max: 200_000 });
const usages: fc.Arbitrary<TextUsage> = fc
  .record({ fresh: counts, cached: counts, written: counts, image: counts, output: counts, reasoning: counts })
  .map(({ fresh, cached, written, image, output, reasoning }) => ({
    inputTokens: fresh + cached + written + image,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    imageInputTokens: image,
    outputTokens: output + reasoning,
    reasoningTokens: reasoning,
    source: 'upstream',
  }));

const linesOf = (prices: readonly PriceInForce[], usage: TextUsage, tier: string): readonly ChargedLine[] =>
  new TextTariff(prices).bill(usage, undefined, tier).lines.map(({ bandTokens, ...line }) => ({
    ...line,
    ...(bandTokens !== undefined && { band_tokens: bandTokens }),
  }));
const repriced = (prices: readonly PriceInForce[], lines: readonly ChargedLine[]): bigint | undefined =>
  new RepricedUsage(new PricesInForce(new Map([[MODEL, prices]]))).of(MODEL, lines, undefined);

describe('Usage that is charged again', () => {
  it('costs at the same prices what it cost, for any book, tier and band', () => {
    fc.assert(
      fc.property(books, usages, fc.constantFrom(...SERVICE_TIERS), (prices, usage, tier) => {
        const { chargeMicros, lines } = new TextTariff(prices).bill(usage, undefined, tier);
        fc.pre(lines.length > 0);
        expect(repriced(prices, linesOf(prices, usage, tier))).toBe(chargeMicros);
      }),
    );
  });

  it('costs at other prices what a request would cost at them', () => {
    fc.assert(
      fc.property(books, books, usages, (before, after, usage) => {
        const lines = linesOf(before, usage, 'default');
        fc.pre(usage.inputTokens > 0 && usage.outputTokens > 0);
        expect(repriced(after, lines)).toBe(new TextTariff(after).bill(usage).chargeMicros);
      }),
    );
  });

  it('counts each call of one charge by its own input', () => {
    const prices = [0, 100].flatMap((from) => [
      price('input_token', 'default', from, from === 0 ? 1_000_000n : 3_000_000n),
      price('output_token', 'default', from, 1_000_000n),
    ]);
    const call = (input: number): readonly ChargedLine[] =>
      linesOf(
        prices,
        {
          inputTokens: input,
          cachedInputTokens: 0,
          cacheWriteTokens: 0,
          imageInputTokens: 0,
          outputTokens: 1,
          reasoningTokens: 0,
          source: 'upstream',
        },
        'default',
      );
    expect(repriced(prices, [...call(60), ...call(60), ...call(100)])).toBe(60n + 60n + 300n + 3n);
  });

  it('is told apart where it has no price', () => {
    expect(repriced([], [{ unit: 'input_token', variant: 'default', quantity: 5 }])).toBeUndefined();
    expect(repriced([], [{ unit: 'second', variant: '720p', quantity: 5 }])).toBeUndefined();
  });
});
