import { type CallPlan, type CannotMake, GatewayError, type PlannedOrder } from '#contracts';
import type { MediaUpstreams, RoutedUpstream } from './media-upstreams.js';

/** An upstream that can make an order, and how it would. */
export interface Candidate {
  readonly routed: RoutedUpstream;
  readonly plan: CallPlan;
}

/** The upstreams that can make an order for an account, whether or not they have room now. */
export interface Makers {
  readonly candidates: readonly Candidate[];
  /** Why others cannot. */
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
  makersOf(order: PlannedOrder, accountId: string): Makers {
    const plans = this.reachable(order.model, accountId).map((routed) => ({
      routed,
      plan: routed.upstream.plan(order),
    }));
    return {
      candidates: this.shuffled(plans.flatMap(({ routed, plan }) => (canMake(plan) ? [{ routed, plan }] : []))),
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
    const { candidates, cannot } = this.makersOf(order, accountId);
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

  /** Weighted order without replacement: each draws a time, heavier ones tend to earlier ones. */
  private shuffled(candidates: readonly Candidate[]): readonly Candidate[] {
    if (candidates.length < 2) return candidates;
    return candidates
      .map((candidate) => ({ candidate, time: -Math.log(1 - this.random()) / candidate.routed.weight }))
      .toSorted(
        (one, other) => one.candidate.routed.priority - other.candidate.routed.priority || one.time - other.time,
      )
      .map(({ candidate }) => candidate);
  }
}

const unmade = (model: string): GatewayError =>
  new GatewayError('model_not_available', `No upstream of this gateway makes the model "${model}" at present.`, {
    param: 'model',
  });
