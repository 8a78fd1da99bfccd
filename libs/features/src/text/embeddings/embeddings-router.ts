import { Injectable } from '@nestjs/common';
import { ERRORS, type EmbeddingsReply, GatewayError, type StopSignal, textModelElsewhere } from '#contracts';
import { logger, observeUpstream } from '#platform';
import { TextCalls } from '../text-calls.js';
import { weightedOrder } from '../../upstreams/upstream-choice.js';
import { type TextUpstream, TextUpstreams } from '../../upstreams/text-upstreams.js';
import { type Admission, UpstreamHealth } from '../../upstreams/upstream-health.js';

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
  readonly model: string;
  readonly body: Uint8Array;
}

/** A reply and the upstream it came from. */
export interface RoutedEmbeddings {
  readonly reply: EmbeddingsReply;
  readonly upstreamId: string;
}

/**
 * Finds an upstream for embeddings: by priority, one after the other, each asked once. Failures count for the same health
 * as those of texts.
 */
@Injectable()
export class EmbeddingsRouter {
  readonly #upstreams: TextUpstreams;
  readonly #health: UpstreamHealth;
  readonly #calls: TextCalls;

  constructor(upstreams: TextUpstreams, health: UpstreamHealth, calls: TextCalls) {
    this.#upstreams = upstreams;
    this.#health = health;
    this.#calls = calls;
  }

  /** @throws GatewayError `model_not_found` where no upstream offers embeddings under this name. */
  expectModel(model: string): void {
    if (this.#routes(model).length > 0) return;
    const elsewhere = textModelElsewhere(model);
    const message =
      elsewhere ??
      `No upstream makes embeddings with a model "${model.slice(0, 64)}". GET /v1/models lists those there are.`;
    throw new GatewayError('model_not_found', message, { param: 'model' });
  }

  /** @throws GatewayError of the last upstream asked; what `signal` throws when it aborts. */
  async call(call: RoutableEmbeddings, signal: StopSignal): Promise<RoutedEmbeddings> {
    let last: GatewayError | undefined;
    for (const route of this.#routes(call.model)) {
      const admission = await this.#health.admits(route.upstream, call.accountId);
      if (!admission) continue;
      const outcome = await this.#ask(call, route, admission, signal);
      if (!(outcome instanceof GatewayError)) return outcome;
      last = outcome;
    }
    throw (
      last ??
      new GatewayError('overloaded', 'Every upstream of this model is cooling down after failures; try again soon.')
    );
  }

  #routes(model: string): readonly EmbeddingsRoute[] {
    const routes = this.#upstreams.all.flatMap((upstream) => {
      const upstreamModel = upstream.embeddings?.models.get(model);
      return upstreamModel === undefined || upstream.weight === 0 ? [] : [{ upstream, upstreamModel }];
    });
    return weightedOrder(routes, ({ upstream }) => upstream);
  }

  async #ask(
    call: RoutableEmbeddings,
    { upstream, upstreamModel }: EmbeddingsRoute,
    admission: Admission,
    signal: StopSignal,
  ): Promise<RoutedEmbeddings | GatewayError> {
    const { embeddings: offered } = upstream;
    // It may have been exchanged while its admission was asked for.
    if (!offered || !this.#upstreams.all.includes(upstream)) return this.#gone(admission);
    const { accountId } = call;
    const { provider } = offered;
    const startedAt = performance.now();
    try {
      const reply = await observeUpstream(provider.id, 'text', () =>
        provider.embed({ upstreamModel, ...call }, signal),
      );
      this.#health.answered(upstream, accountId, admission);
      this.#health.completed(upstream, accountId);
      this.#calls.ended(provider.id, performance.now() - startedAt);
      return { reply, upstreamId: provider.id };
    } catch (error) {
      const isFailure = !signal.aborted && error instanceof GatewayError && ERRORS[error.code].retryable;
      if (isFailure) {
        this.#calls.ended(provider.id, performance.now() - startedAt, error);
        this.#health.failed(upstream, accountId, error, admission);
      } else this.#health.released(admission);
      if (!isFailure) throw error;
      log.warn('upstream.failed', { requestId: call.requestId, upstream: offered.provider.id, code: error.code });
      return error;
    }
  }

  #gone(admission: Admission): GatewayError {
    this.#health.released(admission);
    return new GatewayError('overloaded', 'The upstreams of this model have just changed; try again.');
  }
}
