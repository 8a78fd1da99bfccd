import { Injectable } from '@nestjs/common';
import { ERRORS, type EmbeddingsReply, GatewayError, type StopSignal, textModelElsewhere } from '#contracts';
import { type Admission, beginVendorCall, logger, observeUpstream, signals } from '#platform';
import type { ModelCosts } from '#providers';
import { TextCalls } from '../text-calls.js';
import { weightedOrder } from '../../upstreams/upstream-choice.js';
import { type TextUpstream, TextUpstreams } from '../../upstreams/text-upstreams.js';
import { TextCircuits } from '../../upstreams/upstream-circuits.js';

const log = logger('embeddings');

/** An upstream that offers a model of embeddings, under the name it has there. */
interface EmbeddingsRoute {
  readonly upstream: TextUpstream;
  readonly upstreamModel: string;
}

/** A request that any upstream may answer. */
export interface RoutableEmbeddings {
  readonly requestId: string;
  readonly accountId: string;
  /** Undefined: the book alone, or nothing is charged. */
  readonly priceList?: string | undefined;
  readonly model: string;
  readonly body: Uint8Array;
}

/** A reply and the upstream it came from. */
export interface RoutedEmbeddings {
  readonly reply: EmbeddingsReply;
  readonly upstreamId: string;
  /** What the model costs there; undefined where nothing is known of it. */
  readonly costs: ModelCosts | undefined;
}

/**
 * Finds an upstream for embeddings: by priority, one after the other, each asked once. Failures count for the same health
 * as those of texts.
 */
@Injectable()
export class EmbeddingsRouter {
  private readonly upstreams: TextUpstreams;
  private readonly circuits: TextCircuits;
  private readonly calls: TextCalls;

  constructor(upstreams: TextUpstreams, circuits: TextCircuits, calls: TextCalls) {
    this.upstreams = upstreams;
    this.circuits = circuits;
    this.calls = calls;
  }

  /**
   * @throws GatewayError `model_not_found` where no upstream offers embeddings under this name, `unavailable` where those that do sell
   * none at the prices of the list.
   */
  expectModel(model: string, priceList?: string): void {
    if (this.routes(model, priceList).length > 0) return;
    if (this.upstreams.embeddingModels().includes(model))
      throw new GatewayError('unavailable', `No upstream serves the model "${model}" at the moment.`, {
        param: 'model',
      });
    const elsewhere = textModelElsewhere(model);
    const message =
      elsewhere ??
      `No upstream makes embeddings with a model "${model.slice(0, 64)}". GET /v1/models lists those there are.`;
    throw new GatewayError('model_not_found', message, { param: 'model' });
  }

  /** @throws GatewayError of the last upstream asked; what `signal` throws when it aborts. */
  async call(call: RoutableEmbeddings, signal: StopSignal): Promise<RoutedEmbeddings> {
    let last: GatewayError | undefined;
    for (const route of this.routes(call.model, call.priceList)) {
      const admission = await this.circuits.admits(route.upstream, call.accountId);
      if (!admission) continue;
      const outcome = await this.ask(call, route, admission, signal);
      if (!(outcome instanceof GatewayError)) return outcome;
      last = outcome;
    }
    throw (
      last ??
      new GatewayError('overloaded', 'Every upstream of this model is cooling down after failures; try again soon.')
    );
  }

  private routes(model: string, priceList?: string): readonly EmbeddingsRoute[] {
    const routes = this.upstreams.all.flatMap((upstream) => {
      const upstreamModel = upstream.embeddings?.models.get(model);
      const isOffered = upstreamModel !== undefined && upstream.weight > 0;
      return isOffered && !this.upstreams.leavesOut(upstream, model, priceList) ? [{ upstream, upstreamModel }] : [];
    });
    return weightedOrder(routes, ({ upstream }) => upstream);
  }

  private async ask(
    call: RoutableEmbeddings,
    { upstream, upstreamModel }: EmbeddingsRoute,
    admission: Admission,
    signal: StopSignal,
  ): Promise<RoutedEmbeddings | GatewayError> {
    const { embeddings: offered } = upstream;
    // It may have been exchanged while its admission was asked for.
    if (!offered || !this.upstreams.all.includes(upstream)) return this.gone(admission);
    const { accountId } = call;
    const { provider } = offered;
    const startedAt = performance.now();
    const vendorCall = beginVendorCall(() => ({
      upstream: provider.id,
      protocol: upstream.provider.protocol,
      model: upstreamModel,
      stream: false,
      operation: 'embeddings',
    }));
    try {
      const ask = (): Promise<EmbeddingsReply> => provider.embed({ upstreamModel, ...call }, signal);
      const reply = await observeUpstream(provider.id, 'text', ask, undefined, vendorCall);
      vendorCall?.end(reply.usage, 'completed');
      this.circuits.recordSuccess(upstream, accountId, admission);
      this.circuits.recordCompletion(upstream, accountId);
      this.calls.ended(provider.id, performance.now() - startedAt);
      return { reply, upstreamId: provider.id, costs: upstream.costs?.of(call.model) };
    } catch (error) {
      vendorCall?.fail(error, signal.aborted);
      const isFailure = !signal.aborted && error instanceof GatewayError && ERRORS[error.code].retryable;
      if (isFailure) {
        this.calls.ended(provider.id, performance.now() - startedAt, error);
        this.circuits.recordFailure(upstream, accountId, error, admission);
      } else this.circuits.release(admission);
      if (!isFailure) throw error;
      signals.textFailedOver.inc({ upstream: provider.id, model: call.model });
      log.warn('upstream.failed', { requestId: call.requestId, upstream: offered.provider.id, code: error.code });
      return error;
    }
  }

  private gone(admission: Admission): GatewayError {
    this.circuits.release(admission);
    return new GatewayError('overloaded', 'The upstreams of this model have just changed; try again.');
  }
}
