import { Controller, Get, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { AccountEntriesService } from '#features';
import { CheckedQuery } from '../../checked-input.js';
import { AccountId, ApiKeyGuard } from '../../http/api-key.guard.js';
import { Reply, Route, Routes } from '../../http/route.js';
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
  list(@AccountId() accountId: string, @CheckedQuery(EntriesQuery) list: EntriesQuery, @Reply() response: Response) {
    const narrowed = { accountId, taskId: list.task_id ?? null, requestId: list.request_id ?? null };
    return sendList(response, list, (page) => this.entries.list(narrowed, page));
  }
}
