import type { ModelId, VariantOf } from './catalog.js';
import type { Micros } from '../money.js';

/** A price for each variant each model is sold in, in micros per unit of its family (second or image). */
export type PriceBook = { readonly [Model in ModelId]: { readonly [Variant in VariantOf<Model>]: Micros } };

const ALPHA = { '480p': 50_000n, '720p': 100_000n };
const ALPHA_FAST = { '480p': 30_000n, '720p': 60_000n };
const GAMMA_FAST = {
  '720p': 100_000n,
  '1080p': 120_000n,
  '4K': 300_000n,
  '720p+audio': 150_000n,
  '1080p+audio': 180_000n,
  '4K+audio': 350_000n,
};
const GAMMA_QUALITY = {
  '720p': 200_000n,
  '1080p': 200_000n,
  '4K': 400_000n,
  '720p+audio': 400_000n,
  '1080p+audio': 400_000n,
  '4K+audio': 600_000n,
};
const KAPPA = { '1K': 30_000n, '2K': 30_000n, '4K': 60_000n };

/**
 * An example, so that a fresh installation can charge at all: these are not real prices.
 * Operators set their own; a request is always charged at the price that was in force when it was submitted.
 */
export const EXAMPLE_PRICES = {
  // Videos, per second.
  'alpha-2.0': ALPHA,
  'alpha-2.0-fast': ALPHA_FAST,
  'alpha-2.0-face': { ...ALPHA, '1080p': 220_000n },
  'alpha-2.0-fast-face': ALPHA_FAST,
  'beta-2.7': { '720P': 100_000n, '1080P': 150_000n },
  'beta-2.7-r2v': { '720P': 100_000n, '1080P': 150_000n },
  'gamma-3.1-fast-official': GAMMA_FAST,
  'gamma-3.1-quality-official': GAMMA_QUALITY,
  'beta-2.5-preview': { '480p': 50_000n, '720p': 100_000n, '1080p': 150_000n },
  'beta-2.6': { '720p': 100_000n, '1080p': 150_000n },
  'delta-v2-6': { std: 42_000n, pro: 70_000n, 'pro+audio': 140_000n },
  'epsilon-2.3': { '768p': 47_000n, '1080p': 82_000n },
  'epsilon-2.3-Fast': { '768p': 32_000n, '1080p': 55_000n },
  'epsilon-02': { '512p': 20_000n, '768p': 45_000n, '1080p': 80_000n },
  'zeta-q3-pro': { '540p': 50_000n, '720p': 125_000n, '1080p': 150_000n },
  'zeta-q3-turbo': { '540p': 40_000n, '720p': 60_000n, '1080p': 80_000n },
  'zeta-q3': { '540p': 60_000n, '720p': 130_000n, '1080p': 160_000n },
  'zeta-q3-mix': { '720p': 125_000n, '1080p': 155_000n },
  // Images, each.
  'eta-image-2.0': { default: 35_000n },
  'eta-image-2.0-pro': { default: 75_000n },
  'theta-image-turbo': { default: 15_000n, prompt_extend: 30_000n },
  'iota-1.0-reseller': { default: 20_000n },
  'iota-1.0-edit-reseller': { default: 20_000n },
  'kappa-a-4-0': KAPPA,
  'kappa-b-4.0': KAPPA,
  'kappa-b-4-0': KAPPA,
  'Kappa-B-4.0': KAPPA,
} as const satisfies PriceBook;
