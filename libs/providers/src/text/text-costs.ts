import {
  type BalanceUnit,
  callsOf,
  dividedHalfUp,
  FEE_UNITS,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_MICROS,
  readDecimal,
  serviceTierOf,
  type TextCost,
  type TextUsage,
  timesWhole,
  TOKEN_UNITS,
  type VendorCharge,
} from '#contracts';
import {
  AMOUNT_RULE,
  mistakesInRates,
  mistakesInUnit,
  PARTS_PER_MICRO,
  PARTS_PER_UNIT,
  partsOf,
  VendorRates,
} from '../vendor-amounts.js';
import type { FieldPath, UpstreamMistake } from '../check-fields.js';

/** What a vendor can take for a text request. Input holds no part that has a unit of its own. */
export const COST_UNITS = [...TOKEN_UNITS, ...FEE_UNITS, 'vendor_tool_call'] as const;
export type CostUnit = (typeof COST_UNITS)[number];

/** Kinds of token that cost as much as another where nothing is said of them. Of the others nothing is guessed. */
const COSTS_AS: Partial<Record<CostUnit, CostUnit>> = {
  vendor_web_search_call: 'vendor_tool_call',
  cached_input_token: 'input_token',
  cache_write_token: 'input_token',
  image_token: 'input_token',
  reasoning_token: 'output_token',
};

/** Whose words `reports_cost` can be: each has fields of its own in which a reply says what it cost. */
export const COST_REPORTS = ['openrouter', 'xai'] as const;
export type CostReport = (typeof COST_REPORTS)[number];

/** Both report in it. */
const REPORTED_UNIT = 'USD';
const MICROS_PER_USD = 1_000_000n;
const TICKS_PER_MICRO = 10_000n;

/** What one model costs from so many tokens of input on, for a service tier. Amounts are trillionths, for `perQuantity` units. */
export interface CostBand {
  readonly tier: string;
  readonly fromInputTokens: number;
  readonly parts: ReadonlyMap<CostUnit, bigint>;
}

const DEFAULT_TIER = 'default';

/** The name under which the costs of a tier stand. */
const costTier = (said: string | undefined): string => {
  const tier = serviceTierOf(said);
  return tier === 'other' && said !== undefined ? said : (tier ?? DEFAULT_TIER);
};

const SETTINGS = ['unit', 'per_quantity', 'factor', 'rates'];
const BANDS_MAX = 32;
const FIRST_TOKEN_MAX = 1_000_000_000;
const PER_QUANTITY_MAX = 1_000_000_000;

export class ModelCosts {
  constructor(
    /** The largest beginning first. */
    private readonly bands: readonly CostBand[],
    private readonly shared: SharedCosts,
  ) {}

  /** What a reply cost: as its vendor reported it, else as configured; undefined where neither says all of it. */
  of(usage: TextUsage, ms: number): TextCost | undefined {
    return this.reported(usage, ms) ?? this.configured(usage, ms);
  }

  /** What one of a unit is worth from so many tokens of input on: `numerator / denominator` in micros of the unit of balances. Undefined: it is unknown. */
  worthOf(unit: string, tier: string, inputTokens: number, ms: number): readonly [bigint, bigint] | undefined {
    const { unit: currency, factorParts, perQuantity, rates } = this.shared;
    const band = this.bandOf(tier, inputTokens);
    const parts = band && partsIn(band, unit as CostUnit);
    const rate = currency === undefined ? undefined : rates.at(currency, ms);
    if (parts === undefined || rate === undefined) return undefined;
    return [parts * factorParts * rate, perQuantity * PARTS_PER_UNIT * PARTS_PER_UNIT * PARTS_PER_MICRO];
  }

  /** The first counts of input tokens at which something changes, for a tier. */
  firstTokens(tier: string): readonly number[] {
    return this.bands.filter((band) => band.tier === tier).map(({ fromInputTokens }) => fromInputTokens);
  }

  /** Each unit that has a figure, for each tier. */
  units(): readonly { readonly tier: string; readonly unit: CostUnit }[] {
    const bases = this.bands.filter(({ fromInputTokens }) => fromInputTokens === 0);
    return bases.flatMap(({ tier, parts }) => [...parts.keys()].map((unit) => ({ tier, unit })));
  }

