import { Injectable } from '@nestjs/common';
import { Cooldowns, logger, type Probe } from '#platform';
import type { MediaFailure } from '#contracts';
import type { RoutedUpstream } from './media-upstreams.js';

const log = logger('generation');

/** How many orders in a row an upstream must be away for to cool down. */
const FAILURES_TO_REST = 3;
/** Of how many accounts they must be before it cools down for all. */
const ACCOUNTS_TO_REST = 2;
/** How long the refusal of one account speaks against an upstream, in milliseconds. */
const EVIDENCE_MS = 60_000;
/** First and longest cooldown of one that is away, in milliseconds; it doubles with every failed probe. */
const COOLDOWN_MS = { first: 5_000, longest: 120_000 } as const;
/** The cooldown of an upstream whose key, balance or contract an operator has to fix, in milliseconds. */
const UNFIT_MS = 600_000;

/** The order that wants to be handed over. */
interface AskedFor {
  readonly model: string;
  readonly accountId: string;
}

/** Leave to hand over one order; `probes`: the cooldowns that this order alone may end. */
export interface MediaAdmission extends AskedFor {
  readonly probes: readonly Probe[];
}

/** A refusal that may be the order's own fault. */
interface Refusal {
  readonly accountId: string;
  readonly atMs: number;
}

/**
 * Keeps orders away from upstreams that are away or cannot work, at all replicas: a whole vendor account, or one model of
 * it. An order can be made to fail on purpose, so that what failed for one account alone cools down for that account alone. When
 * a cooldown is over, one order of one replica probes it.
 */
@Injectable()
export class MediaHealth {
  /** By vendor account: whose orders failed in a row, and how many of each. */
  private readonly failures = new Map<string, Map<string, number>>();
  /** By circuit of failing work: whose taken orders failed since one was delivered, and how many of each. */
  private readonly failedWork = new Map<string, Map<string, number>>();
  /** By circuit: the latest refusal. */
  private readonly refusals = new Map<string, Refusal>();
  /** By vendor account: whose probe failed last. */
  private readonly probers = new Map<string, string>();

  constructor(private readonly cooldowns: Cooldowns) {}

  /** Milliseconds until it may be asked for the model again, by any account; 0: now, or by one order that probes it. */
  coolingMs(routed: RoutedUpstream, model: string): number {
    return this.longestCooling(sharedNames(routed, model));
  }

  /** The same for one account. */
  coolingForMs(routed: RoutedUpstream, order: AskedFor): number {
    return this.longestCooling(namesOf(routed, order));
  }

  /** True while no account's orders reach it, or only one that probes it: the whole upstream, or with `model` that model of it. */
  isCooling(routed: RoutedUpstream, model = ''): boolean {
    if (this.cooldowns.isQuiet) return false;
    return sharedNames(routed, model).some((name) => this.cooldowns.stateOf(name) !== 'available');
  }

  /** Undefined: it cools down, or another order probes it. */
  async admits(routed: RoutedUpstream, { model, accountId }: AskedFor): Promise<MediaAdmission | undefined> {
    const order = { model, accountId };
    if (this.cooldowns.isQuiet) return { ...order, probes: [] };
    const states = namesOf(routed, order).map((name) => ({ name, state: this.cooldowns.stateOf(name) }));
    if (states.some(({ state }) => state === 'cooling_down')) return undefined;
    const probes: Probe[] = [];
    for (const { name } of states.filter(({ state }) => state === 'half_open')) {
      const probe = await this.cooldowns.claimProbe(name);
      if (!probe) {
        this.released({ probes });
        return undefined;
      }
      probes.push(probe);
    }
    return { ...order, probes };
  }

  /** It took an order. Whether it makes what it takes is another question, whose circuit only a delivery ends. */
  answered(routed: RoutedUpstream, admission: MediaAdmission): void {
    this.failures.delete(routed.upstream.vendorAccount);
    const work = workNames(routed, admission);
    for (const probe of admission.probes.filter((one) => this.cooldowns.holds(one))) {
      if (work.includes(probe.name)) this.coolDown(routed, probe.name, this.longerMs(probe.name));
      else this.recovered(routed, probe);
    }
  }

