/** What one model takes and gives at most, in tokens. A hold covers it wherever a request does not say less. */
export interface ModelLimits {
  /** The longest reply, reasoning included: what a request without a limit is sent on with. */
  readonly maxOutputTokens: number;
  /** The most that can be read, which a file of unknown length may fill. */
  readonly contextTokens: number;
  /** What an image may cost. */
  readonly imageTokens: number;
}

/** For models without configured limits. */
export const DEFAULT_MODEL_LIMITS: ModelLimits = {
  maxOutputTokens: 32_000,
  contextTokens: 1_048_576,
  imageTokens: 5_000,
};

const { imageTokens } = DEFAULT_MODEL_LIMITS;
const flash: ModelLimits = { maxOutputTokens: 65_535, contextTokens: 1_048_576, imageTokens };
const large: ModelLimits = { maxOutputTokens: 64_000, contextTokens: 1_000_000, imageTokens };
const opus: ModelLimits = { maxOutputTokens: 32_000, contextTokens: 200_000, imageTokens };

/** The models D1 names, as far as they are known. */
const KNOWN_MODEL_LIMITS: Readonly<Record<string, ModelLimits>> = {
  'vendor-5': { maxOutputTokens: 128_000, contextTokens: 400_000, imageTokens },
  'vendor-4o-image': { maxOutputTokens: 16_384, contextTokens: 128_000, imageTokens },
  'vendor-4-vision': { maxOutputTokens: 4_096, contextTokens: 128_000, imageTokens },
  'vendor-2.5-flash': flash,
  'vendor-2.5-flash-lite': flash,
  'vendor-2.5-pro': flash,
  'vendor-2.5-pro-thinking': flash,
  'vendor-haiku-4-5-20251001': { maxOutputTokens: 64_000, contextTokens: 200_000, imageTokens },
  'vendor-sonnet-4-5-20250929': large,
  'vendor-sonnet-4-5-20250929-thinking': large,
  'vendor-opus-4-1-20250805': opus,
  'vendor-opus-4-1-20250805-thinking': opus,
};

/** The limits of a model where no upstream says otherwise. */
export const knownLimits = (model: string): ModelLimits =>
  (Object.hasOwn(KNOWN_MODEL_LIMITS, model) ? KNOWN_MODEL_LIMITS[model] : undefined) ?? DEFAULT_MODEL_LIMITS;
