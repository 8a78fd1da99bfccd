import { Body, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { type AdminMargin, type AdminMargins, GatewayError } from '#contracts';
import {
  type Margin,
  MARGIN_GROUPS,
  MarginsService,
  type ReconciliationReport,
  ReconciliationService,
  RecordsService,
  UsageService,
} from '#features';
import { checked } from '../checked-input.js';
import { type Answer, PageRoute } from '../console/console-routes.js';
import { rowOf } from '../console/views.js';
import { daysOf, groupsOf, MarginsQuery, recordsOf } from '../list-query.js';
import { viewOf } from '../row-view.js';
import { csvOf, sendList } from '../send-list.js';
import { RECORD_OPERATIONS } from './admin.openapi.js';
import { AdminRoute, OperatorRoutes } from './operator-route.js';
import {
  AccountUsageQuery,
  AccountUsageSumsQuery,
  AuditQuery,
  LedgerQuery,
  ReconcileBody,
  ReconcileQuery,
} from './records.dto.js';

const REPORTS_SHOWN = 30;

/** What was written down, for operators: ledger, audit, usage, margins, and the proof that it adds up. */
@OperatorRoutes()
export class RecordsController {
  constructor(
    private readonly records: RecordsService,
    private readonly usage: UsageService,
    private readonly marginsService: MarginsService,
    private readonly reconciliation: ReconciliationService,
  ) {}

  @AdminRoute('GET /ledger', RECORD_OPERATIONS.adminListLedger)
  ledger(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    const list = checked(LedgerQuery, query);
    const narrowed = {
      accountId: list.account_id ?? null,
      taskId: list.task_id ?? null,
      requestId: list.request_id ?? null,
    };
    return sendList(response, list, (page) => this.records.ledger(narrowed, page));
  }

  @AdminRoute('GET /audit', RECORD_OPERATIONS.adminListAudit, { page: 'GET /admin/audit' })
  audit(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    const list = checked(AuditQuery, query);
    return sendList(response, list, (page) => this.records.audit(list.subject_id ?? null, page));
  }

  @AdminRoute('GET /usage', RECORD_OPERATIONS.adminReadUsage)
  async usageSums(@Query() query: unknown): Promise<unknown> {
    const asked = checked(AccountUsageSumsQuery, query);
    const sums = await this.usage.sums(daysOf(asked, asked.account_id ?? null), groupsOf(asked.group_by));
    return asked.format === 'csv' ? csvOf(sums) : sums.map(viewOf);
  }

  @AdminRoute('GET /usage/records', RECORD_OPERATIONS.adminListUsageRecords)
  usageRecords(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    const list = checked(AccountUsageQuery, query);
    const asked = recordsOf(list, list.account_id ?? null);
    return sendList(response, list, (page) => this.usage.operatorRecords(asked, page));
  }

  /** What the work of upstreams brought beside what it cost. */
  @AdminRoute('GET /margins', RECORD_OPERATIONS.adminReadMargins)
  async margins(@Query() query: unknown): Promise<unknown> {
    const asked = checked(MarginsQuery, query);
    const rows = await this.marginsService.margins(daysOf(asked, null), groupsOf(asked.group_by, MARGIN_GROUPS));
    return asked.format === 'csv' ? csvOf(rows) : rows.map(viewOf);
  }

  @PageRoute('GET /admin/margins')
  async marginsForPages(@Query() query: unknown): Answer<'GET /admin/margins'> {
    const asked = checked(MarginsQuery, query);
    const { from, to } = daysOf(asked, null);
    const rows = await this.marginsService.margins({ from, to }, groupsOf(asked.group_by, MARGIN_GROUPS));
    return { from, to, items: rows.map((row) => rowOf<AdminMargin>(row)), total: totalOf(rows) };
  }

  @AdminRoute('GET /reconciliations', RECORD_OPERATIONS.adminListReconciliations)
  async reports(): Promise<unknown> {
    return (await this.reconciliation.latest(REPORTS_SHOWN)).map(viewOf);
  }

  @PageRoute('GET /admin/reconciliations')
  async reportsForPages(): Answer<'GET /admin/reconciliations'> {
    const reports = await this.reconciliation.latest(REPORTS_SHOWN);
    return { items: reports.map((report) => rowOf(report)) };
  }

  /** Reconciles now and answers the report. */
  @AdminRoute('POST /reconciliations', RECORD_OPERATIONS.adminReconcile)
  async reconcile(@Query() query: unknown): Promise<unknown> {
    return viewOf(await this.reconciled(checked(ReconcileQuery, query).full === 'true'));
  }

  @PageRoute('POST /admin/reconciliations')
  async reconcileForPages(@Body() body: unknown): Answer<'POST /admin/reconciliations'> {
    return rowOf(await this.reconciled(checked(ReconcileBody, body).full === true));
  }

  /** @throws GatewayError `conflict`: one is running. */
  private async reconciled(full: boolean): Promise<ReconciliationReport> {
    const report = await this.reconciliation.run({ full });
    if (report) return report;
    throw new GatewayError('conflict', 'A reconciliation is already running; its report will appear in the list.');
  }
}

/** Of all rows; without a margin while one of them has none. */
function totalOf(rows: readonly Margin[]): AdminMargins['total'] {
  const sum = (name: 'tasks' | 'completed_tasks' | 'tasks_without_cost' | 'earned_micros' | 'cost_micros'): bigint =>
    rows.reduce((total, row) => total + row[name], 0n);
  const [earned, cost, without] = [sum('earned_micros'), sum('cost_micros'), sum('tasks_without_cost')];
  return rowOf<AdminMargins['total']>({
    tasks: sum('tasks'),
    completed_tasks: sum('completed_tasks'),
    tasks_without_cost: without,
    earned_micros: earned,
    cost_micros: cost,
    margin_micros: without === 0n ? earned - cost : null,
  });
}
