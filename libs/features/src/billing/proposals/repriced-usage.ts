import { dividedHalfUp, type Micros, TOOL_UNITS, type TextUsage } from '#contracts';
import type { PricesInForce } from '../prices/price-book.js';
import { TextTariff } from '../prices/text-tariff.js';

/** A line of a charge, as the usage record keeps it. */
export interface ChargedLine {
  readonly unit: string;
  readonly variant: string;
  readonly quantity: number;
  readonly band_tokens?: number | null;
  readonly source?: TextUsage['source'];
}

const TOOLS: ReadonlySet<string> = new Set(TOOL_UNITS);
const isToken = (unit: string): boolean => unit.endsWith('token');

/** Charges what was used at other prices, by the same rules as requests are charged. */
export class RepricedUsage {
  private readonly tariffs = new Map<string, TextTariff>();

  constructor(private readonly prices: PricesInForce) {}

  /**
   * What the lines of a charge would cost; undefined where one of them has no price.
   *
   * @param list the price list; undefined: the book.
   */
  of(model: string, lines: readonly ChargedLine[], list: string | undefined): Micros | undefined {
    if (lines.length === 0) return undefined;
    return lines.some(({ unit }) => isToken(unit) || TOOLS.has(unit))
      ? this.text(model, lines, list)
      : this.media(model, lines, list);
  }

  private media(model: string, lines: readonly ChargedLine[], list: string | undefined): Micros | undefined {
    let sum = 0n;
    for (const { unit, variant, quantity } of lines) {
      const price = this.prices.find(model, unit, variant, list);
      if (!price) return undefined;
      // As orders are: each unit is a whole number of micros.
      sum += dividedHalfUp(price.amountMicros, price.perQuantity) * BigInt(quantity);
    }
    return sum;
  }

  /** Each call by its own input: that decides its band. */
  private text(model: string, lines: readonly ChargedLine[], list: string | undefined): Micros | undefined {
    const tariff = this.tariffOf(model, list);
    if (!tariff.isSold) return undefined;
    const tools: Record<string, number> = {};
    for (const { unit, quantity } of lines) if (TOOLS.has(unit)) tools[unit] = (tools[unit] ?? 0) + quantity;
    let sum = tariff.bill(undefined, tools).chargeMicros;
    for (const call of callsIn(lines)) sum += tariff.bill(usageOf(call), undefined, call[0]?.variant).chargeMicros;
    return sum;
  }

  private tariffOf(model: string, list: string | undefined): TextTariff {
    const key = JSON.stringify([list, model]);
    const known = this.tariffs.get(key);
    if (known) return known;
    const prices = this.prices.ofModel(model, list);
    const tariff = new TextTariff(prices, !prices.some(({ unit }) => unit === 'output_token'));
    this.tariffs.set(key, tariff);
    return tariff;
  }
}

/** The lines of each call: those of one are next to each other, under the same input, and begin with another one's unit. */
function callsIn(lines: readonly ChargedLine[]): readonly (readonly ChargedLine[])[] {
  const calls: ChargedLine[][] = [];
  let seen = new Set<string>();
  let decided: number | null | undefined;
  for (const line of lines) {
    if (TOOLS.has(line.unit)) continue;
    const call = calls.at(-1);
    const isOther = isToken(line.unit) && line.band_tokens !== decided;
    if (!call || seen.has(line.unit) || isOther) {
      calls.push([line]);
      seen = new Set([line.unit]);
    } else {
      call.push(line);
      seen.add(line.unit);
    }
    if (isToken(line.unit)) decided = line.band_tokens;
  }
  return calls;
}

function usageOf(lines: readonly ChargedLine[]): TextUsage {
  const counts = new Map(lines.map(({ unit, quantity }) => [unit, quantity]));
  const count = (...units: readonly string[]): number => units.reduce((sum, unit) => sum + (counts.get(unit) ?? 0), 0);
  const part = (unit: string): object => (counts.has(unit) ? { [unit]: count(unit) } : {});
  const written = count('cache_write_token', 'cache_write_long_token');
  return {
    inputTokens: count('input_token', 'cached_input_token', 'image_token', 'audio_input_token') + written,
    cachedInputTokens: count('cached_input_token'),
    cacheWriteTokens: written,
    imageInputTokens: count('image_token'),
    outputTokens: count('output_token', 'reasoning_token', 'audio_output_token', 'image_output_token'),
    reasoningTokens: count('reasoning_token'),
    source: lines[0]?.source ?? 'counted',
    units: {
      ...part('cache_write_long_token'),
      ...part('audio_input_token'),
      ...part('audio_output_token'),
      ...part('image_output_token'),
      ...part('vendor_web_search_call'),
    },
  };
}
