import { Injectable } from '@nestjs/common';
import type { GatewayError, MediaFailure } from '#contracts';
import {
  type Admission,
  type BreakerPolicy,
  CircuitBreaker,
  type Circuits,
  Cooldowns,
  FREELY,
  isFarAway,
  logger,
  type OpenedCircuit,
  ownPrefix,
} from '#platform';
import type { RoutedUpstream } from './media-upstreams.js';
import type { TextUpstream } from './text-upstreams.js';

/** The first three failures in a row, of requests or orders, close an upstream for 5 s; then it doubles up to two minutes. */
const POLICY = { failures: 3, firstMs: 5_000, longestMs: 120_000, misconfiguredMs: 600_000 } as const;
/** A request of text costs little, so that three accounts must have found out for themselves. */
const TEXT_POLICY: BreakerPolicy = { ...POLICY, callers: 3, evidence: 'open' };
/** An order of media takes minutes, so that two accounts are enough. */
const MEDIA_POLICY: BreakerPolicy = { ...POLICY, callers: 2, evidence: 'failed' };

const textLog = logger('text');
const mediaLog = logger('generation');

/**
 * The circuits of text upstreams: one of each upstream for all accounts, and one of each account, since a request can be made to
 * fail on purpose. Both are shared by all replicas.
 */
@Injectable()
export class TextCircuits {
  private readonly breaker: CircuitBreaker;

  constructor(cooldowns: Cooldowns) {
    this.breaker = new CircuitBreaker(cooldowns, TEXT_POLICY);
  }

  /**
   * Whether the account may ask it now: undefined when not. One that cooled down admits one probe at a time, which alone takes a
   * moment. How the request ended is reported with what this returned.
   */
  admits(upstream: TextUpstream, accountId: string): Admission | undefined | Promise<Admission | undefined> {
    return this.breaker.isQuiet ? FREELY : this.breaker.admits(circuitsOf(upstream, accountId));
  }

  /** True while it gets no requests of some account, or only one that probes it. */
  isCooling(upstream: TextUpstream): boolean {
    return this.isCoolingForAll(upstream) || this.breaker.isOpenForSome(upstream.healthName);
  }

  /** True while no account's requests reach it, or only one that probes it. */
  isCoolingForAll({ healthName }: TextUpstream): boolean {
    return this.breaker.isOpen(healthName);
  }

  /** Milliseconds until the upstream's cooldown is over for the account, or, where none is given, for all; 0 when it does not cool down. */
  coolingMs(upstream: TextUpstream, accountId?: string): number {
    const { all, own } = circuitsOf(upstream, accountId ?? '');
    return this.breaker.coolingMs(accountId === undefined ? [all] : [all, own]);
  }

  /** It began to reply. */
  recordSuccess(upstream: TextUpstream, accountId: string, admission: Admission): void {
    if (this.breaker.isQuiet) return;
    const recovered = this.breaker.recordSuccess(circuitsOf(upstream, accountId), admission);
    if (recovered.includes(upstream.healthName)) textLog.info('upstream.recovered', { upstream: upstream.provider.id });
  }

  /** It replied to the end, so that earlier failures are no longer in a row. */
  recordCompletion(upstream: TextUpstream, accountId: string): void {
    this.breaker.recordCompletion(upstream.healthName, accountId);
  }

  /**
   * A request failed for a reason that may be the upstream's, before it was answered or after. To be called once for each
   * request, however often it asked.
   */
  recordFailure(upstream: TextUpstream, accountId: string, error: GatewayError, admission: Admission = FREELY): void {
    const { code, retryAfterMs, isByModel } = error;
    if (isByModel) return this.release(admission);
    const circuits = circuitsOf(upstream, accountId);
    const failure = { isLimit: code === 'upstream_rate_limited', retryAfterMs };
    // A quota of a day or a month is that of the operator's account, which no request can use up on purpose.
    const opened = isFarAway(retryAfterMs)
      ? [this.breaker.markMisconfigured(circuits, admission, { name: circuits.all, isCertain: true, retryAfterMs })]
      : this.breaker.recordFailure(circuits, admission, failure);
    for (const { name, coolingMs } of opened) {
      const whose = name === circuits.all ? 'all' : accountId;
      textLog.warn('upstream.cooling_down', { upstream: upstream.provider.id, accountId: whose, coolingMs, code });
    }
  }

  /** A request showed nothing about the upstream, for example because the caller left: if it was the probe, another may be. */
  release(admission: Admission): void {
    this.breaker.release(admission);
  }
}

/** The circuits of a text upstream. No upstream's name holds the character between them. */
const circuitsOf = ({ healthName: all }: TextUpstream, caller: string): Circuits => ({
  all,
  own: ownPrefix(all) + caller,
  caller,
});

/** The order that wants to be handed over. */
interface AskedFor {
  readonly model: string;
  readonly accountId: string;
}

/** Leave to hand over one order; `probes`: the circuits that this order alone may close. */
export interface MediaAdmission extends AskedFor, Admission {}

/**
 * The circuits of media upstreams, shared by all replicas: one of each vendor account, and one of each model of it; one of each account
 * of ours at a model, since an order can be made to fail on purpose. What an upstream makes of the orders that it takes has circuits of its
 * own, which only a delivery closes.
 */
@Injectable()
export class MediaCircuits {
  /** Whether orders are taken. */
  private readonly taking: CircuitBreaker;
  /** Whether what was taken is made. */
  private readonly making: CircuitBreaker;

  constructor(cooldowns: Cooldowns) {
    this.taking = new CircuitBreaker(cooldowns, MEDIA_POLICY);
    this.making = new CircuitBreaker(cooldowns, MEDIA_POLICY);
  }

