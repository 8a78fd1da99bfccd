import {
  type CallPlan,
  MediaFailure,
  type MediaOrder,
  type MediaProvider,
  type MediaUpstream,
  type Operation,
  type OperationState,
  type PlannedOrder,
  ProviderError,
  type Started,
  type UpstreamTraits,
  type VendorCall,
  type Verified,
} from '#contracts';
import type { VendorCosts } from './vendor-costs.js';

const FIRST_CHECK_MS = 300;
const CHECK_EVERY_MS = 1_200;
const CHECK_TIMEOUT_MS = 7_500;
const START_TIMEOUT_MS = 30_000;
const FINDABLE_AFTER_MS = 30_000;

/** A provider that needs no configuration, such as the sandbox, as the upstream that the router asks. */
export class ProviderUpstream implements MediaUpstream {
  readonly protocol = 'sandbox';

  constructor(
    private readonly provider: MediaProvider,
    /** Its name, when several stand before one provider. */
    private readonly name: { readonly id: string; readonly vendor_account?: string } = { id: provider.id },
    private readonly costs?: VendorCosts,
  ) {}

  // What a provider has is read again each time, as its traits are.
  get find(): MediaUpstream['find'] {
    const find = this.provider.find?.bind(this.provider);
    return find && (({ ticket, signal }) => sorted(() => this.found(find(taskOf(ticket), signal))));
  }

  get open(): MediaUpstream['open'] {
    const open = this.provider.open?.bind(this.provider);
    return open && ((output, { signal }) => sorted(() => open(output, signal)));
  }

  get cancel(): MediaUpstream['cancel'] {
    const cancel = this.provider.cancel?.bind(this.provider);
    return cancel && ((operation, { signal }) => sorted(() => cancel(operation, signal)));
  }

  get id(): string {
    return this.name.id;
  }

  get vendorAccount(): string {
    return this.name.vendor_account ?? this.name.id;
  }

  /** Read again each time: a provider may change what it says of itself. */
  get traits(): UpstreamTraits {
    const { repeatStart, startTimeoutMs, findableAfterMs } = this.provider;
    return {
      style: 'task',
      repeatStart,
      startTimeoutMs: startTimeoutMs ?? START_TIMEOUT_MS,
      findableAfterMs: findableAfterMs ?? FINDABLE_AFTER_MS,
      firstCheckMs: FIRST_CHECK_MS,
      checkEveryMs: CHECK_EVERY_MS,
      checkTimeoutMs: CHECK_TIMEOUT_MS,
    };
  }

  plan(order: PlannedOrder): CallPlan {
    const { taskId, model } = order;
    const cost = this.costs?.ofOrder(order);
    return { ticket: { upstream: this.id, model, taskId }, slots: 1, ...(cost && { cost }) };
  }

  start(order: MediaOrder, { signal }: VendorCall): Promise<Started> {
    return sorted(async () => ({ kind: 'operation', operation: await this.provider.start(order, signal) }));
  }

  check(operation: Operation, { signal }: VendorCall): Promise<OperationState> {
    return sorted(() => this.provider.check(operation, signal));
  }

  verify(): Promise<Verified> {
    return Promise.resolve({ ok: true });
  }

  /** The provider is closed by its opener. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  private async found(search: Promise<Operation | null>): Promise<Started | null> {
    const operation = await search;
    return operation && { kind: 'operation', operation };
  }
}

const taskOf = ({ taskId }: VendorCall['ticket']): string => taskId as string;

async function sorted<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof ProviderError ? asMediaFailure(error) : error;
  }
}

/** A provider's messages are our own, so they are passed on unchanged. */
function asMediaFailure(error: ProviderError): MediaFailure {
  const { kind, code, publicReason, retryAfterMs } = error;
  const details = { cause: error, vendor: { code, message: publicReason } };
  if (kind === 'ambiguous') return new MediaFailure('ambiguous', 'unanswered', details);
  if (kind === 'final') return new MediaFailure('refused', reasonOf(code), details);
  if (retryAfterMs === undefined) return new MediaFailure('unavailable', 'away', details);
  return new MediaFailure('busy', 'busy', { ...details, retryAfterMs });
}

function reasonOf(code: ProviderError['code']): MediaFailure['reason'] {
  if (code === 'content_policy') return 'content_refused';
  return code === 'invalid_media' ? 'reference_unusable' : 'not_possible';
}
