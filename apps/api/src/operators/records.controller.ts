import type { Response } from 'express';
import { type AdminMargins, type AdminReconciliation, GatewayError } from '#contracts';
import {
  type Margin,
  MARGIN_GROUPS,
  MarginsService,
  ReconciliationService,
  RecordsService,
  UsageService,
} from '#features';
import { CheckedBody, CheckedQuery } from '../checked-input.js';
import { PageRoute } from '../console/console-routes.js';
import { rowOf } from '../console/views.js';
import { DataWith } from '../http/envelope.js';
import { Reply } from '../http/route.js';
import { daysOf, groupsOf, MarginsQuery, recordsOf } from '../list-query.js';
import { viewOf, viewOfRow } from '../row-view.js';
import { csvOf, sendList } from '../send-list.js';
import { RECORD_OPERATIONS } from './admin.openapi.js';
import { AdminRoute, OperatorRoute, OperatorRoutes } from './operator-route.js';
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
  ledger(@CheckedQuery(LedgerQuery) list: LedgerQuery, @Reply() response: Response) {
    const narrowed = {
      accountId: list.account_id ?? null,
      taskId: list.task_id ?? null,
      requestId: list.request_id ?? null,
    };
    return sendList(response, list, (page) => this.records.ledger(narrowed, page));
  }

  @OperatorRoute('GET /audit', RECORD_OPERATIONS.adminListAudit)
  audit(@CheckedQuery(AuditQuery) list: AuditQuery, @Reply() response: Response) {
    return sendList(response, list, (page) => this.records.audit(list.subject_id ?? null, page));
  }

  @AdminRoute('GET /usage', RECORD_OPERATIONS.adminReadUsage)
  async usageSums(@CheckedQuery(AccountUsageSumsQuery) asked: AccountUsageSumsQuery) {
    const sums = await this.usage.sums(daysOf(asked, asked.account_id ?? null), groupsOf(asked.group_by));
    return asked.format === 'csv' ? csvOf(sums) : sums.map(viewOf);
  }

  @AdminRoute('GET /usage/records', RECORD_OPERATIONS.adminListUsageRecords)
  usageRecords(@CheckedQuery(AccountUsageQuery) list: AccountUsageQuery, @Reply() response: Response) {
    const asked = recordsOf(list, list.account_id ?? null);
    return sendList(response, list, (page) => this.usage.operatorRecords(asked, page));
  }

  /** What the work of upstreams brought beside what it cost. */
  @OperatorRoute('GET /margins', RECORD_OPERATIONS.adminReadMargins)
  async margins(@CheckedQuery(MarginsQuery) asked: MarginsQuery) {
    const days = daysOf(asked, null);
    const rows = await this.marginsService.margins(days, groupsOf(asked.group_by, MARGIN_GROUPS));
    if (asked.format === 'csv') return csvOf(rows);
    return new DataWith(rows.map(viewOf), { from: days.from, to: days.to, total: totalOf(rows) });
  }

  @OperatorRoute('GET /reconciliations', RECORD_OPERATIONS.adminListReconciliations)
  async reports() {
    return (await this.reconciliation.latest(REPORTS_SHOWN)).map(viewOfRow);
  }

  /** Reconciles now and answers the report. */
  @AdminRoute('POST /reconciliations', RECORD_OPERATIONS.adminReconcile)
  reconcile(@CheckedQuery(ReconcileQuery) query: ReconcileQuery): Promise<AdminReconciliation> {
    return this.reconciled(query.full === 'true');
  }

  @PageRoute('POST /admin/reconciliations')
  reconcileForPages(@CheckedBody(ReconcileBody) body: ReconcileBody): Promise<AdminReconciliation> {
    return this.reconciled(body.full === true);
  }

  /** @throws GatewayError `conflict`: one is running. */
  private async reconciled(full: boolean): Promise<AdminReconciliation> {
    const report = await this.reconciliation.run({ full });
    if (report) return rowOf<AdminReconciliation>(report);
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
