import type { Micros } from '#contracts';

/** Prices of one text model, in micros for each 1,000,000 tokens. Image tokens are sold as input. */
interface TextPrice {
  readonly input: Micros;
  readonly cachedInput: Micros;
  /** Where the vendor charges for filling its cache; elsewhere it is sold as input. */
  readonly cacheWrite?: Micros;
  readonly output: Micros;
}

const SMALL: TextPrice = { input: 300_000n, cachedInput: 75_000n, output: 2_500_000n };
const MIDDLE: TextPrice = { input: 1_250_000n, cachedInput: 125_000n, output: 10_000_000n };
const HAIKU: TextPrice = { input: 1_000_000n, cachedInput: 100_000n, cacheWrite: 1_250_000n, output: 5_000_000n };
const SONNET: TextPrice = { input: 3_000_000n, cachedInput: 300_000n, cacheWrite: 3_750_000n, output: 15_000_000n };
const OPUS: TextPrice = { input: 15_000_000n, cachedInput: 1_500_000n, cacheWrite: 18_750_000n, output: 75_000_000n };

/** How many tokens one of these prices buys. */
export const TEXT_PRICE_TOKENS = 1_000_000n;

/** An example, so that a fresh installation can charge at all: these are not real prices. */
export const EXAMPLE_TEXT_PRICES: Readonly<Record<string, TextPrice>> = {
  'vendor-5': MIDDLE,
  'vendor-4o-image': { input: 2_500_000n, cachedInput: 1_250_000n, output: 10_000_000n },
  'vendor-4-vision': { input: 2_500_000n, cachedInput: 1_250_000n, output: 10_000_000n },
  'vendor-2.5-flash': SMALL,
  'vendor-2.5-flash-lite': { input: 100_000n, cachedInput: 25_000n, output: 400_000n },
  'vendor-2.5-pro': MIDDLE,
  'vendor-2.5-pro-thinking': MIDDLE,
  'vendor-haiku-4-5-20251001': HAIKU,
  'vendor-sonnet-4-5-20250929': SONNET,
  'vendor-sonnet-4-5-20250929-thinking': SONNET,
  'vendor-opus-4-1-20250805': OPUS,
  'vendor-opus-4-1-20250805-thinking': OPUS,
};
