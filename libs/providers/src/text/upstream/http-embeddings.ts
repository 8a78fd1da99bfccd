import type { EmbeddingsCall, EmbeddingsProvider, EmbeddingsReply, JsonObject, StopSignal } from '#contracts';
import { GatewayError, isJsonObject } from '#contracts';
import { readEmbeddings } from './read-embeddings.js';
import type { HttpUpstream } from './http-text-provider.js';
import { refusedByUpstream, upstreamRequestId } from './refused-by-upstream.js';
import { reportedUsage } from './reported-usage.js';
import { replaceTopLevelString } from './top-level-field.js';
import { ReplyTooLarge } from '../../http/reply-too-large.js';
import { MAX_REPLY_BYTES, readText, type RequestBytes, type UpstreamReply } from './upstream-http.js';
import { withoutSecrets } from './without-secrets.js';

/** The parts of a refusal's body that are worth reading, in bytes. */
const MAX_REFUSAL_BYTES = 64 * 1024;
const PATH = '/embeddings';

const named = (json: Buffer, from: string, to: string): RequestBytes =>
  from === to ? [json] : replaceTopLevelString(json, 'model', to);

/** A vendor's embeddings, at the same address and with the same key as its texts. */
export class HttpEmbeddings implements EmbeddingsProvider {
  readonly #upstream: HttpUpstream;

  constructor(upstream: HttpUpstream) {
    this.#upstream = upstream;
  }

  get id(): string {
    return this.#upstream.id;
  }

  async embed({ body, model, upstreamModel }: EmbeddingsCall, signal: StopSignal): Promise<EmbeddingsReply> {
    const { http, codec, key } = this.#upstream;
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
  return read && read.inputTokens > 0 ? read : undefined;
}
