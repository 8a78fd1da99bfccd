import { Readable } from 'node:stream';
import {
  type CallPlan,
  MediaFailure,
  type MediaOrder,
  type MediaUpstream,
  type Operation,
  type OperationState,
  type PlannedOrder,
  type Started,
  type UpstreamOutput,
  type UpstreamTraits,
  type VendorCall,
  type Verified,
} from '#contracts';
import { observeUpstream, Variable } from '#platform';
import { RenderPool } from '#sandbox-media';
import { readPromptDirectives, SANDBOX_FAILURES } from '../../prompt-directives.js';
import type { VendorCosts } from '../vendor-costs.js';
import {
  describeOperation,
  outputsOf,
  promptOf,
  readOperation,
  readOutput,
  type SandboxOperation,
} from './sandbox-operation.js';

/** How long the sandbox pretends to work. A `[sandbox:delay=…]` in the prompt wins. */
export class SandboxConfig {
  @Variable({
    description: 'How long the sandbox pretends to work on a video.',
    unit: 'milliseconds',
    between: [0, 3_600_000],
  })
  SANDBOX_VIDEO_MS = 1_500;

  @Variable({
    description: 'How long the sandbox pretends to work on an image.',
    unit: 'milliseconds',
    between: [0, 3_600_000],
  })
  SANDBOX_IMAGE_MS = 300;
}

/** Shortest and longest time until the next `check`, in milliseconds. */
const MIN_POLL_DELAY_MS = 20;
const MAX_POLL_DELAY_MS = 1_000;

/** What every sandbox of a process works with. */
interface SandboxParts {
  readonly config: SandboxConfig;
  /** Closed by who opened it; renders that still run then fail. */
  readonly renderPool: RenderPool;
  /** Milliseconds since 1970; tests put their own clock here. */
  readonly now: () => number;
}

/**
 * A vendor without a network, so that everything runs on one laptop with no account anywhere. It makes real files, exactly
 * as long and as large as ordered, from the prompt and the seed alone; they say that they are no model's work.
 *
 * It keeps nothing: the operation holds all that is needed to render later, in any process. Prompts can order failures and
 * delays: see `PromptDirectives`.
 */
export class SandboxUpstream implements MediaUpstream {
  readonly protocol = 'sandbox';
  readonly id: string;
  readonly vendorAccount: string;
  readonly traits: UpstreamTraits = {
    style: 'task',
    repeatStart: 'idempotent',
    startTimeoutMs: 30_000,
    findableAfterMs: 30_000,
    firstCheckMs: 300,
    checkEveryMs: 1_200,
    checkTimeoutMs: 7_500,
  };

  /** `name`: what it is called beside others. */
  constructor(
    private readonly parts: SandboxParts,
    name: { readonly id: string; readonly vendor_account?: string } = { id: 'sandbox' },
    private readonly costs?: VendorCosts,
  ) {
    this.id = name.id;
    this.vendorAccount = name.vendor_account ?? name.id;
  }

  plan(order: PlannedOrder): CallPlan {
    const { taskId, model } = order;
    const cost = this.costs?.ofOrder(order);
    return { ticket: { upstream: this.id, model, taskId }, slots: 1, ...(cost && { cost }) };
  }

  start(order: MediaOrder, { signal }: Pick<VendorCall, 'signal'>): Promise<Started> {
    const begin = async (): Promise<Started> => {
      signal.throwIfAborted();
      const { flakyStarts } = readPromptDirectives(promptOf(order));
      const attempt = order.attempt ?? 1;
      if (attempt <= flakyStarts) {
        const sentence = `The sandbox failed on try ${attempt} of ${flakyStarts}, as the prompt asks.`;
        throw new MediaFailure('unavailable', 'away', { sentence, vendor: { message: sentence } });
      }
      const { SANDBOX_VIDEO_MS, SANDBOX_IMAGE_MS } = this.parts.config;
      const workMs = order.medium === 'video' ? SANDBOX_VIDEO_MS : SANDBOX_IMAGE_MS;
      return { kind: 'operation', operation: describeOperation(order, this.parts.now(), workMs) };
    };
    return observeUpstream(this.id, 'start', begin, { task: order.taskId, model: order.model });
  }

  check(operation: Operation, { signal }: Pick<VendorCall, 'signal'>): Promise<OperationState> {
    return observeUpstream(this.id, 'check', async () => {
      signal.throwIfAborted();
      const sandboxOperation = readOperation(operation);
      const remainingMs = this.remainingMs(sandboxOperation);
      if (remainingMs > 0) return pending(sandboxOperation, remainingMs);
      const { failure } = sandboxOperation;
      if (failure) return { state: 'failed', code: failure, publicReason: SANDBOX_FAILURES[failure] };
      return { state: 'succeeded', outputs: outputsOf(sandboxOperation) };
    });
  }

  /** Renders the file again on each call; the bytes are always the same. */
  open(output: UpstreamOutput, { signal }: Pick<VendorCall, 'signal'>): Promise<Readable> {
    return observeUpstream(this.id, 'open', async () => {
      const file = await this.parts.renderPool.render(readOutput(output), signal);
      return Readable.from([file], { objectMode: false });
    });
  }

  cancel(operation: Operation, { signal }: Pick<VendorCall, 'signal'>): Promise<'cancelled' | 'too_late'> {
    return observeUpstream(this.id, 'cancel', async () => {
      signal.throwIfAborted();
      return this.remainingMs(readOperation(operation)) > 0 ? 'cancelled' : 'too_late';
    });
  }

  verify(): Promise<Verified> {
    return Promise.resolve({ ok: true });
  }

  /** It has nothing of its own to close. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  private remainingMs({ startedAtMs, workMs }: SandboxOperation): number {
    return workMs === null ? Number.POSITIVE_INFINITY : startedAtMs + workMs - this.parts.now();
  }
}

function pending({ workMs }: SandboxOperation, remainingMs: number): OperationState {
  const pollDelayMs = Math.min(MAX_POLL_DELAY_MS, Math.max(MIN_POLL_DELAY_MS, remainingMs));
  const doneMs = workMs === null ? 0 : workMs - remainingMs;
  const progressPercent = workMs ? Math.min(99, Math.max(0, Math.floor((doneMs / workMs) * 100))) : 0;
  return { state: 'pending', pollDelayMs, progressPercent };
}