  /** It delivered what it had taken. */
  delivered(routed: RoutedUpstream, order: AskedFor): void {
    const [shared, own] = workNames(routed, order);
    this.failedWork.delete(shared);
    if (this.cooldowns.isQuiet) return;
    for (const name of [shared, own].filter((each) => this.cooldowns.stateOf(each) !== 'available')) {
      this.cooldowns.clear(name);
      log.info('upstream.recovered', { upstream: routed.upstream.id, circuit: name });
    }
  }

  /** It took an order and failed to make it, for no reason that lies in the order. */
  failedWorkOf(routed: RoutedUpstream, order: AskedFor): void {
    if (routed.upstream.protocol === 'sandbox') return;
    const [shared, own] = workNames(routed, order);
    const failures = this.failedWork.get(shared) ?? new Map<string, number>();
    this.failedWork.set(shared, failures);
    failures.set(order.accountId, (failures.get(order.accountId) ?? 0) + 1);
    if (sumOf(failures) < FAILURES_TO_REST) return;
    const name = failures.size >= ACCOUNTS_TO_REST ? shared : own;
    if (name === shared) this.failedWork.delete(shared);
    this.coolDown(routed, name, this.longerMs(name));
  }

  /** What failed says nothing about the upstream itself. */
  released({ probes }: Pick<MediaAdmission, 'probes'>): void {
    for (const probe of probes) this.cooldowns.releaseProbe(probe);
  }

  /** It is away, or took an order without saying so. */
  wasAway(routed: RoutedUpstream, admission: MediaAdmission): void {
    const { probes } = admission;
    // It fails because prompts ask it to: that must not close it for others.
    if (routed.upstream.protocol === 'sandbox') return this.released({ probes });
    const [whole, , own] = namesOf(routed, admission);
    const cooled = this.isAwayForAll(routed, admission, whole)
      ? whole
      : this.isAwayForOne(routed, admission)
        ? own
        : undefined;
    if (cooled !== undefined) this.coolDown(routed, cooled, this.awayMs(routed, admission, cooled));
    if (cooled === whole) this.failures.delete(routed.upstream.vendorAccount);
    this.released({ probes: probes.filter(({ name }) => name !== cooled) });
  }

  /** Its key, balance or contract is not accepted: an operator has to fix it. */
  wasUnfit(routed: RoutedUpstream, { scope, reason, vendor }: MediaFailure, admission: MediaAdmission): void {
    const { model, probes } = admission;
    const [whole, ofModel, own] = namesOf(routed, admission);
    const shared = scope === 'model' ? ofModel : whole;
    // A vendor's refusal may concern this order's files or text; but no order can empty a balance or change a key.
    const isSure =
      reason !== 'not_served' || this.isProbe(admission, shared) || this.isSecondRefusal(shared, admission);
    const name = isSure ? shared : own;
    const { status, code } = vendor;
    log.error('upstream.unfit', { upstream: routed.upstream.id, model, scope, status, code });
    this.coolDown(routed, name, UNFIT_MS);
    this.released({ probes: probes.filter((probe) => probe.name !== name) });
  }

  private recovered(routed: RoutedUpstream, probe: Probe): void {
    this.cooldowns.recovered(probe);
    log.info('upstream.recovered', { upstream: routed.upstream.id, circuit: probe.name });
  }

  /** Doubles with every cooldown since it last worked. */
  private longerMs(name: string): number {
    return Math.min(COOLDOWN_MS.longest, COOLDOWN_MS.first * 2 ** this.cooldowns.cooldownsOf(name));
  }

  private longestCooling(names: readonly string[]): number {
    return this.cooldowns.isQuiet ? 0 : Math.max(...names.map((name) => this.cooldowns.coolingMs(name)));
  }

