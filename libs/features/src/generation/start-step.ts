import { ProviderError, type MediaOrder, type MediaProvider, type Operation } from '#contracts';
import { InvalidMedia, logger } from '#platform';
import type { MediaProviderRegistry } from '#providers';
import { catalogFamily } from '../tasks/catalog-family.js';
import type { TaskRow } from '../tasks/task-row.js';
import { MAX_FAILURES } from './attempts.js';
import { backoffDelayMs } from './backoff.js';
import type { ReferenceCheck } from './reference-check.js';
import type { SettleTaskService } from './settle-task.service.js';
import type { TaskMoves } from './task-moves.js';

const log = logger('generation');

/** The first look at a fresh operation; later looks follow what the vendor says. */
const FIRST_POLL_MS = 300;

/** Hands a claimed task to its vendor, at most once however often workers die in between. */
export class StartStep {
  constructor(
    private readonly moves: TaskMoves,
    private readonly settlement: SettleTaskService,
    private readonly providers: MediaProviderRegistry,
    private readonly references: ReferenceCheck,
  ) {}

  async run(task: TaskRow, signal: AbortSignal): Promise<void> {
    const provider =
      task.start_intent_at && task.provider
        ? this.providers.providerById(task.provider)
        : this.providers.providerOf(task.model);
    if (task.start_intent_at && provider.repeatStart !== 'idempotent') return this.resume(task, provider, signal);
    return this.startFresh(task, provider, signal);
  }

  private async startFresh(task: TaskRow, provider: MediaProvider, signal: AbortSignal): Promise<void> {
    const order = await this.prepare(task, signal);
    if (!order) return;
    if (!(await this.moves.recordStartIntent(task, provider.id))) return;
    let operation: Operation;
    try {
      operation = await provider.start(order, signal);
    } catch (error) {
      return this.startFailed(task, provider, error);
    }
    await this.started(task, provider, operation);
  }

  /** Checks what the order points at. Null: it broke a rule, and the task has been ended. */
  private async prepare(task: TaskRow, signal: AbortSignal): Promise<MediaOrder | null> {
    const family = catalogFamily(task.model);
    try {
      return {
        taskId: task.id,
        model: task.model,
        family: task.family,
        medium: task.medium,
        mode: task.mode,
        parameters: task.parameters,
        references: await this.references.check(family, task.parameters, signal),
        output: family.output(task.parameters),
        attempt: task.failures + 1,
      };
    } catch (error) {
      if (!(error instanceof InvalidMedia)) throw error;
      await this.settlement.fail(task, 'invalid_media', error.message);
      return null;
    }
  }

  /**
   * An earlier attempt announced the call and then went silent, so the vendor may have the order. A vendor that can be
   * asked is asked; otherwise nothing is sent again, and the deadline releases the customer's money.
   */
  private async resume(task: TaskRow, provider: MediaProvider, signal: AbortSignal): Promise<void> {
    const operation = await provider.find?.(task.id, signal);
    if (operation) return this.started(task, provider, operation);
    if (operation === null) return this.startFresh(task, provider, signal);
    log.warn('task.start_unknown', { taskId: task.id, provider: provider.id });
    await this.moves.awaitDeadline(task, 'The start was interrupted; the vendor cannot say whether it has the order.');
  }

  private async started(task: TaskRow, provider: MediaProvider, operation: Operation): Promise<void> {
    if (await this.moves.setRunning(task, provider.id, operation, FIRST_POLL_MS)) return;
    log.warn('upstream.orphaned', { taskId: task.id, provider: provider.id });
    await this.moves.recordOrphan(task.id, provider.id, operation);
  }

  /** What was thrown decides: refused for good, may be tried again, or nobody knows. */
  private async startFailed(task: TaskRow, provider: MediaProvider, error: unknown): Promise<void> {
    if (!(error instanceof ProviderError)) throw error;
    log.warn('upstream.start_failed', {
      taskId: task.id,
      provider: provider.id,
      kind: error.kind,
      reason: error.publicReason,
    });
    if (error.kind === 'retryable' && task.failures + 1 < MAX_FAILURES) {
      await this.moves.requeue(task, error.publicReason, error.retryAfterMs ?? backoffDelayMs(task.failures));
    } else if (error.kind === 'ambiguous') {
      await this.ambiguous(task, provider, error);
    } else {
      await this.settlement.fail(task, error.code, error.publicReason);
    }
  }

  /** A vendor that recognises a repeated order, or can be asked for it, gets another attempt; any other never does. */
  private async ambiguous(task: TaskRow, provider: MediaProvider, error: ProviderError): Promise<void> {
    if (provider.repeatStart === 'unknown') await this.moves.awaitDeadline(task, error.publicReason);
    else await this.moves.retryLater(task, error.publicReason, error.retryAfterMs ?? backoffDelayMs(task.failures));
  }
}
