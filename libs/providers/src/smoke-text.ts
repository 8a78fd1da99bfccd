import { stringify } from 'yaml';
import {
  GatewayError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ModelTraits,
  NO_USAGE,
  parseMicros,
  type TextProvider,
  type TextUsage,
} from '#contracts';
import { ConfigError, type Environment, jsonBytes, loadConfig, ServerConfig } from '#platform';
import { type SmokeOptions, VERIFY_REMEDIES } from './media/smoke/run-smoke.js';
import { openTextUpstreams, PROTOCOL_CODECS } from './text/open-text-upstreams.js';
import { TextConfig } from './text/text.config.js';
import { TextCosts } from './text/text-costs.js';
import {
  askedBody,
  isAsHeld,
  toldValue,
  type TraitAnswer,
  type TraitQuestion,
  traitQuestions,
} from './text/traits/trait-questions.js';
import type { UpstreamEntry } from './text/upstream-entry.js';
import { parseReply } from './text/upstream/codec-failures.js';
import { eventData } from './text/upstream/server-sent-events.js';
import { refusedByUpstream, withoutSecrets } from './text/upstream/refused-by-upstream.js';
import { UpstreamHttp } from './text/upstream/upstream-http.js';
import { LEAST_REQUEST } from './text/upstream/verify-upstream.js';

const REPLY_BYTES = 1024 * 1024;
const REPLY_MS = 120_000;
const SHOWN_CHARACTERS = 200;

/** More than any question takes of input, in tokens, whatever the tokenizer and however its vendor puts functions into words. */
const BYTES_PER_TOKEN = 2;
const HIDDEN_INPUT = 500;
/** The highest limit of output among the questions that ask for no limit. */
const MOST_OUTPUT = 1_040;

/** A vendor's answer to one request, and its words. */
interface Outcome {
  readonly outcome: 'taken' | 'refused' | 'unknown';
  readonly words: string;
}

type Say = (line: string) => void;
type Protocol = Exclude<UpstreamEntry['protocol'], 'sandbox'>;

interface Place {
  readonly entry: UpstreamEntry;
  readonly protocol: Protocol;
  readonly provider: TextProvider;
  readonly models: readonly string[];
  readonly say: Say;
}

/** What may still be spent, and how questions are put. */
interface Asking {
  readonly http: UpstreamHttp;
  readonly costs: TextCosts;
  leftMicros: bigint;
}

/**
 * Proves that a text upstream of the file works, and with `traits` asks it for what is held of its models, within `spend`. Undefined
 * where the file has no such text upstream. 0: all is well, 1: something failed or differs, 2: the configuration is wrong.
 */
export async function runTextSmoke(
  options: SmokeOptions,
  report: { say: Say },
  environment?: Environment,
): Promise<0 | 1 | 2 | undefined> {
  const { say } = report;
  try {
    const text = Object.assign(new TextConfig(), { UPSTREAMS_FILE: options.file });
    const opened = openTextUpstreams(text, environment);
    const entry = opened.fromFile?.find(({ id }) => id === options.upstream);
    if (!entry) return undefined;
    const { protocol } = entry;
    if (protocol === 'sandbox') {
      say(`${entry.id} is the sandbox: there is nobody to ask.`);
      return 0;
    }
    const models = Object.keys(entry.models).filter((model) => options.model === undefined || model === options.model);
    if (models.length === 0) {
      say(`${entry.id} has no model ${options.model ?? ''}; it has ${Object.keys(entry.models).join(', ')}.`);
      return 2;
    }
    const open = opened.open(entry);
    const place: Place = { entry, protocol, provider: open.provider, models, say };
    try {
      return await smoke(place, options, environment);
    } finally {
      await open.close();
    }
  } catch (error) {
    if (error instanceof ConfigError) error.problems.forEach((problem) => say(problem));
    else say(error instanceof Error ? error.message : String(error));
    return 2;
  }
}

async function smoke(place: Place, options: SmokeOptions, environment: Environment | undefined): Promise<0 | 1 | 2> {
  const { entry, models, say } = place;
  if (options.dryRun) {
    for (const model of models)
      for (const { what, fields } of traitQuestions(place.protocol, heldOf(place, model)).flat())
        say(`${model}: ${what}\n${JSON.stringify(askedBody(leastBody(place, model), fields), null, 2)}`);
    return 0;
  }
  if (!(await isVerified(place))) return 1;
  if (options.traits !== true) return 0;
  if (options.spend === undefined) {
    say('--traits needs --spend: each question that the vendor takes costs some tokens.');
    return 2;
  }
  const { timeouts } = entry;
  const http = new UpstreamHttp(entry.base_url, {
    connectMs: timeouts.connect_seconds * 1000,
    firstByteMs: timeouts.first_byte_seconds * 1000,
    idleMs: timeouts.idle_seconds * 1000,
  });
  const { BALANCE_UNIT: unit } = loadConfig(ServerConfig, environment);
  try {
    return await askForTraits(place, {
      http,
      costs: new TextCosts(entry, unit),
      leftMicros: parseMicros(options.spend),
    });
  } finally {
    await http.close();
  }
}

