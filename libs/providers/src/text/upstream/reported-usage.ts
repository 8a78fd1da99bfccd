import { isJsonObject, type ReportedUnit, type ReportedUnits, type TextUsage, type VendorCharge } from '#contracts';

type Tokens = Omit<TextUsage, 'source' | 'units' | 'calls' | 'tier' | 'charge'>;

/** No model reads or writes so much at once: what lies beyond is a mistake and no bill. */
const MOST_TOKENS = 1_000_000_000;

const isCount = (count: unknown): count is number =>
  Number.isSafeInteger(count) && Number(count) >= 0 && Number(count) <= MOST_TOKENS;

/** Each by its name: this runs for every reply. */
const areCounts = (tokens: { readonly [Kind in keyof Tokens]: unknown }): tokens is Tokens =>
  isCount(tokens.inputTokens) &&
  isCount(tokens.cachedInputTokens) &&
  isCount(tokens.cacheWriteTokens) &&
  isCount(tokens.imageInputTokens) &&
  isCount(tokens.outputTokens) &&
  isCount(tokens.reasoningTokens);

/** The sum of counts that an upstream reports apart; NaN, which no usage may hold, when one of them is no count. */
export const sumOf = (...counts: readonly unknown[]): number =>
  counts.reduce<number>((sum, count) => (isCount(count) ? sum + count : Number.NaN), 0);

/** A count of no price of its own: 0 where it is none, which says nothing about the others. */
export const countOf = (count: unknown): number => (isCount(count) ? count : 0);

/** The sum of the counts that a vendor lists by kinds, of the kinds that match. */
export const countsIn = (listed: unknown, kinds: RegExp): number =>
  isJsonObject(listed)
    ? Object.entries(listed).reduce((sum, [kind, count]) => (kinds.test(kind) ? sum + countOf(count) : sum), 0)
    : 0;

/** Counts of searches in the web, by the names that vendors give to them. */
export const SEARCHES = /^(web|x)_search_(requests|calls)$/;

/** Of what was written to a cache what is kept for an hour, or for half a day. */
export const longWritesIn = (listed: unknown): number => countsIn(listed, /^ephemeral_(1h|12h)_input_tokens$/);

/** Units of what was read, which a later report may take back; of what was written and run there is only more. */
const OF_INPUT: ReadonlySet<string> = new Set<ReportedUnit>(['audio_input_token', 'cache_write_long_token']);

/** Of each unit of two reports the later word for what was read, else the larger number: both are of the whole reply until then. */
function mostOf(before: ReportedUnits | undefined, later: ReportedUnits | undefined): ReportedUnits | undefined {
  if (!before || !later) return later ?? before;
  const units = Object.keys({ ...before, ...later }) as ReportedUnit[];
  const numberOf = (unit: ReportedUnit): number =>
    OF_INPUT.has(unit) ? (later[unit] ?? before[unit] ?? 0) : Math.max(before[unit] ?? 0, later[unit] ?? 0);
  return Object.fromEntries(units.map((unit) => [unit, numberOf(unit)]));
}

/** The usage with these units beside its own. */
export function withUnits(usage: TextUsage, more: ReportedUnits | undefined): TextUsage {
  const units = mostOf(usage.units, more);
  return units === usage.units || !units ? usage : { ...usage, units };
}

/** The usage with the tier that served it, which a report that names none leaves as it was. */
export const withTier = (usage: TextUsage, tier: TextUsage['tier']): TextUsage =>
  tier === undefined || tier === usage.tier ? usage : { ...usage, tier };

/**
 * Of two reports of one reply the later: its input holds also where it is less, since a vendor that says it twice knows it better the
 * second time; its output never falls, since what was written stays written. A later input of 0 says nothing, and one without parts
 * nothing of them.
 */
export function laterUsage(before: TextUsage | undefined, later: TextUsage | undefined): TextUsage | undefined {
  if (!before || !later) return later ?? before;
  const input = later.inputTokens > 0 ? withPartsOf(before, later) : before;
  const output = later.outputTokens >= before.outputTokens ? later : before;
  const { outputTokens, reasoningTokens } = output;
  const units = mostOf(before.units, later.units);
  // No whole is less than a part of it, which the later report may have left out.
  const inputTokens = Math.max(input.inputTokens, input.imageInputTokens + (units?.audio_input_token ?? 0));
  const usage = withTier(
    withUnits({ ...input, inputTokens, outputTokens, reasoningTokens }, units),
    later.tier ?? before.tier,
  );
  const charge = later.charge ?? before.charge;
  return charge === usage.charge || !charge ? usage : { ...usage, charge };
}

