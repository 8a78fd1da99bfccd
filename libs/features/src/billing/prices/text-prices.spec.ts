import { NO_USAGE, type TextUsage } from '#contracts';
import { createTestDatabase, type TestDatabase } from '#testing';
import { PriceBook } from './price-book.js';
import { seedExamplePrices } from './seed-prices.js';
import { TextPrices } from './text-prices.js';

const NOTHING: TextUsage = { ...NO_USAGE, source: 'upstream' };

describe('The price of text', () => {
  let test: TestDatabase;
  let prices: TextPrices;

  beforeAll(async () => {
    test = await createTestDatabase();
    await seedExamplePrices(test.database);
    await test.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_r', 'vendor-5', 'reasoning_token', 20000000, 1000000, '2026-01-01', 'test')`,
    });
    prices = new TextPrices(new PriceBook(test.database));
  });
  afterAll(() => test.remove());

  const amounts = async (usage: Partial<TextUsage>, model = 'vendor-5') => {
    const { lines, chargeMicros } = (await prices.tariffOf(model)).bill({ ...NOTHING, ...usage });
    return [chargeMicros, lines.map(({ unit, quantity, amountMicros }) => [unit, quantity, amountMicros])];
  };

  it('counts every token once: cached and image tokens inside the input, reasoning inside the output', async () => {
    const usage = {
      inputTokens: 1_000,
      cachedInputTokens: 400,
      imageInputTokens: 100,
      outputTokens: 300,
      reasoningTokens: 200,
    };
    expect(await amounts(usage)).toEqual([
      625n + 50n + 125n + 1_000n + 4_000n,
      [
        ['input_token', 500, 625n],
        ['cached_input_token', 400, 50n],
        ['image_token', 100, 125n],
        ['output_token', 100, 1_000n],
        ['reasoning_token', 200, 4_000n],
      ],
    ]);
  });

  it('never bills a negative line when an upstream reports parts larger than the whole', async () => {
    const usage = { inputTokens: 10, cachedInputTokens: 25, cacheWriteTokens: 3, outputTokens: 5, reasoningTokens: 9 };
    expect(await amounts(usage)).toEqual([
      101n,
      [
        ['cached_input_token', 10, 1n],
        ['reasoning_token', 5, 100n],
      ],
    ]);
  });

  it('bills what a vendor writes to its cache at a price of its own, and as input where there is none', async () => {
    const usage = { inputTokens: 1_000, cachedInputTokens: 200, cacheWriteTokens: 400, outputTokens: 10 };
    expect(await amounts(usage, 'vendor-sonnet-4-5-20250929')).toEqual([
      1_200n + 60n + 1_500n + 150n,
      [
        ['input_token', 400, 1_200n],
        ['cached_input_token', 200, 60n],
        ['cache_write_token', 400, 1_500n],
        ['output_token', 10, 150n],
      ],
    ]);
    expect(await amounts(usage)).toEqual([
      500n + 25n + 500n + 100n,
      [
        ['input_token', 400, 500n],
        ['cached_input_token', 200, 25n],
        ['cache_write_token', 400, 500n],
        ['output_token', 10, 100n],
      ],
    ]);
  });

  it('bills nothing for no usage', async () => {
    expect(await amounts({})).toEqual([0n, []]);
  });

  it('stays exact at the largest counts, and refuses invalid counts', async () => {
    expect((await amounts({ inputTokens: Number.MAX_SAFE_INTEGER }))[0]).toBe(11_258_999_068_426_239n);
    await expect(amounts({ inputTokens: 1.5 })).rejects.toThrow(RangeError);
    await expect(amounts({ outputTokens: Number.NaN })).rejects.toThrow(RangeError);
    await expect(amounts({ outputTokens: -1 })).rejects.toThrow(RangeError);
  });

  it('holds enough for the most expensive outcome', async () => {
    expect((await prices.tariffOf('vendor-5')).estimate(1_000, 100)).toBe(1_250n + 2_000n);
    expect((await prices.tariffOf('vendor-sonnet-4-5-20250929')).estimate(1_000, 100)).toBe(3_750n + 1_500n);
  });

  it('does not sell a model without a price', async () => {
    await expect(prices.tariffOf('vendor-6')).rejects.toMatchObject({
      code: 'model_not_priced',
    });
  });
});
