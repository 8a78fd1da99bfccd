import { Injectable } from '@nestjs/common';
import { type CallPlan, type CannotMake, GatewayError, type MediaUpstream, type PlannedOrder } from '#contracts';
import { Database } from '#platform';
import type { ConfiguredMediaUpstream } from '#providers';
import { type SandboxPart, weightedOrder } from './upstream-choice.js';

export interface RoutedUpstream extends ConfiguredMediaUpstream {
  /** It gets nothing new, and is asked on about what it has. */
  readonly isDraining?: boolean;
  /** It is the sandbox, used because no upstream is configured. */
  readonly isFallback?: boolean;
}

interface Table {
  readonly all: readonly RoutedUpstream[];
  readonly byId: ReadonlyMap<string, RoutedUpstream>;
  /** By model, of those that serve it; filled as they are asked for. */
  readonly serving: Map<string, readonly RoutedUpstream[]>;
  readonly sandbox: SandboxPart;
}

const tableOf = (all: readonly RoutedUpstream[], sandbox: SandboxPart): Table => ({
  all,
  byId: new Map(all.map((routed) => [routed.upstream.id, routed])),
  serving: new Map(),
  sandbox,
});

/** Which upstreams make which model. They may be exchanged at any time; rows name them by their ids. */
export class MediaUpstreams {
  private table = tableOf([], 'inactive');
  private readonly listeners = new Set<() => void>();

  /** The table of a process whose upstreams never change: tests, and programs that measure. */
  static of(...upstreams: readonly MediaUpstream[]): MediaUpstreams {
    const table = new MediaUpstreams();
    table.exchange(upstreams.map(alone));
    return table;
  }

  get all(): readonly RoutedUpstream[] {
    return this.table.all;
  }

  get sandbox(): SandboxPart {
    return this.table.sandbox;
  }

  /** Puts these in place of all there were, at once. */
  exchange(upstreams: readonly RoutedUpstream[], sandbox: SandboxPart = 'inactive'): void {
    this.table = tableOf(upstreams, sandbox);
    for (const listener of this.listeners) listener();
  }

  /** Hears of every exchange. @returns how to hear no more. */
  onExchange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The upstream that holds the work of a row; undefined: not in this configuration. */
  byId(id: string): RoutedUpstream | undefined {
    return this.table.byId.get(id);
  }

  /** The upstreams that take new orders for a model. */
  serving(model: string): readonly RoutedUpstream[] {
    const { serving, all } = this.table;
    const known = serving.get(model);
    if (known) return known;
    const found = all.filter(
      ({ isDraining = false, weight, models }) => !isDraining && weight > 0 && (models?.has(model) ?? true),
    );
    serving.set(model, found);
    return found;
  }

  /** The ids of all upstreams that share the limits of a vendor account. */
  ofAccount(vendorAccount: string): string[] {
    return this.all
      .filter(({ upstream }) => upstream.vendorAccount === vendorAccount)
      .map(({ upstream }) => upstream.id);
  }
}

/** An upstream without configuration. */
const alone = (upstream: MediaUpstream): RoutedUpstream => ({
  upstream,
  models: undefined,
  priority: 0,
  weight: 1,
  onlyAccounts: new Set(),
  limits: {},
  lostCalls: 'fail',
});

/** An upstream that can make an order, and how it would. */
export interface Candidate {
  readonly routed: RoutedUpstream;
  readonly plan: CallPlan;
}

/** The upstreams that can make an order for an account, whether or not they have room now. */
interface Candidates {
  readonly candidates: readonly Candidate[];
  readonly cannot: readonly CannotMake[];
}

const canMake = (plan: CallPlan | CannotMake): plan is CallPlan => !('cannot' in plan);

/** Chooses the upstreams for an order, by configuration and by what each can make. Ignores cooldowns and limits. */
export class MediaRouter {
  /** @param random a number from 0 to 1, 1 excluded; replaced in tests. */
  constructor(
    private readonly upstreams: MediaUpstreams,
    private readonly random: () => number = Math.random,
  ) {}

  /** In the order to ask them: by priority, shuffled by weight within one. */
  candidatesFor(order: PlannedOrder, accountId: string): Candidates {
    const plans = this.reachable(order.model, accountId).map((routed) => ({
      routed,
      plan: routed.upstream.plan(order),
    }));
    return {
      candidates: weightedOrder(
        plans.flatMap(({ routed, plan }) => (canMake(plan) ? [{ routed, plan }] : [])),
        ({ routed }) => routed,
        this.random,
      ),
      cannot: plans.flatMap(({ plan }) => (canMake(plan) ? [] : [plan])),
    };
  }

  /**
   * Refuses an order that no upstream can make, before money is held for it.
   *
   * @throws GatewayError `model_not_available`: no upstream of the account makes the model; `unsupported_parameter`: those that
   * do lack what the order asks for.
   */
  expectMaker(order: PlannedOrder, accountId: string): void {
    const { candidates, cannot } = this.candidatesFor(order, accountId);
    if (candidates.length > 0) return;
    const [first] = cannot;
    if (!first) throw unmade(order.model);
    throw new GatewayError('unsupported_parameter', first.cannot, first.param ? { param: first.param } : {});
  }

  private reachable(model: string, accountId: string): RoutedUpstream[] {
    return this.upstreams
      .serving(model)
      .filter(({ onlyAccounts }) => onlyAccounts.size === 0 || onlyAccounts.has(accountId));
  }
}

const unmade = (model: string): GatewayError =>
  new GatewayError('model_not_available', `No upstream of this gateway makes the model "${model}" at present.`, {
    param: 'model',
  });

const WORKING = 'select distinct provider from task_poll order by provider';

/** Tells of upstreams that have work although they are on their way out, or are gone. */
@Injectable()
export class LeavingUpstreams {
  constructor(
    private readonly database: Database,
    private readonly upstreams: MediaUpstreams,
  ) {}

  /** One sentence that names them; null when there are none. */
  async reason(): Promise<string | null> {
    const { rows } = await this.database.query<{ provider: string }>({ name: 'working_upstreams', text: WORKING });
    const working = rows.map(({ provider }) => ({ provider, routed: this.upstreams.byId(provider) }));
    const lost = working.filter(({ routed }) => routed === undefined).map(({ provider }) => provider);
    // The sandbox has nothing to leave behind when a real upstream takes its place.
    const draining = working
      .filter(({ routed }) => routed?.isDraining && routed.upstream.protocol !== 'sandbox')
      .map(({ provider }) => provider);
    const reasons = [
      lost.length > 0 && `work waits for what is not configured any more: ${lost.join(', ')}`,
      draining.length > 0 && `switched off or removed, and still at work: ${draining.join(', ')}`,
    ];
    return reasons.filter(Boolean).join('; ') || null;
  }
}