async function isVerified({ provider, entry: { id, models }, say }: Place): Promise<boolean> {
  const found = await provider.verify?.(Object.values(models)[0], new AbortController().signal);
  if (!found || found.verified.ok) {
    say(`${id}: the key works.`);
    return true;
  }
  const { problem, vendor } = found.verified;
  say(
    `${id}: ${problem} ${[vendor?.status, vendor?.code, vendor?.message].filter((word) => word !== undefined).join(' ')}`,
  );
  say(`  ${VERIFY_REMEDIES[problem]}`);
  return false;
}

const nameOf = ({ entry }: Place, model: string): string => entry.models[model] ?? model;

function heldOf(place: Place, model: string): ModelTraits {
  const held = place.provider.traitsOf?.(nameOf(place, model));
  if (!held) throw new Error(`nothing is held of ${model}`);
  return held;
}

function leastBody(place: Place, model: string): JsonObject {
  const name = nameOf(place, model);
  return PROTOCOL_CODECS[place.protocol].write(LEAST_REQUEST, name, { traits: () => heldOf(place, model) });
}

/** Asks for what is held of each model, and prints what differs as `model_traits` of the entry. */
async function askForTraits(place: Place, asking: Asking): Promise<0 | 1 | 2> {
  const { entry, models, say } = place;
  const unpriced = models.filter((model) => mostOf(asking, model, '', MOST_OUTPUT) === undefined);
  if (unpriced.length > 0) {
    say(`Nothing was asked: the entry has no costs for ${unpriced.join(', ')}.`);
    return 2;
  }
  const patch: Record<string, JsonObject> = {};
  const listed = await listedModels(place);
  let isClear = true;
  for (const model of models) {
    const least = await ask(place, asking, model, { fields: {} });
    if (least.outcome !== 'taken') {
      say(`${model}: not asked, since the least request is ${least.outcome} (${least.words})`);
      isClear = false;
      continue;
    }
    const { told, isAllTold } = await toldBy(place, asking, model);
    isClear &&= isAllTold;
    const traits = { ...told, ...readsAnother(place, listed, model) };
    if (Object.keys(traits).length > 0) patch[model] = traits;
  }
  if (Object.keys(patch).length === 0) return isClear ? 0 : 1;
  say(`What differs, as lines of the entry ${entry.id}:\n${stringify({ model_traits: patch }).trimEnd()}`);
  return 1;
}

/** The fields in which vendors' lists say how much a model reads, in tokens. */
const READS = [
  'inputTokenLimit',
  'max_input_tokens',
  'context_length',
  'context_window',
  'max_context_length',
  'max_model_len',
];

