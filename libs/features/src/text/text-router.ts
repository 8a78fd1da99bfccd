import {
  type ErrorCode,
  ERRORS,
  GatewayError,
  type StopSignal,
  type TextCall,
  type TextReply,
  type TextStyle,
  type UnpricedUse,
} from '#contracts';
import { type Admission, asAbortSignal, backoffMs, type Clock, FREELY, logger, observeUpstream } from '#platform';
import { type TextRoute, type TextUpstream, type TextUpstreams, toolsLeftOut } from '../upstreams/text-upstreams.js';
import type { TextCalls } from './text-calls.js';
import type { TextCircuits } from '../upstreams/upstream-circuits.js';

const log = logger('text');

/** How often a request goes round the upstreams at most. */
const MAX_ROUNDS = 4;

/** Pauses between rounds: from 0.2 to 0.4 s, doubling each time. */
const PAUSE = { firstMs: 300, longestMs: 2_400, spread: 1 / 3 };

/** A reply and the upstream it came from. */
export interface RoutedReply {
  readonly reply: TextReply;
  readonly upstreamId: string;
  /** The tools that the caller offered and the upstream was asked without, by name. */
  readonly toolsLeftOut: readonly string[];
  /**
   * To be called when a streamed reply has ended in a way that says something of its upstream: well, or by a failure. Not of one
   * that its caller left, or kept waiting.
   */
  readonly ended: (failure?: GatewayError) => void;
}

/** Everything of a call that does not depend on the upstream, and whose it is. */
export interface RoutableCall extends Omit<TextCall, 'upstreamModel'> {
  readonly accountId: string;
  /** The id of the upstream that is asked first, because it knows the conversation already. */
  readonly goesOnAt?: string | undefined;
}

/** Upstreams that failed this request already: however often it asks, each counts one failure. */
type Failed = Set<TextUpstream>;

/** One upstream that is asked for a request. */
interface Attempt {
  readonly route: TextRoute;
  readonly admission: Admission;
  readonly failed: Failed;
  readonly signal: StopSignal;
}

const firstAt = (routes: readonly TextRoute[], upstreamId: string | undefined): readonly TextRoute[] => {
  const known =
    upstreamId === undefined ? undefined : routes.find(({ upstream }) => upstream.provider.id === upstreamId);
  return known ? [known, ...routes.filter((route) => route !== known)] : routes;
};

/** Failures that are answered with a time to wait. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['rate_limit_exceeded', 'overloaded']);

/** Counts how calls ended. */
export type CallCount = Pick<TextCalls, 'ended'>;
const UNCOUNTED: CallCount = { ended: () => undefined };

/** A failure that is the upstream's own. */
const faultIn = (failure: GatewayError | undefined): GatewayError | undefined =>
  failure && ERRORS[failure.code].retryable ? failure : undefined;

/** A request that no other upstream would take either is refused at once. */
const mayWorkElsewhere = (error: GatewayError): boolean =>
  ERRORS[error.code].retryable || error.code === 'unsupported_parameter';

/**
 * Finds an upstream for a request. On a failure before the first byte the next one is asked, and when all have failed
 * they are asked again after a pause, within a budget of time. Upstreams that keep failing cool down.
 */
export class TextRouter {
  readonly #upstreams: TextUpstreams;
  readonly #circuits: TextCircuits;
  readonly #clock: Clock;
  readonly #retryBudgetMs: number;
  readonly #calls: CallCount;

  /**
   * @param retryBudgetMs how long a request may look for an upstream that works.
   * @param calls records how each call ended.
   */
  constructor(
    upstreams: TextUpstreams,
    circuits: TextCircuits,
    clock: Clock,
    retryBudgetMs: number,
    calls: CallCount = UNCOUNTED,
  ) {
    this.#retryBudgetMs = retryBudgetMs;
    this.#calls = calls;
    this.#upstreams = upstreams;
    this.#circuits = circuits;
    this.#clock = clock;
  }

  /** @throws GatewayError of the last upstream asked; what `signal` throws when the caller has left. */
  async call(call: RoutableCall, signal: StopSignal): Promise<RoutedReply> {
    const failed: Failed = new Set();
    const deadline = this.#clock.elapsedMs() + this.#retryBudgetMs;
    for (let round = 1; ; round += 1) {
      const outcome = await this.#askAll(call, failed, signal);
      if (!(outcome instanceof GatewayError)) return outcome;
      const pause = this.#pause(outcome, round);
      const late = this.#clock.elapsedMs() + pause > deadline;
      if (round === MAX_ROUNDS || late || !ERRORS[outcome.code].retryable) throw this.#timed(outcome, call);
      await this.#clock.sleep(pause, asAbortSignal(signal));
    }
  }

  /**
   * The routes there are for a request, before money is held.
   *
   * @throws GatewayError `model_not_found`, `unavailable`, or `unsupported_parameter` for what no upstream allows.
   */
  expectModel(model: string, uses: readonly UnpricedUse[] = [], style?: TextStyle): readonly TextRoute[] {
    return this.#upstreams.routes(model, uses, style);
  }

