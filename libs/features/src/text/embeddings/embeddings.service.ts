import { Injectable } from '@nestjs/common';
import {
  EMBEDDINGS_FIELDS,
  type EmbeddingsInput,
  type EmbeddingsRequest,
  GatewayError,
  NO_USAGE,
  type StopSignal,
  type TextUsage,
} from '#contracts';
import { jsonBytes, systemClock } from '#platform';
import { DEFAULT_MODEL_LIMITS, loadTokenCounter, type TokenCounter } from '#providers';
import type { Attribution } from '../../billing/usage/attribution.js';
import { addLogFields } from '../../observability/request-facts.js';
import { tokensHeldFor } from '../estimate-tokens.js';
import { replyBounds, reportExcess, withinBounds } from '../text-metering.js';
import { Settlements } from '../settlements.js';
import type { TextSettlement } from '../text-billing.js';
import { type LedgerHold, LedgerTextBilling } from '../ledger-text-billing.js';
import { EmbeddingsRouter, type RoutedEmbeddings } from './embeddings-router.js';

/** A checked request. */
export interface EmbeddingsOrder {
  readonly requestId: string;
  /** Of a request that may be repeated. */
  readonly idempotencyKey?: string | undefined;
  readonly caller: {
    readonly accountId: string;
    readonly apiKeyId: string;
    /** Undefined: the book alone. */
    readonly priceList?: string | undefined;
    /** Empty: every model is allowed. */
    readonly allowedModels: readonly string[];
  };
  readonly body: EmbeddingsRequest;
  /** The body as it was sent. */
  readonly bytes: Uint8Array | undefined;
  /** Who and what it is for. */
  readonly attribution?: Attribution | undefined;
  /** Takes the upstream's JSON. @throws GatewayError: nobody can use it, and it costs nothing. */
  readonly take?: (json: string) => void;
}

/**
 * Passes requests for embeddings on to upstreams that offer them: money held for the input, the usage charged. A request
 * whose caller leaves is finished, and paid for, all the same.
 */
@Injectable()
export class EmbeddingsService {
  private readonly settlements = new Settlements(systemClock);

  constructor(
    private readonly router: EmbeddingsRouter,
    private readonly billing: LedgerTextBilling,
  ) {}

  /**
   * The upstream's own JSON with `code` at the top; `data` is the interface's own list.
   *
   * @throws GatewayError what `take` throws; 4xx for the request's own faults, `request_too_large` for too many vectors (then charged), 402 without money, 5xx when no upstream could reply; what `signal` throws when it aborts, then uncharged.
   */
  async embed(order: EmbeddingsOrder, signal: StopSignal): Promise<string> {
    const { requestId, caller, body } = order;
    const { model, input } = body;
    const { accountId, apiKeyId } = caller;
    this.expectAllowed(order);
    const hold = await this.billing.hold({
      requestId,
      idempotencyKey: order.idempotencyKey,
      accountId,
      apiKeyId,
      priceList: caller.priceList,
      model,
      inputTokens: mostTokens(input),
      outputTokens: 0,
      isInputOnly: true,
      attribution: order.attribution,
    });
    const startedAt = performance.now();
    const settle = (status: TextSettlement['status'], usage?: TextUsage, routed?: RoutedEmbeddings): void =>
      this.settle(hold, {
        status,
        usage,
        upstream: routed?.upstreamId,
        upstreamRequestId: routed?.reply.upstreamRequestId,
        durationMs: Math.round(performance.now() - startedAt),
        cost: usage && routed?.costs?.of(routed.reply.usage ?? usage, Date.now()),
      });
    let json: string | null;
    try {
      const call = { requestId, accountId, priceList: caller.priceList, model, body: await sentOn(order) };
      const routed = await this.router.call(call, signal);
      addLogFields(requestId, { upstream: routed.upstreamId });
      if (routed.reply.json !== null) order.take?.(routed.reply.json);
      settle('completed', possible(order, routed) ?? (await this.counted(input)), routed);
      ({ json } = routed.reply);
    } catch (error) {
      this.billing.noteFailure(accountId, error);
      settle('failed');
      throw error;
    }
    if (json === null) throw tooLarge();
    return `{"code":200,${json.slice(json.indexOf('{') + 1)}`;
  }

  /** Resolves when what has been answered is settled as well. */
  close(): Promise<void> {
    return this.settlements.drain();
  }

  /** @throws GatewayError for a model that may not be used, or that no upstream offers; no money is held yet. */
  private expectAllowed({ caller: { allowedModels, priceList }, body: { model } }: EmbeddingsOrder): void {
    if (allowedModels.length > 0 && !allowedModels.includes(model))
      throw new GatewayError('model_not_allowed', `This API key may not use the model "${model}".`, { param: 'model' });
    this.router.expectModel(model, priceList);
  }

  private settle(hold: LedgerHold, settlement: TextSettlement): void {
    this.settlements.add(hold.requestId, () => this.billing.settle(hold, settlement));
  }

  private async counted(input: EmbeddingsInput): Promise<TextUsage> {
    const counter = await loadTokenCounter();
    return { ...NO_USAGE, inputTokens: await countedTokens(input, counter) };
  }
}

/** The usage that the upstream reported, no larger than the texts can be. */
function possible({ requestId, body }: EmbeddingsOrder, { reply, upstreamId }: RoutedEmbeddings) {
  const { usage } = reply;
  if (!usage) return undefined;
  const asked = { inputTokens: mostTokens(body.input), replies: 0, limits: DEFAULT_MODEL_LIMITS, isOpenEnded: false };
  const charged = withinBounds(usage, replyBounds(asked));
  if (charged !== usage) reportExcess({ requestId, upstream: upstreamId }, usage, charged);
  return charged;
}

/** The vendor made the vectors, and they are paid for. */
const tooLarge = (): GatewayError =>
  new GatewayError(
    'request_too_large',
    'The vectors of this input are larger than the gateway passes on, and were charged; send fewer texts at once.',
    { param: 'input' },
  );

const mostTokens = (input: EmbeddingsInput): number =>
  entriesOf(input).reduce<number>(
    (sum, entry) => sum + (typeof entry === 'string' ? tokensHeldFor(entry) : tokensIn(entry)),
    0,
  );

async function countedTokens(input: EmbeddingsInput, counter: TokenCounter): Promise<number> {
  let tokens = 0;
  for (const entry of entriesOf(input))
    tokens += typeof entry === 'string' ? await counter.count(entry) : tokensIn(entry);
  return tokens;
}

const entriesOf = (input: EmbeddingsInput): Exclude<EmbeddingsInput, string> =>
  typeof input === 'string' ? [input] : input;

const tokensIn = (entry: number | readonly number[]): number => (typeof entry === 'number' ? 1 : entry.length);

/** The body's own bytes, without fields of unknown cost. */
async function sentOn({ body, bytes }: EmbeddingsOrder): Promise<Uint8Array> {
  const fields = Object.entries(body);
  if (bytes && fields.every(([name]) => EMBEDDINGS_FIELDS.has(name))) return bytes;
  return Buffer.concat(await jsonBytes(Object.fromEntries(fields.filter(([name]) => EMBEDDINGS_FIELDS.has(name)))));
}