const withoutPlace = (name: unknown): unknown => (typeof name === 'string' ? name.replace(/^models\//, '') : name);

/** What the vendor's list says of each model; nothing where it has none. */
async function listedModels({ provider }: Place): Promise<readonly JsonObject[]> {
  try {
    const list = parseReply((await provider.readModels?.(new AbortController().signal)) ?? '{}');
    const models = list['data'] ?? list['models'];
    return Array.isArray(models) ? (models as readonly JsonValue[]).filter((model) => isJsonObject(model)) : [];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [];
  }
}

/** How much a model reads by its vendor's list, where that is another number than the one held: a prompt so long would cost too much. */
function readsAnother(place: Place, listed: readonly JsonObject[], model: string): JsonObject {
  const name = withoutPlace(nameOf(place, model));
  const entry = listed.find(({ id, name: named }) => withoutPlace(id ?? named) === name) ?? {};
  const told = READS.map((field) => entry[field]).find((count) => Number.isSafeInteger(count) && Number(count) > 0);
  const { context_tokens: held } = heldOf(place, model);
  const found =
    told === undefined
      ? "not known (the vendor's list does not say)"
      : told === held
        ? `${held}, as held`
        : `DIFFERS: ${Number(told)} in the vendor's list`;
  place.say(`${model} context_tokens: ${found}`);
  return told === undefined || told === held ? {} : { context_tokens: told };
}

/** What answers tell of a model that differs from what is held of it. */
interface Told {
  readonly told: JsonObject;
  /** False: something differs, and no answer says what holds instead. */
  readonly isAllTold: boolean;
}

async function toldBy(place: Place, asking: Asking, model: string): Promise<Told> {
  const { protocol, say } = place;
  const held = heldOf(place, model);
  const told: Record<string, string | string[]> = {};
  let isAllTold = true;
  for (const questions of traitQuestions(protocol, held)) {
    const answers: TraitAnswer[] = [];
    for (const question of questions) {
      const { outcome, words } = await ask(place, asking, model, question);
      const about = `${model} ${question.trait}: ${question.what}`;
      if (outcome === 'unknown') {
        say(`${about}: not known (${words})`);
        continue;
      }
      const answer = { question, isTaken: outcome === 'taken' };
      answers.push(answer);
      const isExpected = isAsHeld(answer, held);
      say(
        `${about}: ${isExpected ? `${outcome}, as held` : `DIFFERS: ${outcome}`}${words === '' ? '' : ` (${words})`}`,
      );
    }
    // Of some answers alone another value may follow than from all.
    const [{ trait } = { trait: undefined }] = questions;
    if (trait === undefined || answers.length < questions.length) continue;
    const value = toldValue(answers, held);
    if (value !== undefined) told[trait] = typeof value === 'string' ? value : [...value];
    else if (answers.some((answer) => !isAsHeld(answer, held))) {
      isAllTold = false;
      say(`${model} ${trait}: the answers do not tell its value; the vendor's words may`);
    }
  }
  return { told, isAllTold };
}

const costOf = ({ costs }: Asking, model: string, usage: TextUsage): bigint | undefined =>
  costs.of(model)?.of(usage, Date.now())?.micros;

const mostOf = (asking: Asking, model: string, body: string, outputTokens: number): bigint | undefined =>
  costOf(asking, model, {
    ...NO_USAGE,
    inputTokens: Math.ceil(body.length / BYTES_PER_TOKEN) + HIDDEN_INPUT,
    outputTokens,
    source: 'held',
  });

type Put = Pick<TraitQuestion, 'fields' | 'most' | 'isStreamed'>;

async function ask(place: Place, asking: Asking, model: string, question: Put): Promise<Outcome> {
  const { entry, protocol } = place;
  const codec = PROTOCOL_CODECS[protocol];
  const name = nameOf(place, model);
  const { fields, most: output = MOST_OUTPUT, isStreamed = false } = question;
  const body = askedBody(leastBody(place, model), fields);
  const most = mostOf(asking, model, JSON.stringify(body), output) ?? 0n;
  if (most > asking.leftMicros) return { outcome: 'unknown', words: 'it may cost more than is left of --spend' };
  const secrets = [entry.key, asking.http.host].filter((secret) => secret !== undefined);
  const limits = { signal: new AbortController().signal, accept: () => REPLY_BYTES, timeoutMs: REPLY_MS };
  try {
    const sent = await jsonBytes(body);
    const reply = await asking.http.exchange(codec.path(name, isStreamed), codec.headers(entry.key), sent, limits);
    if (reply.status === 200) {
      const usage = usageIn(codec, reply.text, isStreamed);
      asking.leftMicros -= (usage && costOf(asking, model, usage)) ?? most;
      return { outcome: 'taken', words: '' };
    }
    const refused = withoutSecrets(refusedByUpstream(reply, reply.text, { upstreamModel: name, sent }), secrets);
    const words = `${reply.status} ${refused.publicMessage}`.slice(0, SHOWN_CHARACTERS);
    return { outcome: reply.status === 400 || reply.status === 422 ? 'refused' : 'unknown', words };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // It may have been done, and charged.
    asking.leftMicros -= most;
    return { outcome: 'unknown', words: withoutSecrets(error, secrets).publicMessage };
  }
}

/** Undefined where the reply cannot be read, which says nothing of what was taken: so few tokens are seldom a whole one. */
function usageIn(codec: (typeof PROTOCOL_CODECS)[Protocol], text: string, isStreamed: boolean): TextUsage | undefined {
  try {
    if (isStreamed) {
      const decoder = codec.decoder();
      for (const data of eventData(text)) decoder.push(data);
      return decoder.reportedUsage();
    }
    return codec.read(parseReply(text)).find((event) => event.type === 'finish')?.usage;
  } catch {
    return undefined;
  }
}
