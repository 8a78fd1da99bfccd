import {
  type CallPlan,
  type CannotMake,
  MediaFailure,
  type MediaFailureDetails,
  type MediaFailureKind,
  type MediaOrder,
  type MediaUpstream,
  type Operation,
  type OperationState,
  type Started,
  type UpstreamTraits,
  type VendorCall,
  type Verified,
} from '#contracts';
import type { RoutedUpstream } from '../../../upstreams/media-upstreams.js';

/** An upstream that takes every order and counts what it takes; tests replace what they are about. */
export class ScriptedUpstream implements MediaUpstream {
  readonly protocol = 'gateway';
  traits: UpstreamTraits = {
    style: 'task',
    repeatStart: 'unknown',
    startTimeoutMs: 5_000,
    findableAfterMs: 1_000,
    firstCheckMs: 300,
    checkEveryMs: 1_000,
    checkTimeoutMs: 1_000,
  };
  /** The tasks of all orders it took, and how often it was asked. */
  readonly taken: string[] = [];
  asked = 0;
  onStart: (order: MediaOrder, call: VendorCall) => Promise<Started> = async (order) => this.take(order);
  /** The vendor's name of what it took; undefined: it has none. */
  onName: (operation: Operation) => string | undefined = () => undefined;
  onPlan: () => CallPlan | CannotMake = () => ({ ticket: { upstream: this.id, model: 'm' }, slots: 1 });
  onCheck: (call: VendorCall) => Promise<OperationState> = async () => ({ state: 'pending' });

  constructor(
    readonly id: string,
    readonly vendorAccount = id,
  ) {}

  take({ taskId }: MediaOrder): Started {
    this.taken.push(taskId);
    return { kind: 'operation', operation: { upstream: this.id, order: this.taken.length } };
  }

  /** From now on it fails so. */
  fail(kind: MediaFailureKind, details: MediaFailureDetails = {}): void {
    this.onStart = () => Promise.reject(new MediaFailure(kind, kind === 'busy' ? 'busy' : 'away', details));
  }

  nameOf(operation: Operation): string | undefined {
    return this.onName(operation);
  }

  plan(): CallPlan | CannotMake {
    return this.onPlan();
  }

  start(order: MediaOrder, call: VendorCall): Promise<Started> {
    this.asked += 1;
    return this.onStart(order, call);
  }

  check(_operation: object, call: VendorCall): Promise<OperationState> {
    return this.onCheck(call);
  }

  verify(): Promise<Verified> {
    return Promise.resolve({ ok: true });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** It with a place in the routing. */
  routed(place: Partial<RoutedUpstream> = {}): RoutedUpstream {
    return {
      upstream: this,
      models: undefined,
      priority: 0,
      weight: 1,
      onlyAccounts: new Set(),
      limits: {},
      lostCalls: 'fail',
      ...place,
    };
  }
}
