import {
  type ErrorCode,
  ERRORS,
  GatewayError,
  type NativeBody,
  type StopSignal,
  type TextCall,
  type TextReply,
  type TextStyle,
  type UnpricedUse,
} from '#contracts';
import {
  type Admission,
  asAbortSignal,
  backoffMs,
  beginVendorCall,
  type Clock,
  FREELY,
  logger,
  observeUpstream,
  signals,
  type VendorCall,
} from '#platform';
import { type TextRoute, type TextUpstream, type TextUpstreams, toolsLeftOut } from '../upstreams/text-upstreams.js';
import type { ModelCosts } from '#providers';
import type { AskedConversation, Conversations, ConversationRouting } from './conversations.js';
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
  /** What the model costs there; undefined where nothing is known of it. */
  readonly costs?: ModelCosts | undefined;
  /** Whose prompt cache has the conversation now, and who can read its proofs of reasoning. */
  readonly vendorAccount: string;
  /** The tools that the caller offered and the upstream was asked without, by name. */
  readonly toolsLeftOut: readonly string[];
  /**
   * To be called when a streamed reply has ended in a way that says something of its upstream: well, or by a failure. Not of one
   * that its caller left, or kept waiting.
   */
  readonly ended: (failure?: GatewayError) => void;
  /** To be ended when the usage of the reply is known; undefined where nothing is traced. */
  readonly vendorCall?: VendorCall | undefined;
  /** How the conversation got there, for the next request of the same answer. */
  readonly routing?: ConversationRouting | undefined;
}

/** Everything of a call that does not depend on the upstream, and whose it is. */
export interface RoutableCall extends Omit<TextCall, 'native' | 'upstreamModel'> {
  readonly accountId: string;
  /** The price list of the account; absent: the book. */
  readonly priceList?: string | undefined;
  /**
   * As `TextCall.native`; of proofs that do not say who made them, those up to and with `provenFrom` are left out as well.
   */
  readonly native: (account: string | undefined, provenFrom?: string) => NativeBody;
  /** Absent: it belongs to none, or to that of `goesOnAfter`. */
  readonly conversation?: AskedConversation | undefined;
  /** The session of an agent, for traces. */
  readonly session?: string | undefined;
  /** The output limit that it is sent on with, for traces. */
  readonly maxTokens?: number | undefined;
  /** An earlier reply of the same answer: its upstream is asked first, and the conversation moves if another answers. */
  readonly goesOnAfter?: Pick<RoutedReply, 'upstreamId' | 'routing'> | undefined;
}

/** Upstreams that failed this request already, and whether it is any use to ask them again: however often it asks, each counts one failure. */
type Failed = Map<TextUpstream, { readonly isHopeless: boolean }>;

/** One upstream that is asked for a request. */
interface Attempt {
  readonly route: TextRoute;
  readonly admission: Admission;
  readonly failed: Failed;
  readonly routing: ConversationRouting | undefined;
  readonly signal: StopSignal;
}

const firstAt = (routes: readonly TextRoute[], upstreamId: string | undefined): readonly TextRoute[] => {
  const known =
    upstreamId === undefined ? undefined : routes.find(({ upstream }) => upstream.provider.id === upstreamId);
  return known ? [known, ...routes.filter((route) => route !== known)] : routes;
};

const ALL_AWAY = 'Every upstream of this model is cooling down after failures; try again soon.';
const AWAY = 'The upstream that this conversation cannot leave is not available at the moment; try again soon.';

/** Failures that are answered with a time to wait. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['upstream_rate_limited', 'overloaded']);

export type CallCount = Pick<TextCalls, 'ended'>;
const UNCOUNTED: CallCount = { ended: () => undefined };

/** A failure that is the upstream's own. */
const faultIn = (failure: GatewayError | undefined): GatewayError | undefined =>
  failure && ERRORS[failure.code].retryable ? failure : undefined;

/** Of a refusal for what is asked for, as vendors word it with the status of one for who asks. */
const JUDGED = /flagged|moderation|content|policy|safety|prohibited/i;

/**
 * A request that no other upstream would take either is refused at once. Who may not ask is the operator's account more often than
 * not: another account may, and where none does, the vendor's own word is passed on.
 */
const mayWorkElsewhere = ({ code, publicMessage, upstreamCode = '' }: GatewayError): boolean =>
  ERRORS[code].retryable ||
  code === 'unsupported_parameter' ||
  (code === 'permission_denied' && !JUDGED.test(`${publicMessage} ${upstreamCode}`));

/**
 * Finds an upstream for a request. On a failure before the first byte the next one is asked, and when all have failed
 * they are asked again after a pause, within a budget of time. Upstreams that keep failing cool down.
 */