  /** Milliseconds until it may be asked for the model again, by any account; 0: now, or by one order that probes it. */
  coolingMs(routed: RoutedUpstream, model: string): number {
    return this.taking.coolingMs(sharedNames(routed, model));
  }

  /** The same for one account. */
  coolingForMs(routed: RoutedUpstream, order: AskedFor): number {
    const { all, own, others = [] } = takingOf(routed, order);
    return this.taking.coolingMs([all, own, ...others]);
  }

  /** Milliseconds until the cooldown of the whole vendor account is over. */
  coolingForAllMs(routed: RoutedUpstream): number {
    return this.taking.coolingMs([vendorCircuit(routed)]);
  }

  /** True while no account's orders reach it, or only one that probes it: the whole upstream, or with `model` that model of it. */
  isCooling(routed: RoutedUpstream, model = ''): boolean {
    return !this.taking.isQuiet && sharedNames(routed, model).some((name) => this.taking.isOpen(name));
  }

  /** Undefined: it cools down, or another order probes it. */
  async admits(routed: RoutedUpstream, { model, accountId }: AskedFor): Promise<MediaAdmission | undefined> {
    const admission = await this.taking.admits(takingOf(routed, { model, accountId }));
    return admission && { ...admission, model, accountId };
  }

  /** It took an order. Whether it makes what it takes is another question, whose circuits only a delivery closes. */
  recordSuccess(routed: RoutedUpstream, admission: MediaAdmission): void {
    const { all, own } = makingOf(routed, admission);
    const isOfMaking = ({ name }: { readonly name: string }): boolean => name === all || name === own;
    this.note(routed, this.making.reopen({ probes: admission.probes.filter(isOfMaking) }));
    const probes = admission.probes.filter((probe) => !isOfMaking(probe));
    noteRecovered(routed, this.taking.recordSuccess(takingOf(routed, admission), { probes }));
  }

  recordDelivery(routed: RoutedUpstream, order: AskedFor): void {
    noteRecovered(routed, this.making.close(makingOf(routed, order)));
  }

  /** It took an order and failed to make it, for no reason that lies in the order. */
  recordFailedWork(routed: RoutedUpstream, order: AskedFor): void {
    if (isSandbox(routed)) return;
    this.note(routed, this.making.recordFailure(makingOf(routed, order), FREELY));
  }

  /** It is away, or took an order without saying so. */
  recordFailure(routed: RoutedUpstream, admission: MediaAdmission): void {
    if (isSandbox(routed)) this.release(admission);
    else this.note(routed, this.taking.recordFailure(takingOf(routed, admission), admission));
  }

  /** Its key, balance or contract is not accepted, so that an operator has to fix it, or its quota is used up until a time that it names. */
  markMisconfigured(routed: RoutedUpstream, failure: MediaFailure, admission: MediaAdmission): void {
    const { scope, reason, vendor, retryAfterMs } = failure;
    const { model } = admission;
    const [ofAccount, ofModel] = sharedNames(routed, model);
    const { status, code } = vendor;
    mediaLog.error('upstream.unfit', { upstream: routed.upstream.id, model, scope, status, code });
    // A vendor's refusal may concern this order's files or text; but no order can empty a balance or change a key.
    const isCertain = reason !== 'not_served';
    const name = scope === 'model' ? ofModel : ofAccount;
    const finding = { name, isCertain, retryAfterMs };
    this.note(routed, [this.taking.markMisconfigured(takingOf(routed, admission), admission, finding)]);
  }

  /** What failed says nothing about the upstream itself. */
  release(admission: Admission): void {
    this.taking.release(admission);
  }

  private note(routed: RoutedUpstream, opened: readonly OpenedCircuit[]): void {
    for (const { name: circuit, coolingMs } of opened)
      mediaLog.warn('upstream.cooling_down', { upstream: routed.upstream.id, circuit, coolingMs });
  }
}

function noteRecovered(routed: RoutedUpstream, circuits: readonly string[]): void {
  for (const circuit of circuits) mediaLog.info('upstream.recovered', { upstream: routed.upstream.id, circuit });
}

/** It fails because prompts ask it to: that must not close it for others. */
const isSandbox = ({ upstream }: RoutedUpstream): boolean => upstream.protocol === 'sandbox';

/** The circuit of a whole vendor account; no upstream of text is named so. */
const vendorCircuit = ({ healthName, upstream }: RoutedUpstream): string =>
  `media ${healthName ?? upstream.vendorAccount}`;

/**
 * The same, that of one of its models, as the vendor calls it (another name is another model), and that of what it makes of the
 * orders of the model that it takes.
 */
function sharedNames(routed: RoutedUpstream, model: string): [ofAccount: string, ofModel: string, ofWork: string] {
  const ofAccount = vendorCircuit(routed);
  const ofModel = `${ofAccount} ${model}=${routed.vendorModel?.(model) ?? model}`;
  return [ofAccount, ofModel, `${ofModel} work`];
}

/** All that an order may meet. */
function takingOf(routed: RoutedUpstream, { model, accountId: caller }: AskedFor): Circuits {
  const [all, ofModel, ofWork] = sharedNames(routed, model);
  return { all, own: ownPrefix(ofModel) + caller, caller, others: [ofModel, ofWork, ownPrefix(ofWork) + caller] };
}

function makingOf(routed: RoutedUpstream, { model, accountId: caller }: AskedFor): Circuits {
  const [, , all] = sharedNames(routed, model);
  return { all, own: ownPrefix(all) + caller, caller };
}
