import { Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { GatewayError } from '#contracts';
import { MARGIN_GROUPS, MarginsService, RecordsService, ReconciliationService, UsageService } from '#features';
import { checked } from '../checked-input.js';
import { Route, Routes } from '../http/route.js';
import { daysOf, groupsOf, MarginsQuery, recordsOf } from '../list-query.js';
import { viewOf } from '../row-view.js';
import { csvOf, sendList } from '../send-list.js';
import { RECORD_OPERATIONS } from './admin.openapi.js';
import { AccountUsageQuery, AccountUsageSumsQuery, AuditQuery, LedgerQuery, ReconcileQuery } from './records.dto.js';

const REPORTS_SHOWN = 30;

/** What was written down, for operators: ledger, audit, usage, and the proof that it adds up. */
@Controller('admin/v1')
@Routes({ style: 'admin', access: 'operator' })
export class RecordsController {
  constructor(
    private readonly records: RecordsService,
    private readonly usage: UsageService,
    private readonly marginsService: MarginsService,
    private readonly reconciliation: ReconciliationService,
  ) {}

  @Get('ledger')
  @Route({ operation: RECORD_OPERATIONS.adminListLedger })
  ledger(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    const list = checked(LedgerQuery, query);
    const narrowed = {
      accountId: list.account_id ?? null,
      taskId: list.task_id ?? null,
      requestId: list.request_id ?? null,
    };
    return sendList(response, list, (page) => this.records.ledger(narrowed, page));
  }

  @Get('audit')
  @Route({ operation: RECORD_OPERATIONS.adminListAudit })
  audit(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    const list = checked(AuditQuery, query);
    return sendList(response, list, (page) => this.records.audit(list.subject_id ?? null, page));
  }

  @Get('usage')
  @Route({ operation: RECORD_OPERATIONS.adminReadUsage })
  async usageSums(@Query() query: unknown): Promise<unknown> {
    const asked = checked(AccountUsageSumsQuery, query);
    const sums = await this.usage.sums(daysOf(asked, asked.account_id ?? null), groupsOf(asked.group_by));
    return asked.format === 'csv' ? csvOf(sums) : sums.map(viewOf);
  }

  /** What the work of upstreams brought beside what it cost. */
  @Get('margins')
  @Route({ operation: RECORD_OPERATIONS.adminReadMargins })
  async margins(@Query() query: unknown): Promise<unknown> {
    const asked = checked(MarginsQuery, query);
    const rows = await this.marginsService.margins(daysOf(asked, null), groupsOf(asked.group_by, MARGIN_GROUPS));
    return asked.format === 'csv' ? csvOf(rows) : rows.map(viewOf);
  }

  @Get('usage/records')
  @Route({ operation: RECORD_OPERATIONS.adminListUsageRecords })
  usageRecords(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    const list = checked(AccountUsageQuery, query);
    const asked = recordsOf(list, list.account_id ?? null);
    return sendList(response, list, (page) => this.usage.operatorRecords(asked, page));
  }

  @Get('reconciliations')
  @Route({ operation: RECORD_OPERATIONS.adminListReconciliations })
  async reports(): Promise<unknown> {
    return (await this.reconciliation.latest(REPORTS_SHOWN)).map(viewOf);
  }

  /** Reconciles now and answers the report. */
  @Post('reconciliations')
  @Route({ operation: RECORD_OPERATIONS.adminReconcile })
  @HttpCode(200)
  async reconcile(@Query() query: unknown): Promise<unknown> {
    const report = await this.reconciliation.run({ full: checked(ReconcileQuery, query).full === 'true' });
    if (!report) throw new GatewayError('conflict', 'A reconciliation is under way; its report will be listed.');
    return viewOf(report);
  }
}