export class TextRouter {
  /**
   * @param retryBudgetMs how long a request may look for an upstream that works.
   * @param calls records how each call ended.
   * @param conversations absent: every request draws its upstream by chance.
   */
  constructor(
    private readonly upstreams: TextUpstreams,
    private readonly circuits: TextCircuits,
    private readonly clock: Clock,
    private readonly retryBudgetMs: number,
    private readonly calls: CallCount = UNCOUNTED,
    private readonly conversations?: Conversations,
  ) {}

  /** @throws GatewayError of the last upstream asked; what `signal` throws when the caller has left. */
  async call(call: RoutableCall, signal: StopSignal): Promise<RoutedReply> {
    const failed: Failed = new Map();
    const routing = call.goesOnAfter?.routing ?? (call.conversation && (await this.routingOf(call, call.conversation)));
    const deadline = this.clock.elapsedMs() + this.retryBudgetMs;
    for (let round = 1; ; round += 1) {
      const outcome = await this.askAll(call, { failed, routing, signal });
      if (!(outcome instanceof GatewayError)) return outcome;
      const pause = this.pause(outcome, round);
      const late = this.clock.elapsedMs() + pause > deadline;
      if (round === MAX_ROUNDS || late || !ERRORS[outcome.code].retryable || this.isHopeless(call, failed)) {
        if (ERRORS[outcome.code].retryable) routing?.lost();
        throw this.timed(outcome, call);
      }
      await this.clock.sleep(pause, asAbortSignal(signal));
    }
  }

  /**
   * The routes there are for a request, before money is held.
   *
   * @throws GatewayError `model_not_found`, `unavailable`, or `unsupported_parameter` for what no upstream allows.
   */
  expectModel(
    model: string,
    uses: readonly UnpricedUse[] = [],
    style?: TextStyle,
    priceList?: string,
  ): readonly TextRoute[] {
    return this.upstreams.routes(model, uses, style, undefined, priceList);
  }

  /** @throws GatewayError where every upstream refuses the call before anything is sent. */
  async expectTaken(call: RoutableCall): Promise<void> {
    let last: GatewayError | undefined;
    for (const route of this.expectModel(call.model, call.unpriced, call.style, call.priceList)) {
      last = await route.upstream.provider.refusalOf?.(askedOf(call, route, undefined));
      if (!last) return;
    }
    if (last) throw last;
  }

  close(): void {
    this.conversations?.close();
  }

  private routingOf(call: RoutableCall, conversation: AskedConversation): Promise<ConversationRouting> | undefined {
    return this.conversations?.routingOf(call, conversation, this.upstreams.candidates(call.model, call.priceList));
  }

  /** Whether no upstream would say another thing. */
  private isHopeless({ model, unpriced, style, priceList }: RoutableCall, failed: Failed): boolean {
    if (![...failed.values()].some(({ isHopeless }) => isHopeless)) return false;
    const routes = this.upstreams.routes(model, unpriced, style, undefined, priceList);
    return routes.every(({ upstream }) => failed.get(upstream)?.isHopeless);
  }

  private pause(error: GatewayError, round: number): number {
    return error.retryAfterMs ?? backoffMs(PAUSE, round - 1);
  }

  /** Asks each upstream of the model once; the error of the last when none replied. */
  private async askAll(
    call: RoutableCall,
    asking: Pick<Attempt, 'failed' | 'routing' | 'signal'>,
  ): Promise<RoutedReply | GatewayError> {
    const { routing } = asking;
    const drawn = this.upstreams.routes(call.model, call.unpriced, call.style, routing?.drawnBy, call.priceList);
    const routes = firstAt(routing ? routing.order(drawn) : drawn, call.goesOnAfter?.upstreamId);
    let last: GatewayError | undefined;
    for (const route of routes) {
      if (asking.failed.get(route.upstream)?.isHopeless) continue;
      const admission = await this.circuits.admits(route.upstream, call.accountId);
      if (!admission) {
        routing?.missed(route, 'cooling_down');
        continue;
      }
      // The upstream may have been exchanged since the routes were chosen.
      const current = this.upstreams.current(route, call.model, call.unpriced, call.style, call.priceList);
      if (current !== route) this.circuits.release(admission);
      if (!current) continue;
      const outcome = await this.ask(call, {
        route: current,
        admission: current === route ? admission : FREELY,
        ...asking,
      });
      if (!(outcome instanceof GatewayError)) return outcome;
      routing?.missed(route, outcome.code);
      last = outcome;
    }
    if (routing?.waits === true) return this.away(AWAY, routes, call.accountId, last);
    return last ?? this.away(ALL_AWAY, routes, call.accountId);
  }

  private away(message: string, routes: readonly TextRoute[], accountId: string, cause?: GatewayError): GatewayError {
    const retryAfterMs = cause?.retryAfterMs ?? this.soonestMs(routes, accountId);
    return new GatewayError('overloaded', message, { retryAfterMs, ...(cause && { cause, log: cause.message }) });
  }

