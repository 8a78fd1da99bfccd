import { AccountsService, type Funding, FundsService, KeysService } from '#features';
import { Body, Controller, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { amountOf, checked } from '../checked-input.js';
import { ListQuery } from '../list-query.js';
import { viewOf, viewOfRow } from '../row-view.js';
import { sendList } from '../send-list.js';
import { AccountChange, FundingBody, NewAccount, toAccountSettings } from './account.dto.js';
import { operatorOf } from './admin-gate.js';
import { NewKeyBody, toKeySettings } from './key.dto.js';

/** Accounts, their money and their keys, for operators. */
@Controller('admin/v1/accounts')
export class AccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly funds: FundsService,
    private readonly keys: KeysService,
  ) {}

  @Get()
  list(@Query() query: unknown, @Res() response: Response): Promise<void> {
    return sendList(response, checked(ListQuery, query), (page) => this.accounts.list(page));
  }

  @Post()
  @HttpCode(200)
  async create(@Body() body: unknown, @Req() request: Request): Promise<object> {
    return {
      code: 200,
      data: viewOfRow(await this.accounts.create(operatorOf(request), toAccountSettings(checked(NewAccount, body)))),
    };
  }

  @Get(':account_id')
  async read(@Param('account_id') id: string): Promise<object> {
    return { code: 200, data: viewOfRow(await this.accounts.read(id)) };
  }

  @Patch(':account_id')
  async update(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<object> {
    const account = await this.accounts.update(
      operatorOf(request),
      id,
      toAccountSettings(checked(AccountChange, body)),
    );
    return { code: 200, data: viewOfRow(account) };
  }

  /** Puts money in, once for each reference. */
  @Post(':account_id/top-ups')
  @HttpCode(200)
  topUp(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<object> {
    return this.book('top_up', id, body, request);
  }

  /** Corrects a balance, up or down, once for each reference. */
  @Post(':account_id/adjustments')
  @HttpCode(200)
  adjust(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<object> {
    return this.book('adjustment', id, body, request);
  }

  @Get(':account_id/keys')
  async listKeys(@Param('account_id') id: string): Promise<object> {
    return { code: 200, data: (await this.keys.list(id)).map(viewOfRow) };
  }

  /** Makes a key. `key` stands in this answer and never again. */
  @Post(':account_id/keys')
  @HttpCode(200)
  async createKey(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<object> {
    const checkedBody = checked(NewKeyBody, body);
    const settings = { ...toKeySettings(checkedBody), name: checkedBody.name };
    const { key, row } = await this.keys.create(operatorOf(request), id, settings);
    return { code: 200, data: { key, ...viewOfRow(row) } };
  }

  private async book(kind: Funding['kind'], accountId: string, body: unknown, request: Request): Promise<object> {
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
    return { code: 200, data: viewOf(row) };
  }
}
