import fc from 'fast-check';
import { formatMicros, NO_USAGE, type TextUsage, TOKEN_UNITS } from '#contracts';
import { TextCosts } from '#providers';
import type { PriceInForce } from './price-rules.js';
import { TextTariff } from './text-tariff.js';

const MILLION = 1_000_000n;

type Cents = Readonly<Partial<Record<string, number>>>;

/** Prices of a million, in cents, of one tier from so many tokens on. */
const band = (cents: Cents, from = 0, variant = 'default'): PriceInForce[] =>
  Object.entries(cents).map(([unit, amount = 0]) => ({
    id: `${unit}@${from}`,
    unit,
    variant,
    fromInputTokens: from,
    amountMicros: BigInt(Math.round(amount * 10_000)),
    perQuantity: MILLION,
  }));

const used = (usage: Partial<TextUsage>): TextUsage => ({ ...NO_USAGE, source: 'upstream', ...usage });

const charge = (tariff: TextTariff, usage: Partial<TextUsage>, tier?: string): bigint =>
  tariff.bill(used(usage), undefined, tier).chargeMicros;

/** What vendors of 2026 charge, in cents for a million tokens, and the first count of input at which the dearer price holds. */
const SOL = { input_token: 200, cached_input_token: 10, cache_write_token: 250, output_token: 1_000 };
const LONG_SOL = { input_token: 400, cached_input_token: 20, cache_write_token: 500, output_token: 1_500 };
const VENDORS: readonly (readonly [name: string, first: number, base: Cents, dear: Cents])[] = [
  ['more than 272,000', 272_001, SOL, LONG_SOL],
  ['more than 100,000', 100_001, { input_token: 10, output_token: 50 }, { input_token: 50, output_token: 250 }],
  ['more than 200,000', 200_001, { input_token: 125, output_token: 1_000 }, { input_token: 250, output_token: 1_500 }],
  ['from 200,000 on', 200_000, { input_token: 300, output_token: 1_500 }, { input_token: 600, output_token: 3_000 }],
  ['more than 32,768', 32_769, { input_token: 80, output_token: 200 }, { input_token: 120, output_token: 1_600 }],
  ['more than 524,288', 524_289, { input_token: 30, output_token: 120 }, { input_token: 60, output_token: 240 }],
];

type Dollars = Readonly<Record<string, number>>;
type Boundary = readonly [inputTokens: number, dollars: string, more?: Partial<TextUsage>];

