import {
  GatewayError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type TextRequest,
  type Verified,
  type VerifiedText,
} from '#contracts';
import { jsonBytes, parseBounded } from '#platform';
import type { ProtocolCodec, ProtocolOptions } from './protocol-codec.js';
import { refusedByUpstream, upstreamRequestId, withoutSecrets } from './refused-by-upstream.js';
import type { WholeReply } from '../../http/whole-reply.js';
import type { UpstreamHttp } from './upstream-http.js';

/** The longest that one call of a proof takes, in milliseconds. */
const VERIFY_MS = 15_000;

/** The longest list of models that is read, in bytes. */
const LIST_BYTES = 4 * 1024 * 1024;

/** Vendors that page their lists give so many at once. */
const LISTS: Readonly<Record<ProtocolCodec['protocol'], string>> = {
  chat: '/models',
  responses: '/models',
  messages: '/models?limit=1000',
  gemini: '/models?pageSize=1000',
};

/** Statuses of a server that has no list of models. */
const NO_LIST: ReadonlySet<number> = new Set([404, 405, 501]);

/** The least that a model can be asked: some tokens of a reply to two letters. */
export const LEAST_REQUEST: TextRequest = {
  model: '',
  stream: false,
  system: [],
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  tools: [],
  hostedTools: [],
  toolChoice: { mode: 'auto' },
  parallelToolCalls: true,
  format: { type: 'text' },
  stopSequences: [],
  maxOutputTokens: 16,
};

interface VerifiedUpstream {
  readonly codec: ProtocolCodec;
  readonly http: UpstreamHttp;
  readonly key: string | undefined;
  readonly options: ProtocolOptions;
  /** What may not be shown of what the vendor says. */
  readonly secrets: readonly string[];
  /** The upstream's name of a model, which is asked where the server lists none. */
  readonly model: string | undefined;
}

/**
 * Proves address and key by the vendor's list of models, which is free; where it has none, by the least reply of one model. Never throws
 * for what the vendor says.
 */
export async function verifyUpstream(upstream: VerifiedUpstream, signal: AbortSignal): Promise<VerifiedText> {
  const { codec, http, key, options, model } = upstream;
  const headers = codec.headers(key);
  const limits = { signal, accept: () => LIST_BYTES, timeoutMs: VERIFY_MS };
  try {
    const list = await http.read(LISTS[codec.protocol], headers, limits);
    if (!NO_LIST.has(list.status) || model === undefined) return { ...judged(list, upstream), by: 'list' };
    const body = await jsonBytes(codec.write(LEAST_REQUEST, model, options));
    const reply = await http.exchange(codec.path(model, false), headers, body, limits);
    return { ...judged(reply, upstream), listed: undefined, by: 'reply' };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GatewayError)) throw error;
    const { message } = withoutSecrets(error, upstream.secrets);
    return {
      verified: { ok: false, problem: 'away', vendor: { message } },
      listed: undefined,
      requestId: undefined,
      by: 'list',
    };
  }
}

/**
 * The vendor's list of models, as it came.
 *
 * @throws GatewayError `upstream_error`: it has none, or could not be asked.
 */
export async function readModels(upstream: VerifiedUpstream, signal: AbortSignal): Promise<string> {
  const { codec, http, key, secrets } = upstream;
  const limits = { signal, accept: () => LIST_BYTES, timeoutMs: VERIFY_MS };
  try {
    const reply = await http.read(LISTS[codec.protocol], codec.headers(key), limits);
    if (reply.status === 200) return reply.text;
    const { publicMessage } = withoutSecrets(refusedByUpstream(reply, reply.text, undefined), secrets);
    throw new GatewayError('upstream_error', `The list of models cannot be read: ${publicMessage}`, {
      param: 'upstream',
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof GatewayError ? withoutSecrets(error, secrets) : error;
  }
}

function judged(reply: WholeReply, { secrets }: VerifiedUpstream): Omit<VerifiedText, 'by'> {
  const { status, text } = reply;
  const requestId = upstreamRequestId(reply);
  const body = objectIn(text);
  if (status === 200 && body) return { verified: { ok: true }, listed: idsIn(body), requestId };
  const { upstreamCode, publicMessage } = withoutSecrets(refusedByUpstream(reply, text, undefined), secrets);
  const vendor = { status, message: publicMessage, ...(upstreamCode !== undefined && { code: upstreamCode }) };
  return { verified: { ok: false, problem: problemOf(status), vendor }, listed: undefined, requestId };
}

type Problem = Extract<Verified, { readonly ok: false }>['problem'];
const PROBLEMS: Readonly<Record<number, Problem>> = {
  401: 'wrong_key',
  402: 'no_balance',
  403: 'not_opened',
  429: 'busy',
};
const problemOf = (status: number): Problem => PROBLEMS[status] ?? (status >= 500 ? 'away' : 'not_this_protocol');

function objectIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = parseBounded(text);
    return isJsonObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** The names of models that a list has: `data` of most protocols, `models` of gemini, where each stands behind `models/`. */
function idsIn({ data, models }: JsonObject): readonly string[] | undefined {
  const list: JsonValue | undefined = data ?? models;
  if (!Array.isArray(list)) return undefined;
  return (list as readonly JsonValue[]).flatMap((entry) => {
    const id = isJsonObject(entry) ? (entry['id'] ?? entry['name']) : undefined;
    return typeof id === 'string' ? [id.replace(/^models\//, '')] : [];
  });
}
