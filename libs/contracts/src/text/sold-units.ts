import type { TextProtocol } from './text-style.js';

/** The kinds of token that can have a price of their own: those of input, then those of output. */
export const TOKEN_UNITS = [
  'input_token',
  'cached_input_token',
  'cache_write_token',
  'cache_write_long_token',
  'image_token',
  'audio_input_token',
  'output_token',
  'reasoning_token',
  'audio_output_token',
  'image_output_token',
] as const;
export type TokenUnit = (typeof TOKEN_UNITS)[number];

/** What a vendor takes for each request, and for each search of its own, beside the tokens. */
export const FEE_UNITS = ['request', 'vendor_web_search_call'] as const;
export type FeeUnit = (typeof FEE_UNITS)[number];

/** Units that a request can do without: it may ask for one where it has a price. */
export type OpenedUnit =
  | Extract<TokenUnit, 'cache_write_long_token' | 'audio_input_token' | 'audio_output_token' | 'image_output_token'>
  | 'vendor_web_search_call';

/**
 * What vendors report beside text. Tokens are parts of those of input and output, and are sold as those where they have no price;
 * calls of the vendor's other tools have none.
 */
export type ReportedUnit = OpenedUnit | 'vendor_tool_call';
export type ReportedUnits = Readonly<Partial<Record<ReportedUnit, number>>>;

/** The speeds at which vendors sell one model, which are the variants of its prices. */
export const SERVICE_TIERS = ['default', 'flex', 'priority', 'ultrafast', 'batch'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

const TIERS: Readonly<Record<string, ServiceTier>> = {
  default: 'default',
  standard: 'default',
  standard_only: 'default',
  on_demand: 'default',
  provisioned_throughput: 'default',
  flex: 'flex',
  on_demand_flex: 'flex',
  priority: 'priority',
  fast: 'priority',
  on_demand_priority: 'priority',
  ultrafast: 'ultrafast',
  batch: 'batch',
};

/** The tiers that each protocol has a field for; one has none. */
const TIERS_ASKED: Readonly<Record<TextProtocol, readonly ServiceTier[]>> = {
  responses: ['flex', 'priority', 'ultrafast', 'batch'],
  chat: ['flex', 'priority', 'ultrafast', 'batch'],
  gemini: ['flex', 'priority'],
  messages: [],
  sandbox: [],
};

/** Whether a request that the gateway writes for an upstream can ask for the tier. */
export const canAskForTier = (protocol: TextProtocol, word: string): boolean => {
  const tier = serviceTierOf(word);
  return TIERS_ASKED[protocol].some((each) => each === tier);
};

/**
 * The tier that a word of some vendor stands for, in whatever letters; `other` for one that is not known, undefined for what names none.
 */
export function serviceTierOf(word: unknown): ServiceTier | 'other' | undefined {
  if (typeof word !== 'string' || word === '') return undefined;
  const name = word.toLowerCase().replace(/^service_tier_/, '');
  if (name === 'auto' || name === 'unspecified' || name === 'traffic_type_unspecified') return undefined;
  return Object.hasOwn(TIERS, name) ? TIERS[name] : 'other';
}