/** Dollars for a million as vendors publish them, and what calls with a thousand tokens of output cost around each threshold. */
const PUBLISHED: readonly (readonly [
  name: string,
  bands: readonly (readonly [from: number, dollars: Dollars, tier?: string])[],
  boundaries: readonly Boundary[],
])[] = [
  [
    'GPT-6.2 Sol, of which the cache counts and the fast tier doubles',
    [
      [
        0,
        {
          input_token: 2,
          cached_input_token: 0.1,
          cache_write_token: 2.5,
          cache_write_long_token: 5,
          output_token: 10,
        },
      ],
      [
        272_001,
        { input_token: 4, cached_input_token: 0.2, cache_write_token: 5, cache_write_long_token: 10, output_token: 15 },
      ],
      [
        0,
        { input_token: 4, cached_input_token: 0.2, cache_write_token: 5, cache_write_long_token: 10, output_token: 20 },
        'priority',
      ],
      [
        272_001,
        {
          input_token: 8,
          cached_input_token: 0.4,
          cache_write_token: 10,
          cache_write_long_token: 20,
          output_token: 30,
        },
        'priority',
      ],
    ],
    [
      [271_999, '0.553998'],
      [272_000, '0.554000'],
      [272_001, '1.103004'],
      [272_002, '1.103008'],
      [272_000, '0.123200', { cachedInputTokens: 232_000, cacheWriteTokens: 20_000, units: {} }],
      [272_001, '0.241404', { cachedInputTokens: 232_000, cacheWriteTokens: 20_000, units: {} }],
      [
        272_001,
        '0.291404',
        { cachedInputTokens: 232_000, cacheWriteTokens: 20_000, units: { cache_write_long_token: 10_000 } },
      ],
      [272_000, '1.108000', { tier: 'priority' }],
      [272_001, '2.206008', { tier: 'priority' }],
    ],
  ],
  [
    'Haiku 5.5, the cache counted',
    [
      [
        0,
        {
          input_token: 0.1,
          cached_input_token: 0.01,
          cache_write_token: 0.125,
          cache_write_long_token: 0.2,
          output_token: 0.5,
        },
      ],
      [
        100_001,
        {
          input_token: 0.5,
          cached_input_token: 0.05,
          cache_write_token: 0.625,
          cache_write_long_token: 1,
          output_token: 2.5,
        },
      ],
    ],
    [
      [99_999, '0.010500'],
      [100_000, '0.010500'],
      [100_001, '0.052501'],
      [100_000, '0.003700', { cachedInputTokens: 80_000, cacheWriteTokens: 16_000, units: {} }],
      [100_001, '0.018501', { cachedInputTokens: 80_000, cacheWriteTokens: 16_000, units: {} }],
      [
        100_001,
        '0.024501',
        { cachedInputTokens: 80_000, cacheWriteTokens: 16_000, units: { cache_write_long_token: 16_000 } },
      ],
    ],
  ],
  [
    'Gemini 3 Pro with flex at half',
    [
      [0, { input_token: 2, cached_input_token: 0.2, output_token: 12 }],
      [200_001, { input_token: 4, cached_input_token: 0.4, output_token: 18 }],
      [0, { input_token: 1, cached_input_token: 0.1, output_token: 6 }, 'flex'],
      [200_001, { input_token: 2, cached_input_token: 0.2, output_token: 9 }, 'flex'],
    ],
    [
      [199_999, '0.411998'],
      [200_000, '0.412000'],
      [200_001, '0.818004'],
      [200_000, '0.206000', { tier: 'flex' }],
      [200_001, '0.409002', { tier: 'flex' }],
      [200_001, '0.098004', { cachedInputTokens: 200_000 }],
    ],
  ],
  [
    'Grok 4, which is dear at 200,000 itself',
    [
      [0, { input_token: 3, cached_input_token: 0.75, output_token: 15 }],
      [200_000, { input_token: 6, cached_input_token: 1.5, output_token: 30 }],
    ],
    [
      [199_999, '0.614997'],
      [200_000, '1.230000'],
      [200_001, '1.230006'],
    ],
  ],
  [
    'Qwen with four bands, each with its upper end',
    [
      [0, { input_token: 1.2, output_token: 6 }],
      [32_001, { input_token: 2.4, output_token: 12 }],
      [128_001, { input_token: 3, output_token: 15 }],
      [256_001, { input_token: 6, output_token: 60 }],
    ],
    [
      [32_000, '0.044400'],
      [32_001, '0.088802'],
      [128_000, '0.319200'],
      [128_001, '0.399003'],
      [256_000, '0.783000'],
      [256_001, '1.596006'],
    ],
  ],
  [
    'MiniMax M3 with its upper end',
    [
      [0, { input_token: 0.3, output_token: 1.2 }],
      [512_001, { input_token: 0.6, output_token: 2.4 }],
    ],
    [
      [511_999, '0.154800'],
      [512_000, '0.154800'],
      [512_001, '0.309601'],
    ],
  ],
];

const inCents = (dollars: Dollars): Cents =>
  Object.fromEntries(Object.entries(dollars).map(([unit, amount]) => [unit, amount * 100]));