  /** The unit whose rate is missing, so that nobody knows what it is worth. */
  unvalued(ms: number): string | undefined {
    const { unit, rates, reports } = this.shared;
    return [this.bands.length > 0 ? unit : undefined, reports && REPORTED_UNIT].find(
      (used) => used !== undefined && rates.at(used, ms) === undefined,
    );
  }

  /** Undefined where one of its requests has none. */
  private reported(usage: TextUsage, ms: number): TextCost | undefined {
    const { reports, rates } = this.shared;
    let micros = 0n;
    for (const { charge } of usage.charge ? [usage] : (usage.calls ?? [usage])) {
      const taken = charge && reports && (reports === 'xai' ? fromTicks(charge) : fromCredits(charge));
      if (taken === undefined) return undefined;
      micros += taken;
    }
    if (micros > MAX_MICROS) return undefined;
    return { ...rates.valued({ micros, unit: REPORTED_UNIT }, ms), isReported: true };
  }

  private configured(usage: TextUsage, ms: number): TextCost | undefined {
    const { unit, factorParts, perQuantity, rates } = this.shared;
    if (unit === undefined) return undefined;
    let parts = 0n;
    for (const call of callsOf(usage)) {
      const ofCall = this.partsOfCall(call);
      if (ofCall === undefined) return undefined;
      parts += ofCall;
    }
    const exact = parts * factorParts;
    const by = perQuantity * PARTS_PER_UNIT * PARTS_PER_MICRO;
    const micros = dividedHalfUp(exact, by);
    const rate = rates.at(unit, ms);
    const worthMicros = rate === undefined ? undefined : dividedHalfUp(exact * rate, by * PARTS_PER_UNIT);
    if (micros > MAX_MICROS || (worthMicros ?? 0n) > MAX_MICROS) return undefined;
    return { micros, unit, ...(worthMicros !== undefined && { worthMicros }), isReported: false };
  }

  /** Undefined where no figure holds for all of it. */
  private partsOfCall(usage: TextUsage): bigint | undefined {
    const band = this.bandOf(costTier(usage.tier), usage.inputTokens);
    const isNothing = usage.inputTokens === 0 && usage.outputTokens === 0;
    if (!band || isNothing) return undefined;
    let parts = 0n;
    for (const [kind, count] of unitsOf(usage)) {
      if (count === 0) continue;
      const each = partsIn(band, kind);
      if (each === undefined && kind !== 'request') return undefined;
      parts += (each ?? 0n) * BigInt(count);
    }
    return parts;
  }

  private bandOf(tier: string, inputTokens: number): CostBand | undefined {
    return this.bands.find((band) => band.tier === tier && band.fromInputTokens <= inputTokens);
  }
}

/** What all models of an entry have in common. */
interface SharedCosts {
  readonly unit: string | undefined;
  readonly perQuantity: bigint;
  /** What the account pays of the figures, in trillionths. */
  readonly factorParts: bigint;
  readonly rates: VendorRates;
  readonly reports: CostReport | undefined;
}

interface CostedEntry {
  readonly models: object;
  readonly embedding_models: object;
  readonly costs: JsonObject;
  readonly reports_cost?: CostReport;
}

/** What the models of a text upstream cost by its entry. Whole numbers throughout, each record rounded once, halves up. */
export class TextCosts {
  private readonly shared: SharedCosts;
  private readonly models = new Map<string, ModelCosts>();

  /** @param entry one without mistakes. */
  constructor(entry: Pick<CostedEntry, 'costs' | 'reports_cost'>, balanceUnit: BalanceUnit) {
    const { unit, per_quantity: perQuantity = 1, factor = 1, rates, ...models } = entry.costs;
    this.shared = {
      unit: typeof unit === 'string' ? unit : undefined,
      perQuantity: BigInt(Number(perQuantity)),
      factorParts: partsOf(factor) ?? PARTS_PER_UNIT,
      rates: new VendorRates(rates, balanceUnit),
      reports: entry.reports_cost,
    };
    for (const [model, said] of Object.entries(models))
      this.models.set(model, new ModelCosts(bandsIn(said), this.shared));
    this.others = new ModelCosts([], this.shared);
  }

