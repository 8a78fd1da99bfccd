import type { MediaOrder, MediaUpstream, OperationState, Started } from '#contracts';
import { PlainUpstream } from '#vendor-fakes';
import type { StartIntent } from '../../start/start-statements.js';

/** What is written before a vendor is called. */
export const intentOf = ({ id }: Pick<MediaUpstream, 'id'>): StartIntent => ({
  upstream: id,
  vendorAccount: id,
  ticket: { upstream: id, model: 'm' },
});

/** A vendor that takes every order, counts what it takes, and never ends; tests replace what they are about. */
export class FakeVendor extends PlainUpstream {
  override startTimeoutMs = 1_000;
  override findableAfterMs = 1_000;
  /** The tasks of all orders it took, in their order; a task that stands twice was paid for twice. */
  readonly taken: string[] = [];
  start: MediaUpstream['start'] = async (order) => this.take(order);
  check: MediaUpstream['check'] = async (): Promise<OperationState> => ({ state: 'pending' });
  find?: NonNullable<MediaUpstream['find']>;
  cancel?: NonNullable<MediaUpstream['cancel']>;
  open?: NonNullable<MediaUpstream['open']>;

  /** Takes an order. */
  take({ taskId }: MediaOrder): Started {
    this.taken.push(taskId);
    return { kind: 'operation', operation: { order: this.taken.length } };
  }
}
