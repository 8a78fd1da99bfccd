import { Readable } from 'node:stream';
import {
  type MediaOrder,
  type MediaProvider,
  type Operation,
  type OperationState,
  ProviderError,
  type ProviderOutput,
} from '#contracts';
import { RenderPool } from '#sandbox-media';
import type { SandboxConfig } from './sandbox.config.js';
import {
  describeOperation,
  outputsOf,
  promptOf,
  readOperation,
  readOutput,
  type SandboxOperation,
} from './sandbox-operation.js';
import { readPromptDirectives, SANDBOX_FAILURES } from '../../prompt-directives.js';

/** Shortest and longest time until the next `check`, in milliseconds. */
const MIN_POLL_DELAY_MS = 20;
const MAX_POLL_DELAY_MS = 1_000;

/**
 * A vendor without a network, so that everything runs on one laptop with no account anywhere. It makes real files, exactly
 * as long and as large as ordered, from the prompt and the seed alone; they say that they are no model's work.
 *
 * It keeps nothing: the operation holds all that is needed to render later, in any process. Prompts can order failures and
 * delays: see `PromptDirectives`.
 */
export class SandboxProvider implements MediaProvider {
  readonly id = 'sandbox';
  readonly repeatStart = 'idempotent';

  /** @param now milliseconds since 1970; tests put their own clock here. */
  constructor(
    private readonly config: SandboxConfig,
    private readonly renderPool = new RenderPool(),
    private readonly now: () => number = Date.now,
  ) {}

  async start(order: MediaOrder, signal: AbortSignal): Promise<Operation> {
    signal.throwIfAborted();
    const { flakyStarts } = readPromptDirectives(promptOf(order));
    const attempt = order.attempt ?? 1;
    if (attempt <= flakyStarts) {
      throw new ProviderError(
        'retryable',
        `The sandbox failed on try ${attempt} of ${flakyStarts}, as the prompt asks.`,
      );
    }
    const { SANDBOX_VIDEO_MS, SANDBOX_IMAGE_MS } = this.config;
    return describeOperation(order, this.now(), order.medium === 'video' ? SANDBOX_VIDEO_MS : SANDBOX_IMAGE_MS);
  }

  async check(operation: Operation, signal: AbortSignal): Promise<OperationState> {
    signal.throwIfAborted();
    const sandboxOperation = readOperation(operation);
    const remainingMs = this.#remainingMs(sandboxOperation);
    if (remainingMs > 0) return pending(sandboxOperation, remainingMs);
    const { failure } = sandboxOperation;
    if (failure) return { state: 'failed', code: failure, publicReason: SANDBOX_FAILURES[failure] };
    return { state: 'succeeded', outputs: outputsOf(sandboxOperation) };
  }

  /** Renders the file again on each call; the bytes are always the same. */
  async open(output: ProviderOutput, signal: AbortSignal): Promise<Readable> {
    const file = await this.renderPool.render(readOutput(output), signal);
    return Readable.from([file], { objectMode: false });
  }

  async cancel(operation: Operation, signal: AbortSignal): Promise<'cancelled' | 'too_late'> {
    signal.throwIfAborted();
    return this.#remainingMs(readOperation(operation)) > 0 ? 'cancelled' : 'too_late';
  }

  /** Ends the render threads. Renders that still run fail. */
  async close(): Promise<void> {
    await this.renderPool.close();
  }

  #remainingMs({ startedAtMs, workMs }: SandboxOperation): number {
    return workMs === null ? Number.POSITIVE_INFINITY : startedAtMs + workMs - this.now();
  }
}

function pending({ workMs }: SandboxOperation, remainingMs: number): OperationState {
  const pollDelayMs = Math.min(MAX_POLL_DELAY_MS, Math.max(MIN_POLL_DELAY_MS, remainingMs));
  const doneMs = workMs === null ? 0 : workMs - remainingMs;
  const progressPercent = workMs ? Math.min(99, Math.max(0, Math.floor((doneMs / workMs) * 100))) : 0;
  return { state: 'pending', pollDelayMs, progressPercent };
}
