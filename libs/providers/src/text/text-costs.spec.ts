import fc from 'fast-check';
import { type JsonObject, serviceTierOf, type TextUsage, type VendorCharge } from '#contracts';
import { checkUpstream } from './check-upstreams.js';
import { TextCosts } from './text-costs.js';
import { UpstreamEntry } from './upstream-entry.js';

const USED: TextUsage = {
  inputTokens: 1_000,
  cachedInputTokens: 200,
  cacheWriteTokens: 100,
  imageInputTokens: 0,
  outputTokens: 500,
  reasoningTokens: 50,
  source: 'upstream',
};
const NOW = Date.parse('2026-11-27T12:00:00Z');
const MILLION = { unit: 'USD', per_quantity: 1_000_000 };
const BANDS = [
  { input_token: 2, cached_input_token: 0.1, cache_write_token: 2.5, output_token: 10 },
  { from_input_tokens: 272_001, input_token: 4, cached_input_token: 0.2, cache_write_token: 5, output_token: 15 },
  { tier: 'priority', input_token: 4, cached_input_token: 0.2, cache_write_token: 5, output_token: 20 },
];

const costsOf = (costs: JsonObject, reports?: 'openrouter' | 'xai') =>
  new TextCosts({ costs, ...(reports && { reports_cost: reports }) }, 'USD');
/** As readers of replies say it. */
const servedBy = (word: string | undefined): Pick<TextUsage, 'tier'> => {
  const tier = serviceTierOf(word);
  return tier === undefined ? {} : { tier };
};

const costOf = (costs: JsonObject, usage: Partial<TextUsage> = {}, tier?: string) =>
  costsOf(costs)
    .of('m')
    ?.of({ ...USED, ...usage, ...servedBy(tier) }, NOW);

describe('What a text request costs by the entry of its upstream', () => {
  it('counts each kind of token once, at its own figure, and rounds the whole once', () => {
    // 700 x 2 + 200 x 0.1 + 100 x 2.5 + 500 x 10 = 6,670 millionths.
    expect(costOf({ ...MILLION, m: BANDS })).toEqual({
      micros: 6_670n,
      unit: 'USD',
      worthMicros: 6_670n,
      isReported: false,
    });
  });

  it.each([
    [272_000, 544_000n],
    [272_001, 1_088_004n],
    [272_002, 1_088_008n],
  ])('costs the whole request of %d tokens by the band that they reach', (inputTokens, micros) => {
    const none = { cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };
    expect(costOf({ ...MILLION, m: BANDS }, { ...none, inputTokens })?.micros).toBe(micros);
  });

  it('counts what was read from a cache for the band', () => {
    const usage = {
      inputTokens: 272_001,
      cachedInputTokens: 272_001,
      cacheWriteTokens: 0,
      outputTokens: 0,
      reasoningTokens: 0,
    };
    expect(costOf({ ...MILLION, m: BANDS }, usage)?.micros).toBe(54_400n);
  });

  it.each([
    [undefined, 6_670n],
    ['auto', 6_670n],
    ['default', 6_670n],
    ['standard', 6_670n],
    ['priority', 13_340n],
    ['fast', 13_340n],
    ['ultrafast', undefined],
  ])('costs the tier %p by its own figures, and is unknown without them', (tier, micros) => {
    expect(costOf({ ...MILLION, m: BANDS }, {}, tier)?.micros).toBe(micros);
  });

  it('takes the part of the figures that the account pays', () => {
    expect(costOf({ ...MILLION, factor: 0.92, m: BANDS })?.micros).toBe(6_136n);
  });

  it('is unknown, and never 0, where a kind of token has no figure', () => {
    expect(costOf({ ...MILLION, m: { input_token: 2 } })).toBeUndefined();
    expect(costOf({ ...MILLION, m: BANDS }, { units: { audio_input_token: 10 } })).toBeUndefined();
    expect(costOf({ ...MILLION, m: BANDS }, { units: { vendor_tool_call: 1 } })).toBeUndefined();
    expect(costsOf({ ...MILLION, other: BANDS }).of('m')).toBeUndefined();
  });

  it('costs parts without a figure of their own as the whole', () => {
    expect(costOf({ ...MILLION, m: { input_token: 2, output_token: 10 } })?.micros).toBe(7_000n);
  });

  it('has figures for sound, pictures, long cache writes, calls of tools and the request itself', () => {
    const m = {
      input_token: 1,
      output_token: 1,
      audio_input_token: 10,
      audio_output_token: 20,
      image_output_token: 40,
      cache_write_long_token: 4,
      cache_write_token: 2,
      vendor_tool_call: 10_000,
      request: 500,
    };
    const units = {
      audio_input_token: 10,
      audio_output_token: 20,
      image_output_token: 30,
      cache_write_long_token: 40,
      vendor_tool_call: 2,
    };
    const usage = { cachedInputTokens: 0, cacheWriteTokens: 100, reasoningTokens: 0, units };
    // 890 + 60 x 2 + 40 x 4 + 10 x 10 + 450 + 20 x 20 + 30 x 40 + 2 x 10,000 + 500
    expect(costOf({ ...MILLION, m }, usage)?.micros).toBe(23_820n);
  });

  it('is worth what the rate of its moment says, and keeps its own currency', () => {
    const costs = (rates: JsonObject): JsonObject => ({ unit: 'CNY', per_quantity: 1_000_000, rates, m: BANDS });
    expect(costOf(costs({ CNY: 0.14 }))).toEqual({ micros: 6_670n, unit: 'CNY', worthMicros: 934n, isReported: false });
    const dated = [
      { rate: 0.14 },
      { rate: '0.2', effective_from: '2026-11-01' },
      { rate: 9, effective_from: '2026-12-01' },
    ];
    expect(costOf(costs({ CNY: dated }))?.worthMicros).toBe(1_334n);
    expect(costOf(costs({}))).toEqual({ micros: 6_670n, unit: 'CNY', isReported: false });
  });

  it('is the exact sum, half up to a micro, for any figures and counts', () => {
    const count = fc.integer({ min: 0, max: 2_000_000 });
    const figure = fc.integer({ min: 0, max: 10_000_000 });
    fc.assert(
      fc.property(
        count,
        count,
        count,
        figure,
        figure,
        figure,
        fc.integer({ min: 1, max: 2_000 }),
        (input, cached, output, a, b, c, factor) => {
          fc.pre(input + cached + output > 0);
          const usage = {
            ...USED,
            inputTokens: input + cached,
            cachedInputTokens: cached,
            cacheWriteTokens: 0,
            outputTokens: output,
            reasoningTokens: 0,
          };
          const [at, each] = [(n: number) => `0.${String(n).padStart(8, '0')}`, BigInt(factor)];
          const m = { input_token: at(a), cached_input_token: at(b), output_token: at(c) };
          const cost = costsOf({ unit: 'USD', factor: factor / 1_000, m })
            .of('m')
            ?.of(usage, NOW);
          const exact = (BigInt(input) * BigInt(a) + BigInt(cached) * BigInt(b) + BigInt(output) * BigInt(c)) * each;
          expect(cost?.micros).toBe((exact + 50_000n) / 100_000n);
        },
      ),
    );
  });
});

