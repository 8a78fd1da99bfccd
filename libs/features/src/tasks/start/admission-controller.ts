import { Injectable } from '@nestjs/common';
import { CATALOG, type Medium, type ModelFamily } from '#contracts';
import { signals as metrics } from '#platform';
import type { SpentAllowance } from './start-statements.js';
import { UpstreamLimits } from '../upstream-limits.js';
import { type MediaAdmission, MediaCircuits } from '../../upstreams/upstream-circuits.js';
import { type Candidate, MediaUpstreams, type RoutedUpstream } from '../../upstreams/media-upstreams.js';

/** The least wait for a vendor that is closed, in milliseconds; and what a pause is lengthened by, so that tasks come back apart. */
const LEAST_WAIT_MS = 250;
const SPREAD = 4;

/** A shorter wait for the next start is over before the other processes learn of it, in milliseconds. */
const WORTH_A_PAUSE_MS = 1_000;

/** Why an order waits that no upstream was asked to take, for operators. */
export const WAITS = {
  closed: 'Every upstream of this model is closed for now: it cools down after failures, or was asked to wait.',
  full: 'The upstream works on as many orders as its limits allow.',
  spent: 'The allowance of the upstream is spent.',
} as const;

/** How long an account is left alone whose running orders are as many as it may have, in milliseconds. */
const FULL_PAUSE_MS = 1_000;

/**
 * How long an upstream is left alone whose allowance is spent, in milliseconds; at most, for its operator may raise it, or another
 * order be cheaper.
 */
const SPENT_PAUSE_MS = 60_000;

/** Which queued tasks a worker need not claim now. */
export interface ClaimLimits {
  readonly closed: readonly string[];
  /** Of a model with a limited rate of starts: the most tasks that one claim may take. */
  readonly most: Readonly<Record<string, number>>;
}

/** Leave to hand over one order, or how long to wait for it in milliseconds. */
export type StartPermit = { readonly admission: MediaAdmission } | { readonly waitMs: number };

/** How long an order is kept in hand for an upstream with a rate of starts, in milliseconds: every worker keeps one. */
export const HOLD_MS = 600_000;
/** How often an order that is kept in hand asks whether its upstream has opened, in milliseconds. */
const HOLD_LOOK_MS = 500;

/** Why an order waits, and for how long in milliseconds; it counts as no failure. */
export interface StartWait {
  readonly reason: string;
  readonly delayMs: number;
  readonly counts: false;
}

const OPEN: ClaimLimits = { closed: [], most: {} };

const MODELS = (medium: Medium): readonly string[] =>
  CATALOG.filter((family: ModelFamily) => family.medium === medium).flatMap((family: ModelFamily) => family.models);

/** What an upstream may be handed now: cooldowns after failures, pauses that it asked for, and its account's limits. */
@Injectable()
export class AdmissionController {
  private readonly models = { image: MODELS('image'), video: MODELS('video') };
  /** How many orders this process keeps in hand for each vendor account. */
  private readonly held = new Map<string, number>();
  private releasing = new AbortController();
  private isStopping = false;

  constructor(
    private readonly upstreams: MediaUpstreams,
    private readonly circuits: MediaCircuits,
    private readonly limits: UpstreamLimits,
  ) {}

  /** What the next claim may skip. Reads the pauses twice a second. */
  async claimLimits(medium: Medium): Promise<ClaimLimits> {
    if (this.upstreams.sandbox === 'makes') return OPEN;
    await this.limits.refresh();
    const closed: string[] = [];
    const most: Record<string, number> = {};
    for (const model of this.models[medium]) {
      const open = this.upstreams.serving(model).filter((routed) => this.isOpen(routed, model));
      if (open.length === 0) closed.push(model);
      else if (open.every(({ limits }) => limits.startsPerMinute !== undefined))
        most[model] = open.reduce((sum, { limits }) => sum + Math.ceil((limits.startsPerMinute ?? 0) / 60), 0);
    }
    return { closed, most };
  }

  /** An order that is kept in hand for its account goes first. */
  private isOpen(routed: RoutedUpstream, model: string): boolean {
    return this.closedMs(routed, model) === 0 && !this.held.has(routed.upstream.vendorAccount);
  }

