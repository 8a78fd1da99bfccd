import { Injectable } from '@nestjs/common';
import { GatewayError, type TaskView } from '#contracts';
import { FollowTaskService } from '../read/follow-task.service.js';
import { ReadTaskService } from '../read/read-task.service.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import { TaskTransitions } from '../task-transitions.js';

/** How long a caller waits for the vendor's answer, in milliseconds; after that the request to cancel stands and the caller can ask again. */
const ANSWER_MS = 8_000;

/** Stops tasks for their owners. */
@Injectable()
export class CancelTaskService {
  constructor(
    private readonly tasks: ReadTaskService,
    private readonly follow: FollowTaskService,
    private readonly transitions: TaskTransitions,
    private readonly settlement: SettleTaskService,
  ) {}

  /**
   * Stops a task and gives the hold back. Work that no vendor has seen stops at once, and so does an order that a vendor
   * may have but knows under no name of ours; a vendor that has it is asked by a worker. Safe to repeat. The view's
   * `cancellation` says how far it came: `cancelled`, or still `requested`.
   *
   * @throws GatewayError `task_not_found`; `conflict` when the task has ended otherwise, or continues because its vendor
   * could not stop it: the message says what that means for the money.
   */
  async cancel(accountId: string, taskId: string, signal: AbortSignal): Promise<TaskView> {
    await this.tasks.read(accountId, taskId);
    if (await this.settlement.cancelUnstarted(taskId)) return this.tasks.read(accountId, taskId);
    if (!(await this.transitions.requestCancel(taskId, accountId))) return this.ended(accountId, taskId);
    const answered = ({ usage, cancellation }: TaskView): boolean =>
      usage.final || cancellation?.outcome !== 'requested';
    const task = await this.follow.waitUntil(accountId, taskId, answered, { waitMs: ANSWER_MS, signal });
    return stopped(task);
  }

  /** No vendor can be asked any more. */
  private async ended(accountId: string, taskId: string): Promise<TaskView> {
    const task = await this.tasks.read(accountId, taskId);
    if (task.usage.final) return stopped(task);
    throw tooLate('The vendor has finished: the files are being copied, and the task will be charged.');
  }
}

function stopped(task: TaskView): TaskView {
  if (task.status === 'cancelled') return task;
  if (task.usage.final) {
    const { amount, unit } = task.usage;
    throw tooLate(`The task is ${task.status} already; ${amount} ${unit} were charged.`);
  }
  const { cancellation } = task;
  if (cancellation && cancellation.outcome !== 'requested') throw tooLate(cancellation.message);
  return task;
}

const tooLate = (message: string): GatewayError => new GatewayError('conflict', message, { param: 'task_id' });
