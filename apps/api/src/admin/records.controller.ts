import { GatewayError } from '#contracts';
import { RecordsService, ReconciliationService, UsageService } from '#features';
import { Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import type { Response } from 'express';
import { checked } from '../checked-input.js';
import { daysOf, groupsOf, ListQuery, UsageListQuery, UsageSumsQuery } from '../list-query.js';
import { viewOf } from '../row-view.js';
import { sendList, toCsv } from '../send-list.js';

class LedgerQuery extends ListQuery {
  @IsOptional()
  @IsString()
  @MaxLength(80)
  account_id?: string;

  @IsOptional()
  @IsString()
  @MaxLength(80)
  task_id?: string;
}

class AuditQuery extends ListQuery {
  /** The id of an account, key, price or upstream. */
  @IsOptional()
  @IsString()
  @MaxLength(80)
  subject_id?: string;
}

class AccountUsageQuery extends UsageListQuery {
  @IsOptional()
  @IsString()
  @MaxLength(80)
  account_id?: string;
}

class AccountUsageSumsQuery extends UsageSumsQuery {
  @IsOptional()
  @IsString()
  @MaxLength(80)
  account_id?: string;
}

class ReconcileQuery {
  /** true: reads every entry of the ledger again, also those proved before. */
  @IsIn(['true', 'false'])
  full: 'true' | 'false' = 'false';
}

const REPORTS_SHOWN = 30;

/** What was written down, for operators: ledger, audit, usage, and the proof that it adds up. */
@Controller('admin/v1')
export class RecordsController {
  constructor(
    private readonly records: RecordsService,
    private readonly usage: UsageService,
    private readonly reconciliation: ReconciliationService,
  ) {}

  @Get('ledger')
  ledger(@Query() query: unknown, @Res() response: Response): Promise<void> {
    const list = checked(LedgerQuery, query);
    return sendList(response, list, (page) => this.records.ledger(list.account_id ?? null, list.task_id ?? null, page));
  }

  @Get('audit')
  audit(@Query() query: unknown, @Res() response: Response): Promise<void> {
    const list = checked(AuditQuery, query);
    return sendList(response, list, (page) => this.records.audit(list.subject_id ?? null, page));
  }

  @Get('usage')
  async usageSums(@Query() query: unknown, @Res() response: Response): Promise<void> {
    const asked = checked(AccountUsageSumsQuery, query);
    const sums = await this.usage.sums(daysOf(asked, asked.account_id ?? null), groupsOf(asked.group_by));
    if (asked.format === 'csv') response.type('text/csv; charset=utf-8').send(toCsv(sums, true));
    else response.json({ code: 200, data: sums.map(viewOf) });
  }

  @Get('usage/records')
  usageRecords(@Query() query: unknown, @Res() response: Response): Promise<void> {
    const list = checked(AccountUsageQuery, query);
    const days = daysOf(list, list.account_id ?? null);
    return sendList(response, list, (page) => this.usage.records(days, page));
  }

  @Get('reconciliations')
  async reports(): Promise<object> {
    return { code: 200, data: (await this.reconciliation.latest(REPORTS_SHOWN)).map(viewOf) };
  }

  /** Reconciles now and answers the report. */
  @Post('reconciliations')
  @HttpCode(200)
  async reconcile(@Query() query: unknown): Promise<object> {
    const report = await this.reconciliation.run({ full: checked(ReconcileQuery, query).full === 'true' });
    if (!report) throw new GatewayError('conflict', 'A reconciliation is under way; its report will be listed.');
    return { code: 200, data: viewOf(report) };
  }
}
