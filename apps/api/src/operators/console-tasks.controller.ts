import { Body, Param, Query, Req, Res } from '@nestjs/common';
import { IsBoolean, IsOptional } from 'class-validator';
import type { Request, Response } from 'express';
import { type AdminReconciliation, type AdminTask, type AdminTaskDetails, GatewayError } from '#contracts';
import {
  ReadTaskService,
  ReconciliationService,
  RecordsService,
  TaskOverview,
  TaskRemediesService,
  TaskSearchService,
  TasksNeedingAttentionService,
} from '#features';
import { amountOf, checked } from '../checked-input.js';
import { AuditQuery } from './records.dto.js';
import { ReasonBody, RefundBody, TaskSearchQuery, toTaskSearch } from './task.dto.js';
import { clientGone } from '../http/client-gone.js';
import { sendList } from '../send-list.js';
import { actorOf, type Answer, ConsoleRoute, ConsoleRoutes } from '../console/console-routes.js';
import { openSession } from '../console/console-gate.js';
import { ownersNameOf } from '../console/console-task-history.js';
import { type AnswerOf, filesOf, listOf, rowOf } from '../console/views.js';

const REPORTS_SHOWN = 30;

class ReconcileBody {
  @IsOptional() @IsBoolean() full?: boolean;
}

/** State of the tasks of all accounts, reconciliation results and the audit log. */
@ConsoleRoutes()
export class AdminConsoleTasksController {
  constructor(
    private readonly search: TaskSearchService,
    private readonly overview: TaskOverview,
    private readonly reading: ReadTaskService,
    private readonly remedies: TaskRemediesService,
    private readonly attention: TasksNeedingAttentionService,
    private readonly records: RecordsService,
    private readonly reconciliation: ReconciliationService,
  ) {}

  @ConsoleRoute('GET /admin/tasks')
  async list(@Query() query: unknown): Answer<'GET /admin/tasks'> {
    const list = checked(TaskSearchQuery, query);
    return listOf<AdminTask>(
      await this.search.find(toTaskSearch(list), { limit: list.limit, cursor: list.cursor ?? null }),
    );
  }

  @ConsoleRoute('GET /admin/tasks/:task_id')
  async read(@Param('task_id') id: string, @Req() request: Request): Answer<'GET /admin/tasks/:task_id'> {
    const history = await this.overview.read(id);
    const timeline = history.timeline.map((each) => ({ ...each, name: ownersNameOf(each.event) }));
    // What was made belongs to the customer: who may only look gets no links to it.
    const mayOpen = openSession(request).permissions.has('admin:write');
    const view = mayOpen ? await this.reading.read(history.task.account_id, id) : null;
    const deliveries = history.deliveries.map(({ state, ...delivery }) => ({ ...delivery, status: state }));
    return { ...rowOf<AdminTaskDetails>({ ...history, timeline, deliveries }), files: view && filesOf(view.result) };
  }

  @ConsoleRoute('POST /admin/tasks/:task_id/cancel')
  async cancel(
    @Param('task_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Answer<'POST /admin/tasks/:task_id/cancel'> {
    const { reason = null } = checked(ReasonBody, body);
    const { status } = await this.remedies.cancel(actorOf(request), id, reason, clientGone(response));
    return { task_id: id, status };
  }

  @ConsoleRoute('POST /admin/tasks/:task_id/refund')
  async refund(
    @Param('task_id') taskId: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/tasks/:task_id/refund'> {
    const { amount, reference, reason } = checked(RefundBody, body);
    const amountMicros = amount === undefined ? null : amountOf(amount, 'amount');
    return rowOf(await this.remedies.refund(actorOf(request), { taskId, amountMicros, reference, reason }));
  }

  @ConsoleRoute('POST /admin/tasks/:task_id/redrive')
  async redrive(
    @Param('task_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/tasks/:task_id/redrive'> {
    const { reason = null } = checked(ReasonBody, body);
    return rowOf(await this.remedies.redrive(actorOf(request), id, reason));
  }

  @ConsoleRoute('GET /admin/tasks-needing-attention')
  async needingAttention(): Answer<'GET /admin/tasks-needing-attention'> {
    return rowOf(await this.attention.list());
  }

  @ConsoleRoute('GET /admin/reconciliations')
  async reports(): Answer<'GET /admin/reconciliations'> {
    const reports = await this.reconciliation.latest(REPORTS_SHOWN);
    return { items: reports.map((report) => rowOf<AdminReconciliation>(report)) };
  }

  @ConsoleRoute('POST /admin/reconciliations')
  async reconcile(@Body() body: unknown): Answer<'POST /admin/reconciliations'> {
    const report = await this.reconciliation.run({ full: checked(ReconcileBody, body).full === true });
    if (!report)
      throw new GatewayError('conflict', 'A reconciliation is already running; its report will appear in the list.');
    return rowOf(report);
  }

  @ConsoleRoute('GET /admin/audit')
  async audit(
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AnswerOf<'GET /admin/audit'> | undefined> {
    const list = checked(AuditQuery, query);
    const subject = list.subject_id ?? null;
    if (list.format === 'csv') {
      await sendList(response, list, (page) => this.records.audit(subject, page));
      return undefined;
    }
    return listOf(await this.records.audit(subject, { limit: list.limit, cursor: list.cursor ?? null }));
  }
}
