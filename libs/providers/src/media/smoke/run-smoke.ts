import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { stringify } from 'yaml';
import {
  type CallFacts,
  isJsonObject,
  type JsonValue,
  MediaFailure,
  type MediaOrder,
  type OperationState,
  parseMicros,
  type VendorCall,
  type Verified,
} from '#contracts';
import { ConfigError, type Environment, type SafeFetcher } from '#platform';
import { TextConfig } from '../../text/text.config.js';
import type { MediaCodec } from '../http/media-codec.js';
import type { Exchange } from '../http/vendor-exchanges.js';
import { MEDIA_CODECS } from '../media-protocols.js';
import { MediaUpstreamEntry, servedModels } from '../media-upstream-entry.js';
import { type ConfiguredMediaUpstream, openMediaUpstreams } from '../open-media-upstreams.js';
import { type HeldTrait, MEDIA_TRAITS, mediaTraitsOf, type TraitSettings } from '../traits/media-traits.js';
import { cheapestOrders, type CheapOrder } from './cheapest-orders.js';
import { askTraits, type ProbeResult, type TraitProbe } from './trait-probes.js';

const MOST_TEXT = 2_000;
/** A link up to its query or fragment, wherever it is in a text, and what follows. */
const SIGNED_PART = /(\bhttps?:\/\/[^\s"'?#]{1,2000})[?#][^\s"']*/gi;

/** An exchange fit for a fixture: no headers, no signatures of links, no files, nothing long. */
const redacted = ({ request, reply }: Exchange): Record<string, unknown> => ({
  request: { method: request.method, path: request.path, body: request.body && plain(request.body) },
  reply: { status: reply.status, body: reply.body === undefined ? null : plain(reply.body) },
});

function plain(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(plain);
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
  if (typeof value !== 'string') return value;
  if (value.startsWith('data:')) return 'data:[file]';
  const unsigned = value.replace(SIGNED_PART, '$1');
  return unsigned.length > MOST_TEXT ? `${unsigned.slice(0, MOST_TEXT)}…` : unsigned;
}

/** What `npm run smoke` was asked. */
export interface SmokeOptions {
  readonly file: string;
  readonly upstream: string;
  readonly model?: string | undefined;
  /** The most that may be spent, in the unit of `costs`; absent: nothing is ordered. */
  readonly spend?: string | undefined;
  /** Whether redacted replies are handed to `record`. */
  readonly record?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  /** Whether the vendor is asked for what is known of its models, instead of for one order of each. */
  readonly traits?: boolean | undefined;
}

interface SmokeReport {
  say(line: string): void;
  record(name: string, exchange: unknown): void;
}

interface SmokeTools {
  readonly wait: (ms: number) => Promise<unknown>;
  /** Reaches tokens and buckets; closed when all is done. Absent: only public addresses are reached. */
  readonly fetcher?: SafeFetcher;
}

/** 0: all is well. 1: something failed. 2: the configuration is wrong. */
type SmokeExit = 0 | 1 | 2;

/** The longest a video may take, in milliseconds. */
const MOST_MS = 30 * 60_000;

interface Around {
  readonly report: SmokeReport;
  readonly tools: SmokeTools;
  readonly entry: MediaUpstreamEntry;
  readonly lifted: (model: string, field: string) => ConfiguredMediaUpstream['upstream'];
}

/** Proves that an upstream works: its entry, its key, and with `spend` one order of each model. */
export async function runSmoke(
  options: SmokeOptions,
  report: SmokeReport,
  environment?: Environment,
  tools: SmokeTools = { wait: setTimeout },
): Promise<SmokeExit> {
  let count = 0;
  const onExchange = (exchange: Exchange): void => {
    count += 1;
    if (options.record) report.record(`${options.upstream}-${count}`, redacted(exchange));
  };
  try {
    readFileSync(options.file);
    const text = Object.assign(new TextConfig(), { UPSTREAMS_FILE: options.file });
    const opened = openMediaUpstreams(
      { text, onExchange, isReached: true, ...(tools.fetcher && { fetcher: tools.fetcher }) },
      environment,
    );
    const entry = opened.fromFile?.find(({ id }) => id === options.upstream);
    if (!entry) {
      report.say(`${options.file} has no media upstream "${options.upstream}".`);
      await opened.close();
      return 2;
    }
    const configured = opened.open(entry);
    // The same without the rules of a field, for orders that one of them forbids.
    const lifted = (model: string, field: string): ConfiguredMediaUpstream['upstream'] =>
      opened.open(Object.assign(new MediaUpstreamEntry(), entry, { model_traits: { [model]: { [field]: [] } } }))
        .upstream;
    try {
      return await smoke(configured, options, { report, tools, entry, lifted });
    } finally {
      await configured.upstream.close();
      await opened.close();
    }
  } catch (error) {
    if (error instanceof ConfigError) error.problems.forEach((problem) => report.say(problem));
    else report.say(error instanceof Error ? error.message : String(error));
    return 2;
  }
}

async function smoke(configured: ConfiguredMediaUpstream, options: SmokeOptions, around: Around): Promise<SmokeExit> {
  const { upstream } = configured;
  const { report } = around;
  const spendMicros = options.spend === undefined ? undefined : parseMicros(options.spend);
  const orders = cheapestOrders(configured, options.model);
  if (orders.length === 0) {
    report.say(
      `${upstream.id} does not make the model ${options.model ?? ''}; it makes ${[...(configured.models ?? [])].join(', ')}.`,
    );
    return 2;
  }
  if (options.dryRun) {
    for (const { order } of orders)
      report.say(JSON.stringify({ model: order.model, ...upstream.preview?.(order) }, null, 2));
    return 0;
  }
  const verified = await upstream.verify({ signal: new AbortController().signal, note: noteTo(report) });
  report.say(
    verified.ok ? `${upstream.id}: the key works.` : `${upstream.id}: ${verified.problem} ${wordsOf(verified.vendor)}`,
  );
  if (verified.ok && verified.note !== undefined) report.say(`  ${verified.note}`);
  if (!verified.ok) {
    report.say(`  ${VERIFY_REMEDIES[verified.problem]}`);
    return 1;
  }
  if (verified.clockSkewMs !== undefined) report.say(`The clocks differ by ${verified.clockSkewMs} ms.`);
  if (options.traits === true) {
    if (spendMicros !== undefined) return askForTraits(configured, options, spendMicros, around);
    report.say('--traits needs --spend: what the vendor takes although the table says otherwise, it may charge.');
    return 2;
  }
  return spendMicros === undefined ? 0 : spend(configured, orders, spendMicros, around);
}

/** Asks for what is held of each model, and prints what differs as `model_traits` of the entry. */
async function askForTraits(
  { upstream, models }: ConfiguredMediaUpstream,
  { model: only }: SmokeOptions,
  mostMicros: bigint,
  around: Around,
): Promise<SmokeExit> {
  const { report, entry, lifted } = around;
  const offer = async ({ model, field, order }: TraitProbe, leftMicros: bigint): Promise<ProbeResult> => {
    const planned = lifted(model, field);
    const plan = planned.plan(order);
    await planned.close();
    if ('cannot' in plan) return { outcome: 'unasked', why: plan.cannot };
    const { cost } = plan;
    if (cost === undefined) return { outcome: 'unasked', why: 'the entry has no cost for it' };
    if (cost.micros > leftMicros) return { outcome: 'unasked', why: 'it may cost more than is left of --spend' };
    const call = callFor(order, plan.ticket, report);
    try {
      const started = await upstream.start(order, call);
      if (started.kind === 'operation') await upstream.cancel?.(started.operation, call).catch(() => undefined);
      return { outcome: 'taken', micros: cost.micros };
    } catch (error) {
      if (!(error instanceof MediaFailure)) throw error;
      const words = `${error.kind} ${wordsOf(error.vendor)}`;
      // What may have been taken may be charged.
      if (error.kind === 'ambiguous') return { outcome: 'unasked', why: words, micros: cost.micros };
      const isAnswer = error.kind === 'unsupported' || error.reason === 'parameter_refused';
      return isAnswer ? { outcome: 'refused', why: words } : { outcome: 'unasked', why: words };
    }
  };
  const asked = [...(models ?? [])].filter((model) => only === undefined || model === only);
  const patch = await askTraits(
    asked.map((model) => ({ model, held: heldTraits(entry, model) })),
    { offer, mostMicros, say: (line) => report.say(line) },
  );
  if (Object.keys(patch).length === 0) return 0;
  report.say(`What differs, as lines of the entry ${upstream.id}:\n${stringify({ model_traits: patch }).trimEnd()}`);
  return 1;
}

/** What is held of a model by the table and the entry. */
function heldTraits(entry: MediaUpstreamEntry, model: string): readonly HeldTrait[] {
  const { protocol } = entry;
  const name = servedModels(entry).get(model)?.name ?? model;
  const codec: MediaCodec | undefined = protocol === 'sandbox' ? undefined : MEDIA_CODECS[protocol];
  const region = codec?.regionOf?.(entry);
  return mediaTraitsOf(
    MEDIA_TRAITS,
    { protocol, model, name, region },
    entry.model_traits as TraitSettings | undefined,
  );
}

/** Orders only when it is known that all of it together costs no more than was allowed. */
async function spend(
  { upstream }: ConfiguredMediaUpstream,
  orders: readonly CheapOrder[],
  mostMicros: bigint,
  around: Around,
): Promise<SmokeExit> {
  const { report } = around;
  const unpriced = orders.filter(({ cost }) => cost === undefined).map(({ order }) => order.model);
  if (unpriced.length > 0) {
    report.say(`Nothing was ordered: the entry has no costs for ${unpriced.join(', ')}.`);
    return 2;
  }
  const total = orders.reduce((sum, { cost }) => sum + (cost?.micros ?? 0n), 0n);
  report.say(`${orders.length} ${orders.length === 1 ? 'order' : 'orders'}, ${Number(total) / 1e6} together.`);
  if (total > mostMicros) {
    report.say('Nothing was ordered: it would cost more than --spend allows.');
    return 2;
  }
  let exit: SmokeExit = 0;
  for (const { order } of orders) {
    try {
      await makeOne(upstream, order, around);
    } catch (error) {
      exit = 1;
      report.say(
        `${order.model}: ${error instanceof MediaFailure ? `${error.kind} ${wordsOf(error.vendor)}` : String(error)}`,
      );
    }
  }
  return exit;
}

async function makeOne(
  upstream: ConfiguredMediaUpstream['upstream'],
  order: MediaOrder,
  { report, tools }: Around,
): Promise<void> {
  const plan = upstream.plan(order);
  if ('cannot' in plan) throw new Error(plan.cannot);
  const call = callFor(order, plan.ticket, report);
  const startedAt = Date.now();
  const elapsed = (): string => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
  const started = await upstream.start(order, call);
  report.say(`${order.model}: taken after ${elapsed()}`);
  let state: OperationState = { state: 'pending' };
  if (started.kind === 'finished') state = { state: 'succeeded', outputs: started.outputs };
  else
    while (state.state === 'pending') {
      if (Date.now() - startedAt > MOST_MS) throw new Error('it is not done after half an hour');
      await tools.wait(upstream.traits.checkEveryMs);
      state = await checked(() => upstream.check(started.operation, call));
    }
  if (state.state !== 'succeeded') throw new Error(state.state === 'failed' ? state.publicReason : 'it is not done');
  report.say(`${order.model}: done after ${elapsed()}`);
  for (const { role, contentType, seconds } of state.outputs)
    report.say(`  ${role}: ${contentType}${seconds === undefined ? '' : `, ${seconds} s`}`);
}

/** A question that was not answered is put again: what was ordered is made and paid for all the same. */
async function checked(check: () => Promise<OperationState>): Promise<OperationState> {
  try {
    return await check();
  } catch (error) {
    const mayPass = error instanceof MediaFailure && (error.kind === 'busy' || error.kind === 'unavailable');
    if (!mayPass) throw error;
    return { state: 'pending' };
  }
}

const callFor = (order: MediaOrder, ticket: VendorCall['ticket'], report: SmokeReport): VendorCall => ({
  signal: new AbortController().signal,
  ticket,
  note: noteTo(report),
  files: {
    get: (param) => {
      const reference = order.references.find((candidate) => candidate.param === param);
      if (!reference) throw new RangeError(`the order refers to no file at ${param}`);
      const inline = (): Promise<never> => Promise.reject(new Error('a smoke order hands files over by link'));
      return { reference, url: () => Promise.resolve(reference.source), bytes: inline };
    },
  },
  spool: {
    keep: async (ordinal, bytes) => {
      let count = 0;
      for await (const chunk of bytes as AsyncIterable<Buffer>) count += chunk.length;
      report.say(`  file ${ordinal}: ${count} bytes in the reply`);
      return `kept:${ordinal}`;
    },
  },
});

const noteTo =
  (report: SmokeReport) =>
  ({ requestId, cost }: CallFacts): void => {
    if (requestId !== undefined) report.say(`  request ${requestId}`);
    if (cost !== undefined) report.say(`  cost ${Number(cost.micros) / 1e6} ${cost.unit}`);
  };

const wordsOf = (
  vendor: { readonly status?: number; readonly code?: string; readonly message?: string } = {},
): string => [vendor.status, vendor.code, vendor.message].filter((word) => word !== undefined).join(' ');

/** What a free call that needs the key may find wrong. */
type VerifyProblem = Exclude<Verified, { readonly ok: true }>['problem'];

/** What operators check first. */
export const VERIFY_REMEDIES = {
  wrong_key: 'The vendor rejects the key. Keys belong to one region or site: does base_url match the key?',
  no_balance: 'The key is right, but the vendor account has no balance left.',
  not_opened:
    'The vendor knows the key but denies access: is the service enabled for the account, and does the key have the right role?',
  busy: 'The vendor is rate-limiting this account at the moment: try again later.',
  away: 'There was no readable response from base_url: is the address right, and can this machine reach it?',
  not_this_protocol:
    'The server at base_url does not speak this protocol: is the address complete, with nothing added?',
} as const satisfies Record<VerifyProblem, string>;