describe('A price that changes with the size of the prompt', () => {
  it.each(VENDORS)('changes for the whole call to the token: %s', (_name, first, base, dear) => {
    const tariff = new TextTariff([...band(base), ...band(dear, first)]);
    const at = (prices: Cents) => new TextTariff(band(prices));
    const tokens = { outputTokens: 1_000 };
    for (const [inputTokens, prices, from] of [
      [first - 2, base, 0],
      [first - 1, base, 0],
      [first, dear, first],
      [first + 1, dear, first],
    ] as const) {
      const { lines, chargeMicros } = tariff.bill(used({ ...tokens, inputTokens }));
      expect(chargeMicros).toBe(charge(at(prices), { ...tokens, inputTokens }));
      expect(lines.map(({ fromInputTokens, bandTokens }) => [fromInputTokens, bandTokens])).toEqual([
        [from, inputTokens],
        [from, inputTokens],
      ]);
    }
  });

  it.each(PUBLISHED)('is charged and costs as %s says, to the token', (_name, bands, boundaries) => {
    const tariff = new TextTariff(bands.flatMap(([from, dollars, tier]) => band(inCents(dollars), from, tier)));
    const rows = bands.map(([from, dollars, tier = 'default']) => ({ from_input_tokens: from, tier, ...dollars }));
    const costs = new TextCosts({ costs: { unit: 'USD', per_quantity: 1_000_000, model: rows } }, 'USD').of('model');
    for (const [inputTokens, dollars, more = {}] of boundaries) {
      const { tier = 'default', ...tokens } = more;
      const usage = { ...used({ inputTokens, outputTokens: 1_000, ...tokens }), ...(tier !== 'default' && { tier }) };
      const { chargeMicros } = tariff.bill(usage, undefined, tier);
      expect([inputTokens, formatMicros(chargeMicros)]).toEqual([inputTokens, dollars]);
      expect([inputTokens, costs?.of(usage, 0)?.worthMicros]).toEqual([inputTokens, chargeMicros]);
    }
  });

  it('takes the last of several bands that has begun', () => {
    const tariff = new TextTariff([
      ...band({ input_token: 1, output_token: 1 }),
      ...band({ input_token: 3, output_token: 3 }, 128_001),
      ...band({ input_token: 2, output_token: 2 }, 32_001),
    ]);
    const from = (inputTokens: number) => tariff.bill(used({ inputTokens })).lines[0]?.fromInputTokens;
    expect([32_000, 32_001, 128_000, 128_001, 900_000].map(from)).toEqual([0, 32_001, 32_001, 128_001, 128_001]);
  });

  it('counts what is read from a cache and written to it: fresh below and all above is dear', () => {
    const tariff = new TextTariff([...band(SOL), ...band(LONG_SOL, 272_001)]);
    const usage = { inputTokens: 272_001, cachedInputTokens: 200_000, cacheWriteTokens: 50_000 };
    expect(charge(tariff, usage)).toBe(22_001n * 4n + 40_000n + 250_000n);
    expect(charge(tariff, { ...usage, inputTokens: 272_000 })).toBe(22_000n * 2n + 20_000n + 125_000n);
  });

  it('is that of each call of the model, of rounds within a call too', () => {
    const tariff = new TextTariff([...band(SOL), ...band(LONG_SOL, 272_001)]);
    const round = used({ inputTokens: 200_000 });
    const calls = [used({ inputTokens: 400_000, calls: [round, round] }), used({ inputTokens: 300_000 })];
    expect(charge(tariff, { inputTokens: 700_000, calls })).toBe(400_000n * 2n + 300_000n * 4n);
  });

  it('is not decided by the output', () => {
    const tariff = new TextTariff([...band(SOL), ...band(LONG_SOL, 272_001)]);
    expect(charge(tariff, { inputTokens: 1, outputTokens: 1_000_000 })).toBe(2n + 10_000_000n);
  });

  it('holds for a model that reads alone', () => {
    const tariff = new TextTariff([...band({ input_token: 10 }), ...band({ input_token: 20 }, 8_001)], true);
    expect([8_000, 8_001].map((inputTokens) => charge(tariff, { inputTokens }))).toEqual([800n, 1_600n]);
  });

  it('says nothing of bands on the lines of a model that has none', () => {
    expect(new TextTariff(band(SOL)).bill(used({ inputTokens: 5 })).lines[0]).not.toHaveProperty('bandTokens');
  });

  it('is held at the dearest of the bands that 1.35 times the held input can reach, and not the last', () => {
    const tariff = new TextTariff([
      ...band({ input_token: 100, output_token: 100 }),
      ...band({ input_token: 900, output_token: 100 }, 1_001),
      ...band({ input_token: 200, output_token: 800 }, 2_001),
    ]);
    const held = (input: number, contextTokens?: number) => tariff.estimate(input, 0, { contextTokens });
    expect(held(741)).toBe(6_669n);
    expect(held(740)).toBe(740n);
    expect(held(2_000)).toBe(18_000n);
    expect(held(2_000, 1_000)).toBe(2_000n);
    expect(tariff.estimate(0, 10)).toBe(10n);
    expect(tariff.estimate(1_500, 10)).toBe(13_500n + 80n);
    expect(tariff.outputCovered(1_500, 13_580n)).toBe(10);
  });
});