describe('What a vendor reports that a text request cost', () => {
  const reported = (reports: 'openrouter' | 'xai', charge: VendorCharge, costs: JsonObject = {}) =>
    costsOf(costs, reports)
      .of('m')
      ?.of({ ...USED, charge }, NOW);

  it.each<[VendorCharge, bigint]>([
    [{ cost: 0.00421 }, 4_210n],
    [{ cost: 1.5e-6 }, 2n],
    [{ cost: 0 }, 0n],
    [{ cost: 0.000_000_499_9 }, 0n],
    [{ cost: 0.001, isByok: false, upstreamCost: 0.001 }, 1_000n],
    [{ cost: 0.001, isByok: true, upstreamCost: 0.02 }, 21_000n],
    [{ cost: 0, isByok: true, upstreamCost: 0.000_000_5 }, 1n],
    [{ cost: 0.001, isByok: true, upstreamCost: null }, 1_000n],
  ])('reads the credits %p as %p micros of USD', (charge, micros) => {
    expect(reported('openrouter', charge)).toEqual({ micros, unit: 'USD', worthMicros: micros, isReported: true });
  });

  it.each<[VendorCharge, bigint]>([
    [{ ticks: 42_100_000 }, 4_210n],
    [{ ticks: 5_000 }, 1n],
    [{ ticks: 4_999 }, 0n],
    [{ ticks: 10_000_000_000 }, 1_000_000n],
  ])('reads the ticks %p as %p micros of USD', (charge, micros) => {
    expect(reported('xai', charge)).toMatchObject({ micros, unit: 'USD', isReported: true });
  });

  it('beats the figures, and its factor is not applied to it', () => {
    expect(reported('openrouter', { cost: 0.5 }, { ...MILLION, factor: 0.5, m: BANDS })?.micros).toBe(500_000n);
  });

  it.each<VendorCharge>([{}, { cost: -1 }, { cost: Number.NaN }, { cost: '' }, { ticks: 1 }, { cost: 1e40 }])(
    'counts the figures where it reports %p, and without figures nothing is known',
    (charge) => {
      expect(reported('openrouter', charge, { ...MILLION, m: BANDS })).toMatchObject({
        micros: 6_670n,
        isReported: false,
      });
      expect(reported('openrouter', charge)).toBeUndefined();
    },
  );

  it('is the sum of what each request of a reply took, and unknown where one says nothing', () => {
    const calls = [0.25, 0.5].map((cost) => ({ ...USED, charge: { cost } }));
    const of = (all: readonly TextUsage[]) =>
      costsOf({}, 'openrouter')
        .of('m')
        ?.of({ ...USED, calls: all }, NOW);
    expect(of(calls)).toMatchObject({ micros: 750_000n, isReported: true });
    expect(of([...calls, USED])).toBeUndefined();
  });

  it('is not read where the entry does not say so', () => {
    const costs = costsOf({ ...MILLION, m: BANDS });
    expect(costs.of('m')?.of({ ...USED, charge: { cost: 5 } }, NOW)?.micros).toBe(6_670n);
  });
});

