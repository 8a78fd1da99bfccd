import {
  type EmbeddingsCall,
  type EmbeddingsProvider,
  type EmbeddingsReply,
  GatewayError,
  isJsonObject,
  type JsonObject,
  type StopSignal,
} from '#contracts';
import { ReplyTooLarge } from '../../http/whole-reply.js';
import { parseReply } from './codec-failures.js';
import type { HttpUpstream } from './http-text-provider.js';
import { refusedByUpstream, upstreamRequestId, withoutSecrets } from './refused-by-upstream.js';
import { reportedUsage, withCharge } from './reported-usage.js';
import { replaceTopLevelString } from './top-level-field.js';
import { MAX_REPLY_BYTES, readText, type RequestBytes, type UpstreamReply } from './upstream-http.js';
import { withoutCharges } from './without-charges.js';

/** Longer replies are not parsed whole, which would stop the process: vectors pass through unread. In characters. */
const PARSED_WHOLE = 256 * 1024;
/** How far from either end the list of vectors begins and ends, in characters. */
const LONGEST_AROUND = 64 * 1024;
const LIST_BEGINS = /"data"\s*:\s*\[/;
/** Vectors stand in objects that hold no lists of objects. */
const LIST_ENDS = /\}\s*(?=\])/;

/** An upstream's embeddings: `answer` is its object, of a long one with no vectors in `data`. */
interface ReadEmbeddings {
  readonly answer: JsonObject;
  /** Its JSON, under the caller's name of the model and without what the vendor charged. */
  readonly rewritten: string;
}

/** @throws GatewayError `upstream_error` when it is no JSON object. */
export function readEmbeddings(json: string, upstreamModel: string, model: string): ReadEmbeddings {
  return (
    (json.length > PARSED_WHOLE && readAround(json, upstreamModel, model)) || readWhole(json, upstreamModel, model)
  );
}

function readWhole(json: string, upstreamModel: string, model: string): ReadEmbeddings {
  const answer = parseReply(json);
  const shown = withoutCharges(json);
  if (upstreamModel === model) return { answer, rewritten: shown };
  const bytes = Buffer.concat(replaceTopLevelString(Buffer.from(shown), 'model', model));
  return { answer, rewritten: bytes.toString('utf8') };
}

/** Reads what stands around the vectors. Undefined when the reply is not laid out so. */
function readAround(json: string, upstreamModel: string, model: string): ReadEmbeddings | undefined {
  const begins = LIST_BEGINS.exec(json.slice(0, LONGEST_AROUND));
  const ends = LIST_ENDS.exec(json.slice(-LONGEST_AROUND));
  if (!begins || !ends) return undefined;
  const start = begins.index + begins[0].length;
  const end = json.length - LONGEST_AROUND + ends.index + ends[0].length;
  try {
    const around = json.slice(0, start) + json.slice(end);
    const answer = parseReply(around);
    if (typeof answer['model'] !== 'string') return undefined;
    const shown = withoutCharges(around);
    if (upstreamModel === model && shown === around) return { answer, rewritten: json };
    const { data: _empty, ...rest }: JsonObject = { ...parseReply(shown), model };
    return { answer, rewritten: `${JSON.stringify(rest).slice(0, -1)},"data":[${json.slice(start, end)}]}` };
  } catch {
    return undefined;
  }
}

/** The parts of a refusal's body that are worth reading, in bytes. */
const MAX_REFUSAL_BYTES = 64 * 1024;
const PATH = '/embeddings';

const named = (json: Buffer, from: string, to: string): RequestBytes =>
  from === to ? [json] : replaceTopLevelString(json, 'model', to);

/** A vendor's embeddings, at the same address and with the same key as its texts. */
export class HttpEmbeddings implements EmbeddingsProvider {
  constructor(private readonly upstream: HttpUpstream) {}

  get id(): string {
    return this.upstream.id;
  }

  async embed({ body, model, upstreamModel }: EmbeddingsCall, signal: StopSignal): Promise<EmbeddingsReply> {
    const { http, codec, key } = this.upstream;
    const bytes = named(Buffer.from(body.buffer, body.byteOffset, body.byteLength), model, upstreamModel);
    const reply = await http.post(PATH, codec.headers(key), bytes, signal);
    if (reply.status !== 200) {
      const refusal = refusedByUpstream(reply, await readText(reply, signal, MAX_REFUSAL_BYTES), {
        upstreamModel,
        sent: bytes,
      });
      throw withoutSecrets(
        refusal,
        [key, http.host].filter((secret) => secret !== undefined),
      );
    }
    const id = upstreamRequestId(reply);
    const json = await textUnlessTooLarge(reply, signal);
    if (json === null) return { json, usage: undefined, upstreamRequestId: id };
    const { answer, rewritten } = readEmbeddings(json, upstreamModel, model);
    if (!Array.isArray(answer['data']))
      throw new GatewayError('upstream_error', 'The upstream sent something that is not part of its protocol.');
    return {
      json: rewritten,
      usage: usageIn(answer),
      upstreamRequestId: id,
    };
  }
}

/** Null for a reply that is larger than is read: the vendor has done its work all the same. */
async function textUnlessTooLarge(reply: UpstreamReply, signal: StopSignal): Promise<string | null> {
  try {
    return (await readText(reply, signal, MAX_REPLY_BYTES)).trim();
  } catch (error) {
    if (error instanceof ReplyTooLarge) return null;
    throw error;
  }
}

function usageIn({ usage }: JsonObject): EmbeddingsReply['usage'] {
  if (!isJsonObject(usage)) return undefined;
  const read = reportedUsage({
    inputTokens: usage['prompt_tokens'] ?? usage['total_tokens'],
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    imageInputTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
  });
  return read && read.inputTokens > 0 ? withCharge(read, usage) : undefined;
}
