import { Body, Param, Req } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { AdminTaskDetails } from '#contracts';
import {
  ReadTaskService,
  TaskOverview,
  TaskRemediesService,
  TaskSearchService,
  TasksNeedingAttentionService,
} from '#features';
import { amountOf, checked, CheckedQuery } from '../checked-input.js';
import { openSession } from '../console/console-gate.js';
import { PageRoute } from '../console/console-routes.js';
import { ownersNameOf } from '../console/console-task-history.js';
import { filesOf, rowOf } from '../console/views.js';
import { clientGone } from '../http/client-gone.js';
import { viewOf } from '../row-view.js';
import { sendList } from '../send-list.js';
import { TASK_OPERATIONS } from './admin.openapi.js';
import { AdminRoute, operatorOf, OperatorRoute, OperatorRoutes } from './operator-route.js';
import { ReasonBody, RefundBody, TaskSearchQuery, toTaskSearch } from './task.dto.js';
import { Reply } from '../http/route.js';

/** Tasks of all accounts, and what can be done for them. No answer of the admin API shows what was asked for or made. */
@OperatorRoutes()
export class AdminTasksController {
  constructor(
    private readonly search: TaskSearchService,
    private readonly overview: TaskOverview,
    private readonly reading: ReadTaskService,
    private readonly remedies: TaskRemediesService,
    private readonly attention: TasksNeedingAttentionService,
  ) {}

  @OperatorRoute('GET /tasks', TASK_OPERATIONS.adminSearchTasks)
  list(@CheckedQuery(TaskSearchQuery) list: TaskSearchQuery, @Reply() response: Response) {
    const search = toTaskSearch(list);
    return sendList(response, list, (page) => this.search.find(search, page));
  }

  /** One task with its timeline, ledger entries, usage and webhook deliveries. */
  @AdminRoute('GET /tasks/:task_id', TASK_OPERATIONS.adminReadTask)
  async read(@Param('task_id') taskId: string) {
    return viewOf(await this.overview.read(taskId));
  }

  @PageRoute('GET /admin/tasks/:task_id')
  async readForPages(@Param('task_id') id: string, @Req() request: Request) {
    const history = await this.overview.read(id);
    const timeline = history.timeline.map((each) => ({ ...each, name: ownersNameOf(each.event) }));
    // What was made belongs to the customer: who may only look gets no links to it.
    const mayOpen = openSession(request).permissions.has('admin:write');
    const view = mayOpen ? await this.reading.read(history.task.account_id, id) : null;
    const deliveries = history.deliveries.map(({ state, ...delivery }) => ({ ...delivery, status: state }));
    return { ...rowOf<AdminTaskDetails>({ ...history, timeline, deliveries }), files: view && filesOf(view.result) };
  }

  /** Stops it, as its owner can. */
  @OperatorRoute('POST /tasks/:task_id/cancel', TASK_OPERATIONS.adminCancelTask)
  async cancel(
    @Param('task_id') taskId: string,
    @Body() body: unknown,
    @Req() request: Request,
    @Reply() response: Response,
  ) {
    const { reason = null } = checked(ReasonBody, body ?? {});
    const task = await this.remedies.cancel(operatorOf(request), taskId, reason, clientGone(response));
    const { status, cancellation = null } = task;
    if (!task.usage.final) response.status(202);
    return { task_id: taskId, status, cancellation };
  }

  /** Gives money back, once for each reference. */
  @OperatorRoute('POST /tasks/:task_id/refund', TASK_OPERATIONS.adminRefundTask)
  async refund(@Param('task_id') taskId: string, @Body() body: unknown, @Req() request: Request) {
    const { amount, reference, reason } = checked(RefundBody, body);
    const amountMicros = amount === undefined ? null : amountOf(amount, 'amount');
    return viewOf(await this.remedies.refund(operatorOf(request), { taskId, amountMicros, reference, reason }));
  }

  /** Sends a failed task again, as a new one. */
  @OperatorRoute('POST /tasks/:task_id/redrive', TASK_OPERATIONS.adminRedriveTask)
  redrive(@Param('task_id') taskId: string, @Body() body: unknown, @Req() request: Request) {
    const { reason = null } = checked(ReasonBody, body ?? {});
    return this.remedies.redrive(operatorOf(request), taskId, reason);
  }

  /** Tasks that were given up, orders no vendor has confirmed, and work at vendors that no task holds. */
  @OperatorRoute('GET /tasks-needing-attention', TASK_OPERATIONS.adminListTasksNeedingAttention)
  async needingAttention() {
    return viewOf(await this.attention.list());
  }
}