describe('The costs in an entry', () => {
  const mistakes = (costs: unknown, more: object = {}) =>
    checkUpstream(UpstreamEntry, {
      id: 'u',
      protocol: 'chat',
      base_url: 'https://vendor.example/v1',
      models: { m: 'theirs' },
      costs,
      ...more,
    }).mistakes.map(({ path, rule }) => `${path.join('.')} ${rule}`);

  it('are taken for models of texts and of embeddings, as one set of amounts or by band and tier', () => {
    expect(mistakes({ ...MILLION, factor: '0.92', rates: { CNY: 0.14 }, m: BANDS })).toEqual([]);
    expect(
      mistakes(
        { unit: 'USD', m: { input_token: '0.000001' }, e: { input_token: 1 } },
        { embedding_models: { e: 'e' } },
      ),
    ).toEqual([]);
    expect(mistakes({}, { reports_cost: 'xai', refuse_below_cost: true })).toEqual([]);
  });

  it.each<[unknown, string]>([
    ['2', 'costs must be an object'],
    [{ m: { input_token: 1 } }, 'costs.unit must be 1 to 16 letters'],
    [{ unit: 'USD', n: { input_token: 1 } }, 'costs.n must be one of the models of this upstream'],
    [{ unit: 'USD', per_quantity: 0 }, 'costs.per_quantity must be a whole number'],
    [{ unit: 'USD', factor: -1 }, 'costs.factor must be a number from 0'],
    [{ unit: 'USD', rates: { CNY: 'x' } }, 'costs.rates.CNY must be a number from 0'],
    [
      { unit: 'USD', rates: { CNY: [{ rate: 1, effective_from: 'soon' }] } },
      'costs.rates.CNY.0.effective_from must be a day',
    ],
    [{ unit: 'USD', m: 5 }, 'costs.m must be amounts by unit'],
    [{ unit: 'USD', m: [] }, 'costs.m must be amounts by unit, or a list'],
    [{ unit: 'USD', m: {} }, 'costs.m must name an amount'],
    [{ unit: 'USD', m: { input_token: -1 } }, 'costs.m.input_token must be a number'],
    [{ unit: 'USD', m: { input_tokens: 1 } }, 'costs.m.input_tokens must be one of'],
    [
      { unit: 'USD', m: [{ input_token: 1, from_input_tokens: 1.5 }] },
      'costs.m.0.from_input_tokens must be a whole number',
    ],
    [{ unit: 'USD', m: [{ input_token: 1, tier: 'A B' }] }, 'costs.m.0.tier must be the name'],
    [
      { unit: 'USD', m: [{ input_token: 1, from_input_tokens: 5 }] },
      'costs.m must say what it costs from the first token on',
    ],
    [{ unit: 'USD', m: [{ input_token: 1 }, { input_token: 2 }] }, 'costs.m must say only once'],
    [
      { unit: 'USD', m: [BANDS[0], { from_input_tokens: 9, input_token: 1 }] },
      'costs.m must name cached_input_token, cache_write_token, output_token too from 9',
    ],
    [
      { unit: 'USD', m: [BANDS[0], { from_input_tokens: 9, tier: 'flex', input_token: 1 }] },
      'costs.m must say what it costs from the first token on for the tier flex',
    ],
  ])('are refused by name where they say %p', (costs, rule) => {
    expect(mistakes(costs).join('; ')).toContain(rule);
  });

  it('name whose reports there are', () => {
    expect(mistakes({}, { reports_cost: 'litellm' })[0]).toContain('reports_cost must be one of');
  });
});
