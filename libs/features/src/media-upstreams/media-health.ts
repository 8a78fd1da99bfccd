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

  /** It took an order. */
  answered(routed: RoutedUpstream, { probes }: MediaAdmission): void {
    this.failures.delete(routed.upstream.vendorAccount);
    for (const probe of probes.filter((one) => this.cooldowns.holds(one))) {
      this.cooldowns.recovered(probe);
      log.info('upstream.recovered', { upstream: routed.upstream.id, circuit: probe.name });
    }
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

  private longestCooling(names: readonly string[]): number {
    return this.cooldowns.isQuiet ? 0 : Math.max(...names.map((name) => this.cooldowns.coolingMs(name)));
  }

  /** Takes note of the failure. */
  private isAwayForAll({ upstream }: RoutedUpstream, admission: MediaAdmission, whole: string): boolean {
    const { accountId } = admission;
    const failures = this.failures.get(upstream.vendorAccount) ?? new Map<string, number>();
    this.failures.set(upstream.vendorAccount, failures);
    failures.set(accountId, (failures.get(accountId) ?? 0) + 1);
    const inARow = [...failures.values()].reduce((sum, count) => sum + count, 0);
    return this.isProbe(admission, whole) || (failures.size >= ACCOUNTS_TO_REST && inARow >= FAILURES_TO_REST);
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
    return isSameProber
      ? COOLDOWN_MS.first
      : Math.min(COOLDOWN_MS.longest, COOLDOWN_MS.first * 2 ** this.cooldowns.cooldownsOf(name));
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

/** The same, and that of one of its models, as the vendor calls it: another name is another model. */
function sharedNames(routed: RoutedUpstream, model: string): [whole: string, ofModel: string] {
  const whole = circuitOfVendor(routed);
  return [whole, `${whole} ${model}=${routed.vendorModel?.(model) ?? model}`];
}

/** What the name of one account's own circuit ends with. */
const ownPart = (accountId: string): string => `|${accountId}`;

/** The same, and that of one account's orders of the model. */
function namesOf(
  routed: RoutedUpstream,
  { model, accountId }: AskedFor,
): [whole: string, ofModel: string, own: string] {
  const [whole, ofModel] = sharedNames(routed, model);
  return [whole, ofModel, ofModel + ownPart(accountId)];
}