  /** Of a model without figures, whose vendor may report what it took. */
  private readonly others: ModelCosts;

  /** Undefined where nothing can be known of a model. */
  of(model: string): ModelCosts | undefined {
    return this.models.get(model) ?? (this.shared.reports ? this.others : undefined);
  }
}

const partsIn = ({ parts }: CostBand, unit: CostUnit): bigint | undefined => {
  const own = parts.get(unit);
  const stands = COSTS_AS[unit];
  return own ?? (stands && parts.get(stands));
};

/** The units of a request, each token counted once. */
function unitsOf(usage: TextUsage): readonly (readonly [CostUnit, number])[] {
  const { units = {} } = usage;
  let input = usage.inputTokens;
  const ofInput = (count = 0): number => {
    const taken = Math.min(count, input);
    input -= taken;
    return taken;
  };
  let output = usage.outputTokens;
  const ofOutput = (count = 0): number => {
    const taken = Math.min(count, output);
    output -= taken;
    return taken;
  };
  const cached = ofInput(usage.cachedInputTokens);
  const written = ofInput(usage.cacheWriteTokens);
  const long = Math.min(units.cache_write_long_token ?? 0, written);
  const parts: readonly (readonly [CostUnit, number])[] = [
    ['cached_input_token', cached],
    ['cache_write_token', written - long],
    ['cache_write_long_token', long],
    ['image_token', ofInput(usage.imageInputTokens)],
    ['audio_input_token', ofInput(units.audio_input_token)],
    ['audio_output_token', ofOutput(units.audio_output_token)],
    ['image_output_token', ofOutput(units.image_output_token)],
    ['reasoning_token', ofOutput(usage.reasoningTokens)],
    ['vendor_web_search_call', units.vendor_web_search_call ?? 0],
    ['vendor_tool_call', units.vendor_tool_call ?? 0],
    ['request', 1],
  ];
  return [['input_token', input], ['output_token', output], ...parts];
}

/** With a key of the customer's own at a vendor behind it, the cost is the fee alone, and what that vendor takes stands beside it. */
function fromCredits({ cost, isByok, upstreamCost }: VendorCharge): bigint | undefined {
  const fee = readDecimal(cost);
  const behind = isByok === true ? readDecimal(upstreamCost) : undefined;
  if (!fee) return undefined;
  if (!behind) return timesWhole(fee, MICROS_PER_USD);
  const places = Math.max(fee.places, behind.places);
  const digits = [fee, behind].reduce((sum, one) => sum + one.digits * 10n ** BigInt(places - one.places), 0n);
  return timesWhole({ digits, places }, MICROS_PER_USD);
}

function fromTicks({ ticks }: VendorCharge): bigint | undefined {
  const read = readDecimal(ticks);
  return read && dividedHalfUp(read.digits, TICKS_PER_MICRO * 10n ** BigInt(read.places));
}

const rowsIn = (said: JsonValue): readonly JsonValue[] => (Array.isArray(said) ? (said as JsonValue[]) : [said]);

const bandsIn = (said: JsonValue): CostBand[] =>
  rowsIn(said)
    .filter((row) => isJsonObject(row))
    .map(bandIn)
    .toSorted((one, other) => other.fromInputTokens - one.fromInputTokens);

function bandIn({ from_input_tokens: from = 0, tier, ...amounts }: JsonObject): CostBand {
  const parts = COST_UNITS.flatMap((unit) => {
    const amount = partsOf(amounts[unit]);
    return amount === undefined ? [] : [[unit, amount] as const];
  });
  return {
    tier: costTier(typeof tier === 'string' ? tier : undefined),
    fromInputTokens: Number(from),
    parts: new Map(parts),
  };
}