  #pause(error: GatewayError, round: number): number {
    return error.retryAfterMs ?? backoffMs(PAUSE, round - 1);
  }

  /** Asks each upstream of the model once; the error of the last when none replied. */
  async #askAll(call: RoutableCall, failed: Failed, signal: StopSignal): Promise<RoutedReply | GatewayError> {
    const routes = firstAt(this.#upstreams.routes(call.model, call.unpriced, call.style), call.goesOnAt);
    let last: GatewayError | undefined;
    for (const route of routes) {
      const admission = await this.#circuits.admits(route.upstream, call.accountId);
      if (!admission) continue;
      // The upstream may have been exchanged since the routes were chosen.
      const current = this.#upstreams.current(route, call.model, call.unpriced, call.style);
      if (current !== route) this.#circuits.release(admission);
      if (!current) continue;
      const outcome = await this.#ask(call, {
        route: current,
        admission: current === route ? admission : FREELY,
        failed,
        signal,
      });
      if (!(outcome instanceof GatewayError)) return outcome;
      last = outcome;
    }
    return last ?? this.#allCoolingDown(routes, call.accountId);
  }

  #allCoolingDown(routes: readonly TextRoute[], accountId: string): GatewayError {
    return new GatewayError(
      'overloaded',
      'Every upstream of this model is cooling down after failures; try again soon.',
      {
        retryAfterMs: this.#soonestMs(routes, accountId),
      },
    );
  }

  /** Both are answered with a time to wait: where the upstream named none, it is the cooldown that follows. */
  #timed(error: GatewayError, { model, accountId }: RoutableCall): GatewayError {
    if (!PASSING.has(error.code) || error.retryAfterMs !== undefined) return error;
    const retryAfterMs = this.#soonestMs(this.#upstreams.routes(model), accountId);
    return new GatewayError(error.code, error.publicMessage, { log: error.message, cause: error, retryAfterMs });
  }

  /** How long until the account may ask one of these again, in milliseconds, a second at least. */
  #soonestMs(routes: readonly TextRoute[], accountId: string): number {
    return Math.max(1_000, Math.min(...routes.map(({ upstream }) => this.#circuits.coolingMs(upstream, accountId))));
  }

  /** @throws what is no failure of the upstream: a request no upstream would accept, or the caller's leaving. */
  async #ask(call: RoutableCall, { route, admission, failed, signal }: Attempt): Promise<RoutedReply | GatewayError> {
    const { upstream } = route;
    const { accountId } = call;
    const { provider } = upstream;
    const startedAt = performance.now();
    try {
      const reply = await observeUpstream(provider.id, 'text', () =>
        provider.call({ upstreamModel: route.upstreamModel, ...call }, signal),
      );
      const tookMs = performance.now() - startedAt;
      this.#circuits.recordSuccess(upstream, accountId, admission);
      if (!call.stream) this.#completed(upstream, accountId, tookMs);
      return {
        reply,
        upstreamId: provider.id,
        toolsLeftOut: call.unpriced ? toolsLeftOut(route, call.unpriced, call.style) : [],
        ended: (failure) => {
          if (call.stream) this.#calls.ended(provider.id, tookMs, faultIn(failure));
          this.#ended(upstream, accountId, failed, failure);
        },
      };
    } catch (error) {
      const isUpstreamsFault = !signal.aborted && error instanceof GatewayError && ERRORS[error.code].retryable;
      if (isUpstreamsFault) this.#calls.ended(provider.id, performance.now() - startedAt, error);
      if (isUpstreamsFault && !failed.has(upstream)) {
        failed.add(upstream);
        this.#circuits.recordFailure(upstream, accountId, error, admission);
      } else this.#circuits.release(admission);
      if (signal.aborted || !(error instanceof GatewayError) || !mayWorkElsewhere(error)) throw error;
      logFailure(call, provider.id, error);
      return error;
    }
  }

  #completed(upstream: TextUpstream, accountId: string, tookMs: number): void {
    this.#circuits.recordCompletion(upstream, accountId);
    this.#calls.ended(upstream.provider.id, tookMs);
  }

  /** A reply that breaks in its middle is a failure like one that never begins. */
  #ended(upstream: TextUpstream, accountId: string, failed: Failed, failure: GatewayError | undefined): void {
    if (!failure) this.#circuits.recordCompletion(upstream, accountId);
    else if (ERRORS[failure.code].retryable && !failed.has(upstream)) {
      failed.add(upstream);
      this.#circuits.recordFailure(upstream, accountId, failure);
    }
  }
}

const logFailure = (
  { requestId, model }: RoutableCall,
  upstream: string,
  { code, message: detail }: GatewayError,
): void => log.warn('upstream.failed', { requestId, upstream, model, code, detail });
