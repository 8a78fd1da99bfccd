import type {
  CallPlan,
  MediaOrder,
  MediaUpstream,
  Operation,
  OperationState,
  PlannedOrder,
  Started,
  UpstreamTraits,
  VendorCall,
  Verified,
} from '#contracts';

/** An upstream in place of the sandbox, for tests that say how its vendor behaves. What it states of itself may change. */
export abstract class PlainUpstream implements MediaUpstream {
  readonly id = 'sandbox';
  readonly vendorAccount = 'sandbox';
  readonly protocol = 'sandbox';
  repeatStart: UpstreamTraits['repeatStart'] = 'idempotent';
  startTimeoutMs = 30_000;
  findableAfterMs = 30_000;
  access: string | undefined;

  get traits(): UpstreamTraits {
    const { repeatStart, startTimeoutMs, findableAfterMs } = this;
    return {
      style: 'task',
      repeatStart,
      startTimeoutMs,
      findableAfterMs,
      firstCheckMs: 300,
      checkEveryMs: 1_200,
      checkTimeoutMs: 7_500,
    };
  }

  plan({ taskId, model }: PlannedOrder): CallPlan {
    const { id: upstream, access } = this;
    return { ticket: { upstream, model, taskId, ...(access !== undefined && { access }) }, slots: 1 };
  }

  abstract start(order: MediaOrder, call: VendorCall): Promise<Started>;
  abstract check(operation: Operation, call: VendorCall): Promise<OperationState>;

  verify(): Promise<Verified> {
    return Promise.resolve({ ok: true });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
