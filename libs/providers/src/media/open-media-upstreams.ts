import type { BalanceUnit, MediaUpstream, VendorCost } from '#contracts';
import { MediaStoreConfig } from '#media';
import { type Environment, loadConfig, readTogether, SafeFetcher, ServerConfig } from '#platform';
import { RenderPool } from '#sandbox-media';
import { accessFingerprint } from '../routed-entry.js';
import { TextConfig } from '../text/text.config.js';
import { readUpstreamList, upstreamsText } from '../upstreams-file.js';
import { type CallbackReach, checkMediaUpstreamsFile } from './check-media-upstreams.js';
import { keyOf, type MediaLimitsEntry, type MediaUpstreamEntry, servedModels } from './media-upstream-entry.js';
import { HttpMediaUpstream } from './http/http-media-upstream.js';
import type { MediaCodec } from './http/media-codec.js';
import type { Exchange } from './http/vendor-exchanges.js';
import { VendorHttp } from './http/vendor-http.js';
import { MEDIA_CODECS } from './media-protocols.js';
import { SandboxConfig, SandboxUpstream } from './sandbox/sandbox-upstream.js';
import { microsOf } from '../vendor-amounts.js';
import { VendorCosts } from './vendor-costs.js';
import type { TraitSettings } from './traits/media-traits.js';

/** What an upstream may be handed in a day and in a month of UTC, over all processes together; what is absent is not limited. */
export interface MediaAllowance {
  readonly ordersPerDay?: number | undefined;
  readonly ordersPerMonth?: number | undefined;
  /** By the configured costs, in millionths of their unit. */
  readonly spendPerDayMicros?: bigint | undefined;
  readonly spendPerMonthMicros?: bigint | undefined;
}

/** What the vendor account allows, over all processes together; what is absent is not limited. */
export interface MediaAccountLimits {
  readonly running?: number | undefined;
  readonly startsPerMinute?: number | undefined;
  readonly checksPerSecond?: number | undefined;
  /** Of this upstream alone. */
  readonly allowance?: MediaAllowance | undefined;
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
  /** What one second or image of a price variant costs by its entry; undefined where nothing is configured. */
  readonly costOfUnit?: (model: string, variant: string) => VendorCost | undefined;
  /** What its cooldowns are kept under: the vendor account as it is reached with this key at this address. Absent: the account. */
  readonly healthName?: string;
  /** The vendor's own name of a model. */
  readonly vendorModel?: (model: string) => string | undefined;
}

/** What this process knows about media upstreams before it reads the database. */
export interface OpenMediaUpstreams {
  /** The entries of `media_upstreams` in UPSTREAMS_FILE; undefined when there is no such list. */
  readonly fromFile: readonly MediaUpstreamEntry[] | undefined;
  /** The built-in maker of test files, for every model. */
  readonly sandbox: ConfiguredMediaUpstream;
  /** Opens an upstream; it connects when it is first asked. Its opener closes it. */
  open(entry: MediaUpstreamEntry): ConfiguredMediaUpstream;
  /** Closes the sandbox, and what upstreams share. */
  close(): Promise<void>;
}

export interface MediaUpstreamSources {
  readonly text?: TextConfig;
  readonly sandbox?: SandboxConfig;
  /** Whether a file that a caller sent inline can be given to a vendor as a link. */
  readonly canLink?: boolean;
  /** Reaches tokens and files for upstreams, and follows no redirect; closed with them. */
  readonly fetcher?: SafeFetcher;
  /** Sees every exchange with a vendor, for records. */
  readonly onExchange?: (exchange: Exchange) => void;
  /** What balances count: a cost in it needs no rate. */
  readonly balanceUnit?: BalanceUnit;
  /** Whether vendors can call this gateway; by default, whether PUBLIC_BASE_URL is set. */
  readonly isReached?: boolean;
}

/**
 * Reads `media_upstreams` of UPSTREAMS_FILE, if there is one.
 *
 * @throws ConfigError with one line for each mistake.
 */