/** A report that names no part of its input has those of the report before it, as far as they fit. */
function withPartsOf(before: TextUsage, later: TextUsage): TextUsage {
  const { cachedInputTokens, cacheWriteTokens, imageInputTokens } = before;
  const most = Math.max(cachedInputTokens + cacheWriteTokens, imageInputTokens);
  const isBare = later.cachedInputTokens + later.cacheWriteTokens + later.imageInputTokens === 0;
  return isBare && most > 0 && most <= later.inputTokens
    ? { ...later, cachedInputTokens, cacheWriteTokens, imageInputTokens }
    : later;
}

/** The input or the output that a vendor does not say is what its total has beside the other; undefined where that is not said either. */
export const besideIn = (total: unknown, other: unknown): number | undefined =>
  isCount(other) && isCount(total) && total > other ? total - other : undefined;

/** The usage of a reply that took these requests, of which there is one at least. */
export function sumOfCalls(calls: readonly TextUsage[]): TextUsage | undefined {
  const last = calls.at(-1);
  if (!last || calls.length === 1) return last;
  const sum = (name: keyof Tokens): number => calls.reduce((total, usage) => total + usage[name], 0);
  const units = calls.reduce<Partial<Record<ReportedUnit, number>>>((total, usage) => {
    for (const [unit, count] of Object.entries(usage.units ?? {}) as [ReportedUnit, number][])
      total[unit] = (total[unit] ?? 0) + count;
    return total;
  }, {});
  return {
    inputTokens: sum('inputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
    imageInputTokens: sum('imageInputTokens'),
    outputTokens: sum('outputTokens'),
    reasoningTokens: sum('reasoningTokens'),
    source: 'upstream',
    ...(Object.keys(units).length > 0 && { units }),
    ...(last.tier !== undefined && { tier: last.tier }),
    calls,
  };
}

/** Where vendors say in the usage of a reply what it cost. */
export interface ChargedUsage {
  readonly cost?: unknown;
  readonly is_byok?: unknown;
  readonly cost_details?: unknown;
  readonly cost_in_usd_ticks?: unknown;
}

const chargeIn = ({
  cost,
  is_byok: isByok,
  cost_details: details,
  cost_in_usd_ticks: ticks,
}: ChargedUsage): VendorCharge =>
  typeof ticks === 'number'
    ? { ticks }
    : { cost, isByok, upstreamCost: isJsonObject(details) ? details['upstream_inference_cost'] : undefined };

/** The usage with what its vendor says that it took. */
export function withCharge(usage: TextUsage | undefined, said: ChargedUsage): TextUsage | undefined {
  const isCharged = typeof said.cost === 'number' || typeof said.cost_in_usd_ticks === 'number';
  return usage && isCharged ? { ...usage, charge: chargeIn(said) } : usage;
}

/**
 * The usage an upstream reports. Undefined when any of its numbers is no count of tokens (a fraction, negative, in quotes,
 * beyond all sense): then the reply is counted here, as if nothing had been reported. A whole is never less than its parts, which
 * some vendors count beside it. An input or an output that is not said is 0, whatever is said of its parts: it alone is counted here.
 */
export function reportedUsage(
  reported: { readonly [Kind in keyof Tokens]: unknown },
  units: Readonly<Partial<Record<ReportedUnit, unknown>>> = {},
): TextUsage | undefined {
  const isSaid = reported.inputTokens != null;
  const isWhole = isSaid && reported.outputTokens != null;
  const tokens = isWhole
    ? reported
    : { ...reported, inputTokens: reported.inputTokens ?? 0, outputTokens: reported.outputTokens ?? 0 };
  if (!areCounts(tokens)) return undefined;
  const audioInput = countOf(units.audio_input_token);
  const madeOutput = countOf(units.audio_output_token) + countOf(units.image_output_token);
  const { inputTokens, cachedInputTokens, cacheWriteTokens, imageInputTokens, outputTokens, reasoningTokens } = tokens;
  const usage: TextUsage = {
    source: 'upstream',
    inputTokens: isSaid
      ? Math.max(inputTokens, cachedInputTokens + cacheWriteTokens, imageInputTokens + audioInput)
      : inputTokens,
    cachedInputTokens,
    cacheWriteTokens,
    imageInputTokens,
    // None at all beside reasoning is no total: the caller counts what was written.
    outputTokens: outputTokens + madeOutput === 0 ? 0 : Math.max(outputTokens, reasoningTokens + madeOutput),
    reasoningTokens,
  };
  const used = usedUnits(units);
  return used ? { ...usage, units: used } : usage;
}

/** Those that are reported; undefined where none is, as of nearly every reply. */
export function usedUnits(units: Readonly<Partial<Record<ReportedUnit, unknown>>>): ReportedUnits | undefined {
  let used: Partial<Record<ReportedUnit, number>> | undefined;
  for (const unit of Object.keys(units) as ReportedUnit[]) {
    const count = countOf(units[unit]);
    if (count > 0) (used ??= {})[unit] = count;
  }
  return used;
}
