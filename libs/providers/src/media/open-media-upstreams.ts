import { readFileSync } from 'node:fs';
import {
  familyOf,
  isJsonObject,
  type JsonValue,
  type MediaUpstream,
  type PlannedOrder,
  type VendorCost,
} from '#contracts';
import { ConfigError, loadConfig, type Environment, SafeFetcher } from '#platform';
import { TextConfig } from '../text/text.config.js';
import { readUpstreamList } from '../upstreams-file.js';
import { checkMediaUpstreamsFile } from './check-media-upstreams.js';
import { keyOf } from './entry-key.js';
import { HttpMediaUpstream } from './http/http-media-upstream.js';
import type { Exchange } from './http/vendor-exchanges.js';
import { VendorHttp } from './http/vendor-http.js';
import { MEDIA_CODECS } from './media-protocols.js';
import type { MediaUpstreamEntry } from './media-upstream-entry.js';
import { observedProvider } from './observed-provider.js';
import { ProviderUpstream } from './provider-upstream.js';
import { SandboxConfig } from './sandbox/sandbox.config.js';
import { SandboxProvider } from './sandbox/sandbox.provider.js';
import { servedModels } from './served-models.js';

/** What the vendor account allows, over all processes together; what is absent is not limited. */
export interface MediaAccountLimits {
  readonly running?: number | undefined;
  readonly startsPerMinute?: number | undefined;
  readonly checksPerSecond?: number | undefined;
}

/** An upstream with its place in the routing. */
export interface ConfiguredMediaUpstream {
  readonly upstream: MediaUpstream;
  /** Public models that it may be asked for; undefined: every one. */
  readonly models: ReadonlySet<string> | undefined;
  readonly priority: number;
  readonly weight: number;
  /** The only accounts of customers that reach it; empty: all. */
  readonly onlyAccounts: ReadonlySet<string>;
  readonly limits: MediaAccountLimits;
  readonly lostCalls: 'fail' | 'repeat_once';
  /** Whether its orders carry an address that the vendor may call. */
  readonly callbacks?: boolean;
}

/** What this process knows of media upstreams before it looks into the database. */
export interface OpenMediaUpstreams {
  /** The entries of `media_upstreams` in UPSTREAMS_FILE; undefined when there is no such list. */
  readonly fromFile: readonly MediaUpstreamEntry[] | undefined;
  /** The built-in maker of test files, for every model. */
  readonly sandbox: ConfiguredMediaUpstream;
  /** Opens an upstream; it connects when it is first asked. Whoever opens it closes it. */
  open(entry: MediaUpstreamEntry): ConfiguredMediaUpstream;
  /** Closes the sandbox, and what upstreams share. */
  close(): Promise<void>;
}

/** Whence the upstreams come. */
export interface MediaUpstreamSources {
  readonly text?: TextConfig;
  readonly sandbox?: SandboxConfig;
  /** Whether a file that a caller sent inline can be given to a vendor as a link. */
  readonly canLink?: boolean;
  /** Reaches tokens and files for upstreams, and follows no redirect; closed with them. */
  readonly fetcher?: SafeFetcher;
  /** Sees every exchange with a vendor, for records. */
  readonly onExchange?: (exchange: Exchange) => void;
}

/**
 * Reads `media_upstreams` of UPSTREAMS_FILE, if there is one.
 *
 * @throws ConfigError with one line for each mistake.
 */
export function openMediaUpstreams(sources: MediaUpstreamSources = {}, environment?: Environment): OpenMediaUpstreams {
  const { text = loadConfig(TextConfig), sandbox: sandboxConfig = loadConfig(SandboxConfig) } = sources;
  const { UPSTREAMS_FILE: file } = text;
  const sandbox = new SandboxProvider(sandboxConfig);
  const observed = observedProvider(sandbox);
  const { fetcher = new SafeFetcher({ maxRedirects: 0 }) } = sources;
  return {
    fromFile: file === undefined ? undefined : readMediaUpstreams(contentOf(file), file, environment),
    sandbox: { ...PLAIN_PLACE, upstream: new ProviderUpstream(observed), models: undefined },
    open: (entry) =>
      entry.protocol === 'sandbox'
        ? { ...placeOf(entry), upstream: new ProviderUpstream(observed, entry) }
        : { ...placeOf(entry), upstream: openHttp(entry, MEDIA_CODECS[entry.protocol], fetcher, sources) },
    close: async () => {
      await Promise.all([sandbox.close(), fetcher.close()]);
    },
  };
}

/** @throws ConfigError with one line for each mistake: file, line, field, rule. */
export const readMediaUpstreams = (
  text: string,
  file: string,
  environment?: Environment,
): readonly MediaUpstreamEntry[] | undefined =>
  readUpstreamList({ text, file, environment }, 'media_upstreams', checkMediaUpstreamsFile);

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`UPSTREAMS_FILE names "${file}", which cannot be read (${(error as Error).message})`]);
  }
}

const PLAIN_PLACE = {
  priority: 0,
  weight: 1,
  onlyAccounts: new Set<string>(),
  limits: {},
  lostCalls: 'fail',
} as const satisfies Partial<ConfiguredMediaUpstream>;

function placeOf(entry: MediaUpstreamEntry): Omit<ConfiguredMediaUpstream, 'upstream'> {
  const { running, starts_per_minute: startsPerMinute, checks_per_second: checksPerSecond } = entry.limits;
  return {
    models: new Set(servedModels(entry).keys()),
    priority: entry.priority,
    weight: entry.weight,
    onlyAccounts: new Set(entry.only_accounts),
    limits: { running, startsPerMinute, checksPerSecond },
    lostCalls: entry.lost_calls,
    callbacks: entry.callbacks,
  };
}

function openHttp(
  entry: MediaUpstreamEntry,
  protocol: HttpCodec,
  fetcher: SafeFetcher,
  { canLink = false, onExchange }: MediaUpstreamSources,
): MediaUpstream {
  const { id } = entry;
  const key = keyOf(entry) ?? '';
  const codec = protocol.configured?.(entry, key) ?? protocol;
  const { base_url: baseUrl = codec.defaultBaseUrl } = entry;
  if (baseUrl === undefined || key === '') throw new RangeError(`${id} lacks base_url or key`);
  return new HttpMediaUpstream({
    id,
    vendorAccount: entry.vendor_account ?? id,
    codec,
    http: new VendorHttp(baseUrl),
    key,
    fetcher,
    models: servedModels(entry),
    costOf: (order) => configuredCost(entry.costs, order),
    canLink,
    onExchange,
  });
}

type HttpCodec = (typeof MEDIA_CODECS)[keyof typeof MEDIA_CODECS];

const MICROS = 1_000_000;

/** What the operator said that an order costs: so much a second or picture, by price variant or for all of them. */
function configuredCost(costs: MediaUpstreamEntry['costs'], order: PlannedOrder): VendorCost | undefined {
  const { unit } = costs;
  const said: JsonValue | undefined = costs[order.model];
  const billing = familyOf(order.model)?.billing(order.parameters);
  if (said === undefined || billing === undefined || typeof unit !== 'string') return undefined;
  const each = isJsonObject(said) ? said[billing.variant] : said;
  return typeof each === 'number' ? { micros: BigInt(Math.round(each * billing.quantity * MICROS)), unit } : undefined;
}
