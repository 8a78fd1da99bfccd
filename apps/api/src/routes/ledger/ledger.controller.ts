import { Controller, Get, Query, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { AccountEntriesService, type Caller } from '#features';
import { checked } from '../../checked-input.js';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { Route, Routes } from '../../http/route.js';
import { EntriesQuery } from '../../list-query.js';
import { sendList } from '../../send-list.js';
import { LEDGER_OPERATIONS } from './ledger.openapi.js';

/** The ledger of an account, for the holders of its keys. */
@Controller('v1/ledger')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'account', scope: 'ledger' })
export class LedgerController {
  constructor(private readonly entries: AccountEntriesService) {}

  /** Each movement of money with the lines of the price that it paid. */
  @Get()
  @Route({ operation: LEDGER_OPERATIONS.listLedger, cost: 'free' })
  list(
    @CurrentCaller() { accountId }: Caller,
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    const list = checked(EntriesQuery, query);
    const narrowed = { accountId, taskId: list.task_id ?? null, requestId: list.request_id ?? null };
    return sendList(response, list, (page) => this.entries.list(narrowed, page));
  }
}
