import { Inject, Injectable } from '@nestjs/common';
import { GatewayError, isJsonObject } from '#contracts';
import { jsonBytes, parseBounded } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { PriceBook } from '../../billing/prices/price-book.js';
import type { EmbeddingOrder, TextEmbedder } from '../../file-search/vectors/passage-vectors.js';
import { TextUpstreams } from '../../upstreams/text-upstreams.js';
import { EmbeddingsRouter } from './embeddings-router.js';
import { EmbeddingsService } from './embeddings.service.js';

/** The largest vectors that are taken: more numbers than any model has. */
const DIMENSIONS_MAX = 16_000;

/** Makes vectors with the upstreams that offer embeddings, each request on the bill of an account like one of its own. */
@Injectable()
export class MeteredEmbedder implements TextEmbedder {
  private readonly settings: Platform['config']['files'];
  private readonly closing = new AbortController();

  constructor(
    @Inject(PLATFORM) { config }: Pick<Platform, 'config'>,
    private readonly upstreams: TextUpstreams,
    private readonly router: EmbeddingsRouter,
    private readonly service: EmbeddingsService,
    private readonly prices: PriceBook,
  ) {
    this.settings = config.files;
  }

  get model(): string | undefined {
    const { FILE_EMBEDDING_MODEL: model } = this.settings;
    return model !== undefined && this.upstreams.embeddingModels().includes(model) ? model : undefined;
  }

  /** Waits for no vendor any more: what was asked for fails, uncharged. */
  close(): void {
    this.closing.abort();
  }

  async embed({ requestId, accountId, apiKeyId, texts }: EmbeddingOrder): Promise<readonly Float32Array[]> {
    const { FILE_EMBEDDING_MODEL: model = '', FILE_EMBEDDINGS_FREE: isFree } = this.settings;
    const body = { model, input: [...texts], encoding_format: 'base64' } as const;
    if (isFree) {
      const order = { requestId, accountId, model, body: Buffer.concat(await jsonBytes(body)) };
      return vectorsIn(await this.unpaid(order), texts.length);
    }
    const priceList = await this.prices.listOf(accountId);
    const caller = { accountId, apiKeyId, priceList, allowedModels: [] };
    let vectors: readonly Float32Array[] = [];
    const take = (json: string): void => void (vectors = vectorsIn(json, texts.length));
    await this.service.embed({ requestId, caller, body, bytes: undefined, take }, this.closing.signal);
    return vectors;
  }

  private async unpaid(call: Parameters<EmbeddingsRouter['call']>[0]): Promise<string> {
    const { reply } = await this.router.call(call, this.closing.signal);
    if (reply.json === null) throw unusable('is larger than is read');
    return reply.json;
  }
}

const unusable = (what: string): GatewayError =>
  new GatewayError('upstream_error', 'The upstream sent no vectors that can be compared.', {
    log: `embeddings: the answer ${what}`,
  });

/** In the order of the texts, whatever order they came in. */
function vectorsIn(json: string, wanted: number): readonly Float32Array[] {
  const { data } = parseBounded(json) as { readonly data?: unknown };
  const entries: readonly unknown[] = Array.isArray(data) ? data : [];
  if (entries.length !== wanted) throw unusable(`has ${entries.length} vectors for ${wanted} texts`);
  const vectors: Float32Array[] = [];
  for (const [place, entry] of entries.entries()) {
    if (!isJsonObject(entry)) throw unusable('has an entry that is no object');
    const { index = place, embedding } = entry;
    if (typeof index !== 'number') throw unusable('has an entry without its place');
    vectors[index] = ofLengthOne(numbersIn(embedding));
  }
  const [first] = vectors;
  const isWhole =
    first && vectors.length === wanted && Array.from(vectors).every((each) => each?.length === first.length);
  if (!isWhole) throw unusable('has vectors of several lengths, or two for one text');
  return vectors;
}

/** Bytes in base64, or numbers from servers that know no other form. */
function numbersIn(sent: unknown): Float32Array {
  const numbers =
    typeof sent === 'string'
      ? new Float32Array(Uint8Array.from(Buffer.from(sent, 'base64')).buffer.slice(0, floatBytes(sent)))
      : Float32Array.from(Array.isArray(sent) ? (sent as number[]) : []);
  if (numbers.length === 0 || numbers.length > DIMENSIONS_MAX || !numbers.every(Number.isFinite))
    throw unusable('has a vector that is none');
  return numbers;
}

const floatBytes = (base64: string): number => Math.floor(Buffer.byteLength(base64, 'base64') / 4) * 4;

function ofLengthOne(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
