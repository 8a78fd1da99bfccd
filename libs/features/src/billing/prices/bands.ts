import { TOKEN_UNITS } from '#contracts';

/**
 * The variant of a price as it is shown, of a row `p`. That of a banded row names the band too, so that processes which know no bands
 * never take it for the price of the model.
 */
export const VARIANT = `split_part(p.variant, '@', 1) as variant`;

/** What a row is stored under: `default`, and from 272001 tokens on `default@272001`. */
export const storedVariant = (variant: string, fromInputTokens: number): string =>
  fromInputTokens === 0 ? variant : `${variant}@${fromInputTokens}`;

export const shownVariant = (stored: string): string => stored.split('@', 1)[0] ?? stored;

export interface PriceOf {
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  /** It holds for calls of so many input tokens and more; 0: for all below the first band. */
  readonly fromInputTokens: number;
}

/** In words: `vendor-5 output_token default from 272001`. */
export const priceName = ({ model, unit, variant, fromInputTokens }: PriceOf): string =>
  `${model} ${unit} ${variant}${fromInputTokens === 0 ? '' : ` from ${fromInputTokens}`}`;

interface Dated extends PriceOf {
  readonly effectiveFrom: Date;
}

/** A price that a band lacks, and the first moment at which it does. */
export interface MissingPrice extends Dated {
  /** The price list that lacks it; absent: the book. */
  readonly list?: string;
}

/**
 * What the bands of one model lack, at each moment from which one of its prices is in force. A band names every kind of token that the
 * prices below it name, in each service tier that has prices: one that it took over from them would be sold at half of what it
 * costs. And no band begins in one tier alone, nor without its tier.
 *
 * @param since the earliest moment that is looked at: what lies before is past.
 */
export function missingInBands(prices: readonly Dated[], since: Date): readonly MissingPrice[] {
  if (prices.every(({ fromInputTokens }) => fromInputTokens === 0)) return [];
  const times = prices.map(({ effectiveFrom }) => effectiveFrom.getTime());
  const moments = [...new Set(times)].filter((time) => time >= since.getTime()).sort((one, other) => one - other);
  const missing = new Map<string, MissingPrice>();
  for (const moment of moments) {
    const inForce = prices.filter(({ effectiveFrom }) => effectiveFrom.getTime() <= moment);
    for (const price of missingAmong(inForce)) {
      const name = priceName(price);
      if (!missing.has(name)) missing.set(name, { ...price, effectiveFrom: new Date(moment) });
    }
  }
  return [...missing.values()];
}

const TOKENS: ReadonlySet<string> = new Set(TOKEN_UNITS);

/** What is counted by calls costs the same whatever the input, unless a band says otherwise. */
function missingAmong(prices: readonly PriceOf[]): PriceOf[] {
  const tokens = prices.filter(({ unit }) => TOKENS.has(unit));
  const [model = ''] = tokens.map((price) => price.model);
  const known = new Set(tokens.map(priceName));
  const starts = new Set(prices.map(({ fromInputTokens }) => fromInputTokens));
  return [...new Set(prices.map(({ variant }) => variant))].flatMap((variant) => {
    const units = new Set(tokens.filter((price) => price.variant === variant).map(({ unit }) => unit));
    return [0, ...starts].flatMap((fromInputTokens) =>
      [...units]
        .map((unit) => ({ model, unit, variant, fromInputTokens }))
        .filter((price) => !known.has(priceName(price))),
    );
  });
}
