import { formatMicros } from '#contracts';
import { BalanceService, type Caller, UsageService } from '#features';
import { Controller, Get, Query, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { checked } from '../checked-input.js';
import { ApiKeyGuard, CurrentCaller } from '../door/api-key.guard.js';
import { NeedsScope } from '../door/needs-scope.js';
import { Metered } from '../door/metered.js';
import { daysOf, groupsOf, UsageListQuery, UsageSumsQuery } from '../list-query.js';
import { viewOf } from '../row-view.js';
import { sendList, toCsv } from '../send-list.js';

/** What an account used, for the holders of its keys. */
@Controller('v1/usage')
@UseGuards(ApiKeyGuard)
@NeedsScope('usage')
export class UsageController {
  constructor(
    private readonly usage: UsageService,
    private readonly balances: BalanceService,
  ) {}

  /** Sums by day, model and key; beside them what the account still owes of all it ever used. */
  @Get()
  @Metered('free')
  async sums(
    @CurrentCaller() { accountId }: Caller,
    @Query() query: unknown,
    @Res() response: Response,
  ): Promise<void> {
    const asked = checked(UsageSumsQuery, query);
    const groups = groupsOf(asked.group_by, ['day', 'model', 'key']);
    const sums = await this.usage.sums(daysOf(asked, accountId), groups);
    if (asked.format === 'csv') {
      response.type('text/csv; charset=utf-8').send(toCsv(sums, true));
      return;
    }
    const owedMicros = (await this.balances.ofAccount(accountId))?.owedMicros ?? 0n;
    response.json({ code: 200, data: sums.map(viewOf), owed: formatMicros(owedMicros) });
  }

  /** Each request with the lines of its price. */
  @Get('records')
  @Metered('free')
  records(@CurrentCaller() { accountId }: Caller, @Query() query: unknown, @Res() response: Response): Promise<void> {
    const list = checked(UsageListQuery, query);
    const days = daysOf(list, accountId);
    return sendList(response, list, (page) => this.usage.records(days, page));
  }
}