/** What is wrong in `costs` of a text upstream. */
export function mistakesInCosts({ costs, models, embedding_models: embeddings }: CostedEntry, path: FieldPath) {
  const at = [...path, 'costs'];
  const { unit, per_quantity: perQuantity = 1, factor = 1, rates = {}, ...rows } = costs;
  const mistakes = Object.entries(rows).flatMap(([model, said]): UpstreamMistake[] =>
    Object.hasOwn(models, model) || Object.hasOwn(embeddings, model)
      ? mistakesInModel(said, [...at, model])
      : [{ path: [...at, model], rule: `must be one of the models of this upstream, or ${SETTINGS.join(', ')}` }],
  );
  if (!isWhole(perQuantity, 1, PER_QUANTITY_MAX))
    mistakes.push({ path: [...at, 'per_quantity'], rule: `must be a whole number from 1 to ${PER_QUANTITY_MAX}` });
  if (partsOf(factor) === undefined) mistakes.push({ path: [...at, 'factor'], rule: AMOUNT_RULE });
  return [
    ...mistakes,
    ...mistakesInUnit(unit, Object.keys(rows).length > 0, [...at, 'unit']),
    ...mistakesInRates(rates, [...at, 'rates']),
  ];
}

const isWhole = (said: JsonValue, least: number, most: number): boolean =>
  Number.isInteger(said) && Number(said) >= least && Number(said) <= most;

function mistakesInModel(said: JsonValue, path: FieldPath): UpstreamMistake[] {
  const rows = rowsIn(said);
  if (rows.length === 0 || rows.length > BANDS_MAX)
    return [{ path, rule: `must be amounts by unit, or a list of 1 to ${BANDS_MAX} of them` }];
  const mistakes = rows.flatMap((row, index) => mistakesInRow(row, Array.isArray(said) ? [...path, index] : path));
  return mistakes.length > 0 ? mistakes : mistakesInBands(bandsIn(said), path);
}

const ROW_FIELDS: readonly string[] = ['from_input_tokens', 'tier', ...COST_UNITS];

function mistakesInRow(row: JsonValue, path: FieldPath): UpstreamMistake[] {
  if (!isJsonObject(row))
    return [{ path, rule: 'must be amounts by unit, such as { input_token: 2, output_token: 10 }' }];
  const { from_input_tokens: from = 0, tier = DEFAULT_TIER, ...amounts } = row;
  const units = Object.entries(amounts);
  return [
    ...(isWhole(from, 0, FIRST_TOKEN_MAX)
      ? []
      : [{ path: [...path, 'from_input_tokens'], rule: `must be a whole number from 0 to ${FIRST_TOKEN_MAX}` }]),
    ...(typeof tier === 'string' && /^[a-z][a-z_]{0,31}$/.test(tier)
      ? []
      : [{ path: [...path, 'tier'], rule: 'must be the name of a service tier, such as priority or flex' }]),
    ...(units.length === 0 ? [{ path, rule: 'must name an amount for at least one unit' }] : []),
    ...units.flatMap(([unit, amount]): UpstreamMistake[] => {
      if (!ROW_FIELDS.includes(unit))
        return [{ path: [...path, unit], rule: `must be one of ${ROW_FIELDS.join(', ')}`, isUnknown: true }];
      return partsOf(amount) === undefined ? [{ path: [...path, unit], rule: AMOUNT_RULE }] : [];
    }),
  ];
}

/** A band that leaves out what its base names would be a silent loss, and so would one that is told twice. */
function mistakesInBands(bands: readonly CostBand[], path: FieldPath): UpstreamMistake[] {
  return [...new Set(bands.map(({ tier }) => tier))].flatMap((tier): UpstreamMistake[] => {
    const ofTier = bands.filter((band) => band.tier === tier);
    const starts = ofTier.map(({ fromInputTokens }) => fromInputTokens);
    const what = tier === DEFAULT_TIER ? '' : ` for the tier ${tier}`;
    const base = ofTier.find(({ fromInputTokens }) => fromInputTokens === 0);
    if (!base) return [{ path, rule: `must say what it costs from the first token on${what}` }];
    const twice = starts.find((start, index) => starts.indexOf(start) < index);
    if (twice !== undefined)
      return [{ path, rule: `must say only once what it costs from ${twice} tokens of input on${what}` }];
    return ofTier.flatMap(({ parts, fromInputTokens }) => {
      const missing = [...base.parts.keys()].filter((unit) => !parts.has(unit));
      if (missing.length === 0) return [];
      return [{ path, rule: `must name ${missing.join(', ')} too from ${fromInputTokens} tokens of input on${what}` }];
    });
  });
}
