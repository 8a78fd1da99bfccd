import { Body, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  AccountEntriesService,
  AccountsService,
  type Funding,
  FundsService,
  PriceListsService,
  TagLimitsService,
} from '#features';
import { AccountChange, FundingBody, NewAccount, tagLimitsOf, toAccountSettings } from '../account.dto.js';
import { amountOf, checked, named } from '../checked-input.js';
import { PageRoute } from '../console/console-routes.js';
import { type AnswerOf, entryOf } from '../console/views.js';
import { ListQuery } from '../list-query.js';
import { viewOf, viewOfRow } from '../row-view.js';
import { sendList } from '../send-list.js';
import { ACCOUNT_OPERATIONS } from './admin.openapi.js';
import { AdminRoute, operatorOf, OperatorRoutes } from './operator-route.js';
import { AccountsQuery } from './records.dto.js';

/** Accounts and their money, for operators. */
@OperatorRoutes()
export class AccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly funds: FundsService,
    private readonly entries: AccountEntriesService,
    private readonly tagLimits: TagLimitsService,
    private readonly priceLists: PriceListsService,
  ) {}

  @AdminRoute('GET /accounts', ACCOUNT_OPERATIONS.adminListAccounts, { page: 'GET /admin/accounts' })
  list(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    const list = checked(AccountsQuery, query);
    return sendList(response, list, (page) => this.accounts.list(page, list.name));
  }

  @AdminRoute('POST /accounts', ACCOUNT_OPERATIONS.adminCreateAccount, { page: 'POST /admin/accounts' })
  async create(@Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const settings = toAccountSettings(named(checked(NewAccount, body)));
    return viewOfRow(await this.accounts.create(operatorOf(request), settings));
  }

  /** With the price list that it has now; null: the book. */
  @AdminRoute('GET /accounts/:account_id', ACCOUNT_OPERATIONS.adminReadAccount, {
    page: 'GET /admin/accounts/:account_id',
  })
  async read(@Param('account_id') id: string): Promise<unknown> {
    return { ...viewOfRow(await this.accounts.read(id)), price_list: await this.priceLists.ofAccount(id) };
  }

  @AdminRoute('PATCH /accounts/:account_id', ACCOUNT_OPERATIONS.adminChangeAccount, {
    page: 'POST /admin/accounts/:account_id',
  })
  async update(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const settings = toAccountSettings(checked(AccountChange, body));
    return viewOfRow(await this.accounts.update(operatorOf(request), id, settings));
  }

  /** Puts money in, once for each reference. */
  @AdminRoute('POST /accounts/:account_id/top-ups', ACCOUNT_OPERATIONS.adminTopUp, {
    page: 'POST /admin/accounts/:account_id/top-ups',
  })
  topUp(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    return this.book('top_up', id, body, request);
  }

  /** Corrects a balance, up or down, once for each reference. */
  @AdminRoute('POST /accounts/:account_id/adjustments', ACCOUNT_OPERATIONS.adminAdjust, {
    page: 'POST /admin/accounts/:account_id/adjustments',
  })
  adjust(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    return this.book('adjustment', id, body, request);
  }

  @PageRoute('GET /admin/accounts/:account_id/entries')
  async ledger(
    @Param('account_id') accountId: string,
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AnswerOf<'GET /admin/accounts/:account_id/entries'> | undefined> {
    const list = checked(ListQuery, query);
    const narrowed = { accountId, taskId: null, requestId: null };
    if (list.format === 'csv') {
      await sendList(response, list, (page) => this.entries.list(narrowed, page));
      return undefined;
    }
    const { items, nextCursor } = await this.entries.list(narrowed, { limit: list.limit, cursor: list.cursor ?? null });
    return { items: items.map(entryOf), next_cursor: nextCursor };
  }

  /** What the work under tags may cost, and has cost. */
  @AdminRoute('GET /accounts/:account_id/tag-limits', ACCOUNT_OPERATIONS.adminListTagLimits, {
    page: 'GET /admin/accounts/:account_id/tag-limits',
  })
  async listTagLimits(@Param('account_id') id: string): Promise<unknown> {
    return (await this.tagLimits.list(id)).map(viewOf);
  }

  /** Sets all of them anew. */
  @AdminRoute('PUT /accounts/:account_id/tag-limits', ACCOUNT_OPERATIONS.adminSetTagLimits, {
    page: 'POST /admin/accounts/:account_id/tag-limits',
  })
  async setTagLimits(
    @Param('account_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Promise<unknown> {
    return (await this.tagLimits.replace(operatorOf(request), id, tagLimitsOf(body))).map(viewOf);
  }

  private async book(kind: Funding['kind'], accountId: string, body: unknown, request: Request): Promise<unknown> {
    const { amount, reference, note = null } = checked(FundingBody, body);
    const funding = { accountId, kind, amountMicros: amountOf(amount, 'amount'), reference, note };
    const { entryId, ...booked } = await this.funds.book(operatorOf(request), funding);
    return viewOfRow({ entryId: entryId.toString(), ...booked });
  }
}