  /** Takes note of the failure. */
  private isAwayForAll({ upstream }: RoutedUpstream, admission: MediaAdmission, whole: string): boolean {
    const { accountId } = admission;
    const failures = this.failures.get(upstream.vendorAccount) ?? new Map<string, number>();
    this.failures.set(upstream.vendorAccount, failures);
    failures.set(accountId, (failures.get(accountId) ?? 0) + 1);
    const isSecond = failures.size >= ACCOUNTS_TO_REST && sumOf(failures) >= FAILURES_TO_REST;
    return this.isProbe(admission, whole) || isSecond;
  }

  private isAwayForOne(routed: RoutedUpstream, admission: MediaAdmission): boolean {
    const [, , own] = namesOf(routed, admission);
    const failed = this.failures.get(routed.upstream.vendorAccount)?.get(admission.accountId) ?? 0;
    return this.isProbe(admission, own) || failed >= FAILURES_TO_REST;
  }

  /** Doubles with every failed probe, but not for all when one account's probes fail alone. */
  private awayMs({ upstream }: RoutedUpstream, admission: MediaAdmission, name: string): number {
    const { accountId } = admission;
    const isShared = !name.endsWith(ownPart(accountId));
    const isProbe = isShared && this.isProbe(admission, name);
    const isSameProber = isProbe && this.probers.get(upstream.vendorAccount) === accountId;
    if (isProbe) this.probers.set(upstream.vendorAccount, accountId);
    return isSameProber ? COOLDOWN_MS.first : this.longerMs(name);
  }

  /** True when this order is the probe, and no new cooldown began meanwhile. */
  private isProbe({ probes }: MediaAdmission, name: string): boolean {
    return probes.some((probe) => probe.name === name && this.cooldowns.holds(probe));
  }

  private isSecondRefusal(name: string, { accountId }: AskedFor): boolean {
    const before = this.refusals.get(name);
    this.refusals.set(name, { accountId, atMs: performance.now() });
    return before !== undefined && before.accountId !== accountId && performance.now() - before.atMs < EVIDENCE_MS;
  }

  private coolDown(routed: RoutedUpstream, name: string, coolingMs: number): void {
    this.cooldowns.coolDown(name, coolingMs);
    log.warn('upstream.cooling_down', { upstream: routed.upstream.id, circuit: name, coolingMs });
  }
}

/** The name of the circuit of a whole vendor account; no upstream of text is named so. */
export const circuitOfVendor = ({ healthName, upstream }: RoutedUpstream): string =>
  `media ${healthName ?? upstream.vendorAccount}`;

/**
 * The same, that of one of its models, as the vendor calls it (another name is another model), and that of what it makes of the
 * orders of the model that it takes.
 */
function sharedNames(routed: RoutedUpstream, model: string): [whole: string, ofModel: string, ofWork: string] {
  const whole = circuitOfVendor(routed);
  const ofModel = `${whole} ${model}=${routed.vendorModel?.(model) ?? model}`;
  return [whole, ofModel, `${ofModel} work`];
}

const sumOf = (failures: ReadonlyMap<string, number>): number =>
  [...failures.values()].reduce((sum, count) => sum + count, 0);

/** What the name of one account's own circuit ends with. */
const ownPart = (accountId: string): string => `|${accountId}`;

/** Those of the work of the model, of all accounts and of one alone. */
function workNames(routed: RoutedUpstream, { model, accountId }: AskedFor): [shared: string, own: string] {
  const [, , ofWork] = sharedNames(routed, model);
  return [ofWork, ofWork + ownPart(accountId)];
}

/** All that an order may meet; `own`: of one account's orders of the model. */
function namesOf(
  routed: RoutedUpstream,
  order: AskedFor,
): [whole: string, ofModel: string, own: string, ...work: string[]] {
  const [whole, ofModel] = sharedNames(routed, order.model);
  return [whole, ofModel, ofModel + ownPart(order.accountId), ...workNames(routed, order)];
}