  /** Both are answered with a time to wait: where the upstream named none, it is the cooldown that follows. */
  private timed(error: GatewayError, { model, accountId, priceList }: RoutableCall): GatewayError {
    if (!PASSING.has(error.code) || error.retryAfterMs !== undefined) return error;
    const retryAfterMs = this.soonestMs(this.expectModel(model, [], undefined, priceList), accountId);
    return new GatewayError(error.code, error.publicMessage, { log: error.message, cause: error, retryAfterMs });
  }

  /** How long until the account may ask one of these again, in milliseconds, a second at least. */
  private soonestMs(routes: readonly TextRoute[], accountId: string): number {
    return Math.max(1_000, Math.min(...routes.map(({ upstream }) => this.circuits.coolingMs(upstream, accountId))));
  }

  /** @throws what is no failure of the upstream: a request no upstream would accept, or the caller's leaving. */
  private async ask(
    call: RoutableCall,
    { route, admission, failed, routing, signal }: Attempt,
  ): Promise<RoutedReply | GatewayError> {
    const { upstream } = route;
    const { accountId } = call;
    const { provider } = upstream;
    const startedAt = performance.now();
    const vendorCall = beginVendorCall(() => ({
      upstream: provider.id,
      protocol: provider.protocol,
      model: route.upstreamModel,
      stream: call.stream,
      session: call.session,
      maxTokens: call.maxTokens,
    }));
    try {
      const asked = askedOf(call, route, routing);
      const ask = (): Promise<TextReply> => provider.call(asked, signal);
      const reply = await observeUpstream(provider.id, 'text', ask, undefined, vendorCall);
      vendorCall?.replied();
      const tookMs = performance.now() - startedAt;
      this.circuits.recordSuccess(upstream, accountId, admission);
      routing?.repliedBy(route, reply.withoutProofs);
      if (!call.stream) this.completed(upstream, accountId, tookMs);
      return {
        reply,
        upstreamId: provider.id,
        vendorCall,
        routing,
        costs: upstream.costs?.of(call.model),
        vendorAccount: upstream.vendorAccount ?? provider.id,
        toolsLeftOut: call.unpriced ? toolsLeftOut(route, call.unpriced, call.style) : [],
        ended: (failure) => {
          if (call.stream) this.calls.ended(provider.id, tookMs, faultIn(failure));
          if (faultIn(failure)) routing?.lost();
          this.ended(upstream, accountId, failed, failure);
        },
      };
    } catch (error) {
      vendorCall?.fail(error, signal.aborted);
      const isUpstreamsFault = !signal.aborted && error instanceof GatewayError && ERRORS[error.code].retryable;
      if (isUpstreamsFault) this.calls.ended(provider.id, performance.now() - startedAt, error);
      if (isUpstreamsFault && !failed.has(upstream)) {
        failed.set(upstream, { isHopeless: error.isUnreadable });
        this.circuits.recordFailure(upstream, accountId, error, admission);
      } else this.circuits.release(admission);
      if (signal.aborted || !(error instanceof GatewayError)) throw error;
      if (!mayWorkElsewhere(error) && routing?.isSought !== true) throw error;
      if (isUpstreamsFault) signals.textFailedOver.inc({ upstream: provider.id, model: call.model });
      logFailure(call, provider.id, error);
      return error;
    }
  }

  private completed(upstream: TextUpstream, accountId: string, tookMs: number): void {
    this.circuits.recordCompletion(upstream, accountId);
    this.calls.ended(upstream.provider.id, tookMs);
  }

  /** A reply that breaks in its middle is a failure like one that never begins. */
  private ended(upstream: TextUpstream, accountId: string, failed: Failed, failure: GatewayError | undefined): void {
    if (!failure) this.circuits.recordCompletion(upstream, accountId);
    else if (ERRORS[failure.code].retryable && !failed.has(upstream)) {
      failed.set(upstream, { isHopeless: failure.isUnreadable });
      this.circuits.recordFailure(upstream, accountId, failure);
    }
  }
}

/** The call as an upstream gets it: proofs that it cannot read are left out. */
function askedOf(call: RoutableCall, route: TextRoute, routing: Attempt['routing']): TextCall {
  const asked: { -readonly [Field in keyof TextCall]: TextCall[Field] } = {
    upstreamModel: route.upstreamModel,
    ...call,
  };
  const provenFrom = routing?.provenFromAt(route);
  if (provenFrom !== undefined) asked.native = (account) => call.native(account, provenFrom);
  if (routing?.letsDropAt(route) === true) asked.letsVendorDrop = true;
  return asked;
}

const logFailure = (
  { requestId, model }: RoutableCall,
  upstream: string,
  { code, message: detail }: GatewayError,
): void => log.warn('upstream.failed', { requestId, upstream, model, code, detail });
