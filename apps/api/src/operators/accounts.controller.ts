import { Body, Controller, Get, HttpCode, Param, Patch, Post, Put, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AccountsService, type Funding, FundsService, KeysService, TagLimitsService } from '#features';
import { amountOf, checked, named } from '../checked-input.js';
import { Route, Routes } from '../http/route.js';
import { ListQuery } from '../list-query.js';
import { viewOf, viewOfRow } from '../row-view.js';
import { sendList } from '../send-list.js';
import { AccountChange, FundingBody, NewAccount, tagLimitsOf, toAccountSettings } from '../account.dto.js';
import { operatorOf } from './admin-gate.js';
import { ACCOUNT_OPERATIONS } from './admin.openapi.js';
import { NewKeyBody, toKeySettings } from '../key.dto.js';

/** Accounts, their money and their keys, for operators. */
@Controller('admin/v1/accounts')
@Routes({ style: 'admin', access: 'operator' })
export class AccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly funds: FundsService,
    private readonly keys: KeysService,
    private readonly tagLimits: TagLimitsService,
  ) {}

  @Get()
  @Route({ operation: ACCOUNT_OPERATIONS.adminListAccounts })
  list(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    return sendList(response, checked(ListQuery, query), (page) => this.accounts.list(page));
  }

  @Post()
  @Route({ operation: ACCOUNT_OPERATIONS.adminCreateAccount })
  @HttpCode(200)
  async create(@Body() body: unknown, @Req() request: Request): Promise<unknown> {
    return viewOfRow(
      await this.accounts.create(operatorOf(request), toAccountSettings(named(checked(NewAccount, body)))),
    );
  }

  @Get(':account_id')
  @Route({ operation: ACCOUNT_OPERATIONS.adminReadAccount })
  async read(@Param('account_id') id: string): Promise<unknown> {
    return viewOfRow(await this.accounts.read(id));
  }

  @Patch(':account_id')
  @Route({ operation: ACCOUNT_OPERATIONS.adminChangeAccount })
  async update(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const account = await this.accounts.update(
      operatorOf(request),
      id,
      toAccountSettings(checked(AccountChange, body)),
    );
    return viewOfRow(account);
  }

  /** Puts money in, once for each reference. */
  @Post(':account_id/top-ups')
  @Route({ operation: ACCOUNT_OPERATIONS.adminTopUp })
  @HttpCode(200)
  topUp(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    return this.book('top_up', id, body, request);
  }

  /** Corrects a balance, up or down, once for each reference. */
  @Post(':account_id/adjustments')
  @Route({ operation: ACCOUNT_OPERATIONS.adminAdjust })
  @HttpCode(200)
  adjust(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    return this.book('adjustment', id, body, request);
  }

  @Get(':account_id/keys')
  @Route({ operation: ACCOUNT_OPERATIONS.adminListKeys })
  async listKeys(@Param('account_id') id: string): Promise<unknown> {
    return (await this.keys.list(id)).map(viewOfRow);
  }

  /** Makes a key. `key` stands in this answer and never again. */
  @Post(':account_id/keys')
  @Route({ operation: ACCOUNT_OPERATIONS.adminCreateKey })
  @HttpCode(200)
  async createKey(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const checkedBody = named(checked(NewKeyBody, body));
    const settings = { ...toKeySettings(checkedBody), name: checkedBody.name };
    const { key, row } = await this.keys.create(operatorOf(request), id, settings);
    return { key, ...viewOfRow(row) };
  }

  /** What the work under tags may cost, and has cost. */
  @Get(':account_id/tag-limits')
  @Route({ operation: ACCOUNT_OPERATIONS.adminListTagLimits })
  async listTagLimits(@Param('account_id') id: string): Promise<unknown> {
    return (await this.tagLimits.list(id)).map(viewOf);
  }

  /** Sets all of them anew. */
  @Put(':account_id/tag-limits')
  @Route({ operation: ACCOUNT_OPERATIONS.adminSetTagLimits })
  async setTagLimits(
    @Param('account_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Promise<unknown> {
    return (await this.tagLimits.replace(operatorOf(request), id, tagLimitsOf(body))).map(viewOf);
  }

  private async book(kind: Funding['kind'], accountId: string, body: unknown, request: Request): Promise<unknown> {
    const { amount, reference, note } = checked(FundingBody, body);
    const funding = { accountId, kind, amountMicros: amountOf(amount, 'amount'), reference, note: note ?? null };
    const booked = await this.funds.book(operatorOf(request), funding);
    const { entryId, amountMicros, availableMicros, replayed } = booked;
    const row = {
      entry_id: entryId.toString(),
      amount_micros: amountMicros,
      available_micros: availableMicros,
      replayed,
    };
    return viewOf(row);
  }
}
