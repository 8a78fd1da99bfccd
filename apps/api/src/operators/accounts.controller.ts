import { Body, Param, Req } from '@nestjs/common';
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
import { amountOf, checked, CheckedBody, CheckedQuery, named } from '../checked-input.js';
import { PageRoute } from '../console/console-routes.js';
import { entryOf } from '../console/views.js';
import { ListQuery } from '../list-query.js';
import { viewOf, viewOfRow } from '../row-view.js';
import { sendItems, sendList } from '../send-list.js';
import { ACCOUNT_OPERATIONS } from './admin.openapi.js';
import { operatorOf, OperatorRoute, OperatorRoutes } from './operator-route.js';
import { AccountsQuery } from './records.dto.js';
import { Reply } from '../http/route.js';

@OperatorRoutes()
export class AccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly funds: FundsService,
    private readonly entries: AccountEntriesService,
    private readonly tagLimits: TagLimitsService,
    private readonly priceLists: PriceListsService,
  ) {}

  @OperatorRoute('GET /accounts', ACCOUNT_OPERATIONS.adminListAccounts)
  list(@CheckedQuery(AccountsQuery) list: AccountsQuery, @Reply() response: Response) {
    return sendList(response, list, (page) => this.accounts.list(page, list.name));
  }

  @OperatorRoute('POST /accounts', ACCOUNT_OPERATIONS.adminCreateAccount)
  async create(@Body() body: unknown, @Req() request: Request) {
    const settings = toAccountSettings(named(checked(NewAccount, body)));
    return viewOfRow(await this.accounts.create(operatorOf(request), settings));
  }

  /** With the price list that it has now; null: the book. */
  @OperatorRoute('GET /accounts/:account_id', ACCOUNT_OPERATIONS.adminReadAccount)
  async read(@Param('account_id') id: string) {
    return { ...viewOfRow(await this.accounts.read(id)), price_list: await this.priceLists.ofAccount(id) };
  }

  @OperatorRoute('PATCH /accounts/:account_id', ACCOUNT_OPERATIONS.adminChangeAccount)
  async update(
    @Param('account_id') id: string,
    @CheckedBody(AccountChange) body: AccountChange,
    @Req() request: Request,
  ) {
    const settings = toAccountSettings(body);
    return viewOfRow(await this.accounts.update(operatorOf(request), id, settings));
  }

  /** Puts money in, once for each reference. */
  @OperatorRoute('POST /accounts/:account_id/top-ups', ACCOUNT_OPERATIONS.adminTopUp)
  topUp(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request) {
    return this.book('top_up', id, body, request);
  }

  /** Corrects a balance, up or down, once for each reference. */
  @OperatorRoute('POST /accounts/:account_id/adjustments', ACCOUNT_OPERATIONS.adminAdjust)
  adjust(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request) {
    return this.book('adjustment', id, body, request);
  }

  @PageRoute('GET /admin/accounts/:account_id/entries')
  ledger(
    @Param('account_id') accountId: string,
    @CheckedQuery(ListQuery) list: ListQuery,
    @Reply() response: Response,
  ) {
    const narrowed = { accountId, taskId: null, requestId: null };
    return sendItems(response, list, (page) => this.entries.list(narrowed, page), entryOf);
  }

  /** What the work under tags may cost, and has cost. */
  @OperatorRoute('GET /accounts/:account_id/tag-limits', ACCOUNT_OPERATIONS.adminListTagLimits)
  async listTagLimits(@Param('account_id') id: string) {
    return (await this.tagLimits.list(id)).map(viewOf);
  }

  /** Sets all of them anew. */
  @OperatorRoute('PUT /accounts/:account_id/tag-limits', ACCOUNT_OPERATIONS.adminSetTagLimits)
  async setTagLimits(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request) {
    return (await this.tagLimits.replace(operatorOf(request), id, tagLimitsOf(body))).map(viewOf);
  }

  private async book(kind: Funding['kind'], accountId: string, body: unknown, request: Request): Promise<unknown> {
    const { amount, reference, note = null } = checked(FundingBody, body);
    const funding = { accountId, kind, amountMicros: amountOf(amount, 'amount'), reference, note };
    const { entryId, ...booked } = await this.funds.book(operatorOf(request), funding);
    return viewOfRow({ entryId: entryId.toString(), ...booked });
  }
}