describe('A price of a service tier', () => {
  const tariff = new TextTariff([
    ...band(SOL),
    ...band(LONG_SOL, 272_001),
    ...band({ input_token: 400, output_token: 2_000 }, 0, 'priority'),
    ...band({ input_token: 800, output_token: 3_000 }, 272_001, 'priority'),
    ...band({ input_token: 100, output_token: 500 }, 0, 'flex'),
    ...band({ input_token: 50 }, 0, 'batch'),
  ]);

  it('is charged where that tier served, in the band of the input', () => {
    expect(charge(tariff, { inputTokens: 100, outputTokens: 10 }, 'priority')).toBe(400n + 200n);
    expect(charge(tariff, { inputTokens: 300_000 }, 'priority')).toBe(2_400_000n);
    expect(tariff.bill(used({ inputTokens: 1 }), undefined, 'flex').lines[0]?.variant).toBe('flex');
  });

  it('is none without prices of both input and output', () => {
    expect(['priority', 'flex', 'batch', 'ultrafast'].map((tier) => tariff.sellsTier(tier))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(charge(tariff, { inputTokens: 100 }, 'batch')).toBe(200n);
  });

  it('is held at the dearer of that tier and the usual one', () => {
    expect(tariff.estimate(100, 10, { tier: 'priority' })).toBe(400n + 200n);
    expect(tariff.estimate(100, 10, { tier: 'flex' })).toBe(250n + 100n);
  });
});

describe('Units beside text', () => {
  const ALL = {
    ...SOL,
    cache_write_long_token: 400,
    audio_input_token: 3_200,
    audio_output_token: 6_400,
    image_output_token: 3_000,
    request: 500_000,
    vendor_web_search_call: 1_000_000,
  };
  const units = {
    cache_write_long_token: 40,
    audio_input_token: 30,
    audio_output_token: 20,
    image_output_token: 10,
    vendor_web_search_call: 2,
  };
  const usage = { inputTokens: 200, cacheWriteTokens: 100, outputTokens: 100, units };

  it('are sold at their prices, each token once', () => {
    const { lines } = new TextTariff(band(ALL)).bill(used(usage));
    expect(
      Object.fromEntries(lines.map(({ unit, quantity, amountMicros }) => [unit, [quantity, amountMicros]])),
    ).toEqual({
      input_token: [70, 140n],
      cache_write_token: [60, 150n],
      cache_write_long_token: [40, 160n],
      audio_input_token: [30, 960n],
      output_token: [70, 700n],
      audio_output_token: [20, 1_280n],
      image_output_token: [10, 300n],
      request: [1, 5_000n],
      vendor_web_search_call: [2, 20_000n],
    });
  });

  it('are parts of what they are counted in where they have no price, and told as unpriced', () => {
    const tariff = new TextTariff(band(SOL));
    expect(charge(tariff, usage)).toBe(charge(tariff, { ...usage, units: {} }));
    expect(tariff.unpricedOf(used(usage))).toEqual(units);
    expect(new TextTariff(band(ALL)).unpricedOf(used(usage))).toBeUndefined();
  });

  it('are held for where a request asks for them', () => {
    const tariff = new TextTariff(band(ALL));
    const plain = tariff.estimate(100, 100);
    expect(tariff.estimate(100, 100, { opens: ['audio_input_token'] })).toBe(plain + 100n * 32n - 250n);
    expect(tariff.estimate(100, 100, { opens: ['audio_output_token'] })).toBe(plain + 100n * 34n);
    expect(tariff.estimate(100, 100, { opens: ['vendor_web_search_call'], searches: 3 })).toBe(plain + 30_000n);
  });

  it('are held for in each request that a reply may take to its vendor', () => {
    const tariff = new TextTariff(band(ALL));
    const plain = tariff.estimate(100, 100);
    expect(tariff.estimate(100, 100, { requests: 4 })).toBe(plain + 3n * 5_000n);
    const asked = { opens: ['vendor_web_search_call'], searches: 3, requests: 4 } as const;
    expect(tariff.estimate(100, 100, asked)).toBe(plain + 3n * 5_000n + 4n * 30_000n);
    expect(tariff.outputCovered(100, tariff.estimate(100, 100, asked), asked)).toBe(100);
  });
});

describe('Whatever the prices and the usage', () => {
  const price = fc.integer({ min: 0, max: 100_000 });
  const prices = fc.record(
    { input_token: price, output_token: price, ...Object.fromEntries(TOKEN_UNITS.map((unit) => [unit, price])) },
    { requiredKeys: ['input_token', 'output_token'] },
  );
  const tariffs = fc
    .tuple(prices, fc.uniqueArray(fc.integer({ min: 1, max: 5_000 }), { maxLength: 3 }), fc.infiniteStream(price))
    .map(([base, starts, dear]) => {
      const again = () => Object.fromEntries(Object.keys(base).map((unit) => [unit, dear.next().value as number]));
      return new TextTariff([...band(base), ...starts.flatMap((from) => band(again(), from))]);
    });
  const count = fc.integer({ min: 0, max: 6_000 });
  const usages = fc.record({
    inputTokens: count,
    cachedInputTokens: count,
    cacheWriteTokens: count,
    imageInputTokens: count,
    outputTokens: count,
    reasoningTokens: count,
    units: fc.record(
      { cache_write_long_token: count, image_output_token: count, audio_input_token: count, audio_output_token: count },
      { requiredKeys: [] },
    ),
  });
  const OPENS = ['cache_write_long_token', 'audio_input_token', 'audio_output_token'] as const;

  it('the lines add up to the charge, count each token once and lie in one band', () => {
    fc.assert(
      fc.property(tariffs, usages, (tariff, usage) => {
        const { lines, chargeMicros } = tariff.bill(used(usage));
        const tokens = (isOutput: boolean) =>
          lines
            .filter(({ unit }) => /output|reasoning/.test(unit) === isOutput)
            .reduce((sum, { quantity }) => sum + quantity, 0);
        expect(lines.reduce((sum, { amountMicros }) => sum + amountMicros, 0n)).toBe(chargeMicros);
        expect([tokens(false), tokens(true)]).toEqual([usage.inputTokens, usage.outputTokens]);
        expect(new Set(lines.map(({ fromInputTokens }) => fromInputTokens)).size).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('what is held covers the charge of every usage within its tokens, but for the rounding of the lines', () => {
    fc.assert(
      fc.property(tariffs, usages, count, (tariff, usage, more) => {
        const held = tariff.estimate(usage.inputTokens + more, usage.outputTokens, { opens: OPENS });
        const { lines, chargeMicros } = tariff.bill(used(usage));
        expect(chargeMicros).toBeLessThanOrEqual(held + BigInt(lines.length));
      }),
    );
  });
});