export function openMediaUpstreams(sources: MediaUpstreamSources = {}, environment?: Environment): OpenMediaUpstreams {
  // Together, so that a mistake in one of them hides none in the others.
  const { text, sandboxConfig, store, server } = readTogether({
    text: () => sources.text ?? loadConfig(TextConfig, environment),
    sandboxConfig: () => sources.sandbox ?? loadConfig(SandboxConfig, environment),
    store: () => loadConfig(MediaStoreConfig, environment),
    server: () => loadConfig(ServerConfig, environment),
  });
  const { UPSTREAMS_FILE: file } = text;
  const renderPool = new RenderPool();
  const sandbox = { config: sandboxConfig, renderPool, now: Date.now };
  const { fetcher = new SafeFetcher({ maxRedirects: 0, allow: store.MEDIA_FETCH_ALLOW }) } = sources;
  const { BALANCE_UNIT, PUBLIC_BASE_URL } = server;
  const { balanceUnit = BALANCE_UNIT, isReached = PUBLIC_BASE_URL !== undefined } = sources;
  return {
    fromFile:
      file === undefined ? undefined : readMediaUpstreams(upstreamsText(file), file, environment, { isReached }),
    sandbox: { ...PLAIN_PLACE, upstream: new SandboxUpstream(sandbox), models: undefined },
    open: (entry) => {
      const costs = new VendorCosts(entry.costs, balanceUnit);
      const place = { ...placeOf(entry), costOfUnit: costs.ofUnit.bind(costs) };
      return entry.protocol === 'sandbox'
        ? { ...place, upstream: new SandboxUpstream(sandbox, entry, costs) }
        : { ...place, upstream: openHttp(entry, MEDIA_CODECS[entry.protocol], { ...sources, fetcher, costs }) };
    },
    close: async () => {
      await Promise.all([renderPool.close(), fetcher.close()]);
    },
  };
}

/** @throws ConfigError with one line for each mistake: file, line, field, rule. */
export const readMediaUpstreams = (
  text: string,
  file: string,
  environment?: Environment,
  reach?: CallbackReach,
): readonly MediaUpstreamEntry[] | undefined =>
  readUpstreamList({ text, file, environment }, 'media_upstreams', (sent) => checkMediaUpstreamsFile(sent, reach));

const PLAIN_PLACE = {
  priority: 0,
  weight: 1,
  onlyAccounts: new Set<string>(),
  limits: {},
  lostCalls: 'fail',
} as const satisfies Partial<ConfiguredMediaUpstream>;

function placeOf(entry: MediaUpstreamEntry): Omit<ConfiguredMediaUpstream, 'upstream'> {
  const { running, starts_per_minute: startsPerMinute, checks_per_second: checksPerSecond } = entry.limits;
  const models = servedModels(entry);
  return {
    models: new Set(models.keys()),
    vendorModel: (model) => models.get(model)?.name,
    priority: entry.priority,
    weight: entry.weight,
    onlyAccounts: new Set(entry.only_accounts),
    limits: { running, startsPerMinute, checksPerSecond, allowance: allowanceOf(entry.limits) },
    lostCalls: entry.lost_calls,
    callbacks: entry.callbacks,
    healthName: `${entry.vendor_account ?? entry.id}@${accessFingerprint(keyOf(entry), entry.base_url)}`,
  };
}

function allowanceOf(limits: MediaLimitsEntry): MediaAllowance | undefined {
  const { orders_per_day: ordersPerDay, orders_per_month: ordersPerMonth } = limits;
  const { spend_per_day: day, spend_per_month: month } = limits;
  if ([ordersPerDay, ordersPerMonth, day, month].every((limit) => limit === undefined)) return undefined;
  return { ordersPerDay, ordersPerMonth, spendPerDayMicros: microsOf(day), spendPerMonthMicros: microsOf(month) };
}

function openHttp(
  entry: MediaUpstreamEntry,
  protocol: MediaCodec,
  { fetcher, costs, canLink = false, onExchange }: HttpSources,
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
    costs,
    canLink,
    onExchange,
    traits: entry.model_traits as TraitSettings | undefined,
    region: codec.regionOf?.(entry),
  });
}

type HttpSources = MediaUpstreamSources & { readonly fetcher: SafeFetcher; readonly costs: VendorCosts };