  /**
   * Whether an order that was claimed is kept in hand until the upstream opens: a rate of starts lets few go at a time, and each
   * that went back to the queue would be claimed in vain again and again, behind all that came after it.
   */
  keepsInHand({ routed }: Candidate, waitMs: number): boolean {
    return routed.limits.startsPerMinute !== undefined && waitMs <= HOLD_MS;
  }

  /** Waits a moment for one of the upstreams, for which nothing more is claimed meanwhile. False: it is to go back to the queue. */
  async hold(candidates: readonly Candidate[], signal: AbortSignal): Promise<boolean> {
    if (this.isStopping) return false;
    const { signal: released } = this.releasing;
    const accounts = [...new Set(candidates.map(({ routed }) => routed.upstream.vendorAccount))];
    for (const account of accounts) this.held.set(account, (this.held.get(account) ?? 0) + 1);
    try {
      await pause(HOLD_LOOK_MS, [signal, released]);
    } finally {
      for (const account of accounts) this.release(account);
    }
    signal.throwIfAborted();
    return !released.aborted;
  }

  /** Orders that are kept in hand go back to the queue. */
  releaseHeld(): void {
    this.releasing.abort();
    this.releasing = new AbortController();
  }

  /** The same, and from now on none is kept. */
  stop(): void {
    this.isStopping = true;
    this.releaseHeld();
  }

  private release(account: string): void {
    const others = (this.held.get(account) ?? 1) - 1;
    if (others > 0) this.held.set(account, others);
    else this.held.delete(account);
  }

  /** How long an upstream is closed for a model, by what this process knows; 0: not at all. */
  closedMs(routed: RoutedUpstream, model: string): number {
    const { vendorAccount } = routed.upstream;
    return Math.max(
      this.circuits.coolingMs(routed, model),
      this.limits.knownPauseMs(vendorAccount, 'start'),
      this.limits.knownPauseMs(vendorAccount, `start ${model}`),
      this.limits.knownPauseMs(vendorAccount, `spent ${routed.upstream.id}`),
    );
  }

  /** Takes one start of what the account's rate allows. */
  async admit({ routed }: Candidate, order: { model: string; accountId: string }): Promise<StartPermit> {
    await this.limits.refresh();
    const closedMs = this.closedMs(routed, order.model);
    if (closedMs > 0) return { waitMs: spread(closedMs) };
    const admission = await this.circuits.admits(routed, order);
    if (!admission) return { waitMs: spread(this.circuits.coolingForMs(routed, order) || 1_000) };
    const { startsPerMinute } = routed.limits;
    if (startsPerMinute === undefined) return { admission };
    const { vendorAccount } = routed.upstream;
    const { calls, waitMs } = await this.limits.take(vendorAccount, 'start', 1, startsPerMinute / 60);
    // Also behind the last start that it leaves: else each start would cost every worker a useless claim.
    if (calls === 0 || waitMs >= WORTH_A_PAUSE_MS) await this.limits.pause(vendorAccount, 'start', waitMs);
    if (calls > 0) return { admission };
    this.circuits.release(admission);
    return { waitMs: spread(waitMs) };
  }

  /** The account works on as many orders as it may, or the upstream's allowance is spent. @returns why and how long to wait. */
  async recordFull({ routed }: Candidate, why: 'full' | SpentAllowance): Promise<StartWait> {
    const { id: upstream, vendorAccount } = routed.upstream;
    if (why === 'full') {
      await this.limits.pause(vendorAccount, 'start', FULL_PAUSE_MS);
      return { reason: WAITS.full, delayMs: spread(FULL_PAUSE_MS), counts: false };
    }
    metrics.mediaQuotaExceeded.inc({ upstream });
    metrics.mediaQuotaExceededBefore.inc({ upstream });
    const waitMs = Math.min(why.spentMs, SPENT_PAUSE_MS);
    await this.limits.pause(vendorAccount, `spent ${upstream}`, waitMs);
    return { reason: WAITS.spent, delayMs: spread(waitMs), counts: false };
  }
}

const spread = (waitMs: number): number => Math.max(LEAST_WAIT_MS, waitMs * (1 + Math.random() / SPREAD));

/** Waits, or until one of the signals aborts. */
function pause(milliseconds: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    for (const signal of signals) signal.addEventListener('abort', end);
    if (signals.some(({ aborted }) => aborted)) end();
  });
}
