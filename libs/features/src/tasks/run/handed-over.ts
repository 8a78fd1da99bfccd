import { Inject, Injectable } from '@nestjs/common';
import type { MediaUpstream, Operation, Started } from '#contracts';
import { logger, signals } from '#platform';
import type { RoutedUpstream } from '../../upstreams/media-upstreams.js';
import { bareTicket, notedCall } from '../../media-upstreams/vendor-call.js';
import { storableOperation } from '../poll/vendor-answers.js';
import { taskLog } from '../task-log.js';
import type { ClaimedTask, TaskRow } from '../task-row.js';
import type { KnownCosts } from '../task-transitions.js';
import { withinLimit } from './step-limit.js';
import { WorkerParts } from './worker-parts.js';

const log = logger('generation');

/** The longest wait for a vendor that is asked to stop, in milliseconds. */
const CANCEL_MS = 10_000;

type HandedOverParts = Pick<WorkerParts, 'transitions' | 'settlement' | 'notifier' | 'failpoints'>;

/** A call whose outcome is not known. */
interface LostCall {
  readonly reason: string;
  /** It was given up when its time was over, and may still be answered. */
  readonly isUnderWay: boolean;
}

/** What happens to a task whose order an upstream has, or may have. */
@Injectable()
export class HandedOver {
  constructor(@Inject(WorkerParts) private readonly parts: HandedOverParts) {}

  /** The upstream has it: noted in the row or, when the task has moved on, as an orphan, work that no task waits for. */
  async started(task: ClaimedTask, { upstream }: RoutedUpstream, started: Started, costs: KnownCosts): Promise<void> {
    const { transitions, notifier } = this.parts;
    if (started.kind === 'finished') {
      if (await transitions.setFinished(task, upstream.id, started.outputs, costs))
        notifier.notify(task.medium, [task.id]);
      else log.warn('upstream.finished_late', { taskId: task.id, provider: upstream.id });
      return;
    }
    await this.taken(task, upstream, storableOperation(started.operation), costs);
  }

  private async taken(task: ClaimedTask, upstream: MediaUpstream, operation: Operation, costs: KnownCosts) {
    const { transitions, failpoints } = this.parts;
    const { id: provider, vendorAccount, traits } = upstream;
    const name = upstream.nameOf?.(operation);
    const work = { provider, vendorAccount, name, operation, firstCheckMs: traits.firstCheckMs, costs };
    const outcome = await transitions.setRunning(task, work);
    if (outcome === 'anothers') return this.mixedUp(task, provider, operation);
    if (outcome === 'running') {
      taskLog.started(task, provider, operation);
      failpoints.reach('after-running');
      return;
    }
    log.warn('upstream.orphaned', { taskId: task.id, provider });
    const unwanted = await transitions.recordOrphan(task.id, provider, operation);
    if (unwanted) await this.stopOrphan(task, upstream, operation);
  }

  /** The operation may belong to another customer: only the task that got the name first may have its files. */
  private async mixedUp(task: ClaimedTask, provider: string, operation: Operation): Promise<void> {
    signals.mediaOrders.inc({ upstream: provider, outcome: 'mixed_up' });
    log.error('upstream.order_mixed_up', { taskId: task.id, provider, operation });
    await this.parts.settlement.fail(
      task,
      'upstream_error',
      'The vendor mixed this order up with another one. It was not made, and nothing was charged.',
    );
  }

  /**
   * A call was lost whose vendor cannot say whether it took the order. Only a call that is still under way can tell of an
   * operation, and only a vendor that calls back of work that nobody else knows of: then the task waits for its deadline. Any
   * other fails at once, or is sent once more where the operator of an upstream that answers with its files said so.
   */
  async lost(task: ClaimedTask, routed: RoutedUpstream, { reason, isUnderWay }: LostCall): Promise<void> {
    const { transitions, settlement } = this.parts;
    const { upstream, lostCalls, callbacks } = routed;
    const isTask = upstream.traits.style === 'task';
    if (isTask && (isUnderWay || callbacks)) return void (await transitions.awaitDeadline(task, reason));
    if (!isTask && lostCalls === 'repeat_once' && (await transitions.repeatLostCall(task, reason))) return;
    await settlement.fail(
      task,
      'upstream_unknown',
      'The call to the vendor was lost. It was not sent again, and nothing was charged.',
    );
  }

  private async stopOrphan(task: TaskRow, upstream: MediaUpstream, operation: Operation): Promise<void> {
    if (!upstream.cancel) return;
    const limit = { step: 'cancel', limitMs: CANCEL_MS } as const;
    const stopped = withinLimit(limit, async (limited) =>
      upstream.cancel?.(operation, notedCall(limited, bareTicket(upstream, task.id)).call),
    );
    const outcome = await stopped.catch(() => 'too_late' as const);
    if (outcome === 'cancelled') await this.parts.transitions.resolveOrphan(task.id, operation);
  }

  /** A vendor that answers after all has taken the order: noted in the task while it is still this attempt's, else as an orphan. */
  awaitLate(task: ClaimedTask, routed: RoutedUpstream, late: Promise<unknown>, costs: () => KnownCosts): void {
    late
      .then((started) => this.started(task, routed, started as Started, costs()))
      .catch((error: unknown) => log.warn('upstream.start_failed_late', { taskId: task.id, error }));
  }
}
