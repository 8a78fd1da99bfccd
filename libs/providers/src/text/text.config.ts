import { IsNotEmpty, IsOptional } from 'class-validator';
import type { ModelTraits } from '#contracts';
import { Variable } from '#platform';

export class TextConfig {
  @Variable({
    description:
      'YAML file that lists the upstreams of text models (`upstreams`) and of video and image models (`media_upstreams`); more can be added through the admin API. While there is none at all of a kind, the built-in sandbox stands in for it.',
    example: 'upstreams.yaml',
  })
  @IsOptional()
  @IsNotEmpty()
  UPSTREAMS_FILE?: string;

  @Variable({
    description: 'Pause of the sandbox between two words of a streamed text.',
    unit: 'milliseconds',
    between: [0, 10_000],
  })
  SANDBOX_WORD_MS = 10;

  @Variable({
    description: 'How long a request looks for a text upstream that works, going round them again after short pauses.',
    unit: 'seconds',
    between: [0, 300],
    fractions: true,
    note: '0 asks each upstream once',
  })
  TEXT_RETRY_SECONDS = 10;

  @Variable({
    description:
      "How long it is remembered at which upstream a conversation lives, since its last request, for the sake of the vendor's prompt cache and of proofs of reasoning. Shared by all API processes where there is Redis.",
    unit: 'minutes',
    between: [0, 1_440],
    note: '0: every request is sent to an upstream by chance',
  })
  CONVERSATION_MINUTES = 60;

  @Variable({
    description:
      'How long an upstream is read on for its usage after the caller has left. Without the usage, what cannot be known is charged up to the hold.',
    unit: 'seconds',
    between: [0, 300],
    fractions: true,
    note: '0 ends it at once',
    formerly: 'TEXT_LEFT_READ_SECONDS',
  })
  DISCONNECT_DRAIN_SECONDS = 15;

  @Variable({
    description: 'The most that is read of a streamed reply after the caller has left.',
    unit: 'MiB',
    between: [1, 64],
    formerly: 'TEXT_LEFT_READ_MB',
  })
  DISCONNECT_DRAIN_MB = 8;

  @Variable({
    description:
      'How many upstreams one process reads on at a time after their callers have left. An account has an eighth of them.',
    unit: 'requests',
    between: [0, 10_000],
    formerly: 'TEXT_LEFT_READS',
  })
  DISCONNECT_DRAINS = 256;

  @Variable({
    description: 'How long a caller may read nothing of an answer that is waiting for them; then they count as gone.',
    unit: 'seconds',
    between: [1, 600],
    fractions: true,
  })
  TEXT_WRITE_STALL_SECONDS = 30;
}

/** What one model takes and gives at most, in tokens. A hold covers it wherever a request does not say less. */
export interface ModelLimits {
  /** The longest reply, reasoning included: what a request without a limit is sent on with. */
  readonly maxOutputTokens: number;
  /** The most that can be read, which a file of unknown length may fill. */
  readonly contextTokens: number;
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

/** The models of the catalogue, as far as they are known. */
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

/** The limits of a model by what holds for it at an upstream, or else by its public name, where its operator does not say otherwise. */
export function knownLimits(model: string, traits: Partial<ModelTraits> = {}): ModelLimits {
  const named =
    (Object.hasOwn(KNOWN_MODEL_LIMITS, model) ? KNOWN_MODEL_LIMITS[model] : undefined) ?? DEFAULT_MODEL_LIMITS;
  return {
    maxOutputTokens: traits.max_output_tokens ?? named.maxOutputTokens,
    contextTokens: traits.context_tokens ?? named.contextTokens,
    imageTokens: traits.image_tokens ?? named.imageTokens,
  };
}
