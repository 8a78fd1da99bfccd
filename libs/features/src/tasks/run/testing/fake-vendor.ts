import type { MediaOrder, MediaProvider, Operation, OperationState } from '#contracts';
import type { StartIntent } from '../../start/start-statements.js';

/** What is written before a vendor is called. */
export const intentOf = ({ id }: Pick<MediaProvider, 'id'>): StartIntent => ({
  upstream: id,
  vendorAccount: id,
  ticket: { upstream: id, model: 'm' },
});

/** A vendor that takes every order, counts what it takes, and never ends; tests replace what they are about. */
export class FakeVendor implements MediaProvider {
  readonly id = 'sandbox';
  repeatStart: MediaProvider['repeatStart'] = 'idempotent';
  startTimeoutMs = 1_000;
  findableAfterMs = 1_000;
  /** The tasks of all orders it took, in their order; a task that stands twice was paid for twice. */
  readonly taken: string[] = [];
  start: MediaProvider['start'] = async (order) => this.take(order);
  check: MediaProvider['check'] = async (): Promise<OperationState> => ({ state: 'pending' });
  find?: NonNullable<MediaProvider['find']>;
  cancel?: NonNullable<MediaProvider['cancel']>;
  open?: NonNullable<MediaProvider['open']>;

  /** Takes an order. */
  take({ taskId }: MediaOrder): Operation {
    this.taken.push(taskId);
    return { order: this.taken.length };
  }
}
