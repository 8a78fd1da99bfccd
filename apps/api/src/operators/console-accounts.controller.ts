import { Body, Param, Query, Req, Res } from '@nestjs/common';
import { IsOptional } from 'class-validator';
import type { Request, Response } from 'express';
import type { AdminAccount, AdminFunded, ConsoleKey, ConsoleTagLimit } from '#contracts';
import {
  AccountEntriesService,
  AccountsService,
  type Funding,
  FundsService,
  KeysService,
  type KeyView,
  PriceListsService,
  TagLimitsService,
} from '#features';
import { amountOf, checked, named } from '../checked-input.js';
import { IsShownText } from '../input-fields.js';
import { ListQuery } from '../list-query.js';
import { AccountChange, FundingBody, NewAccount, tagLimitsOf, toAccountSettings } from '../account.dto.js';
import { KeyChange, NewKeyBody, toKeySettings } from '../key.dto.js';
import { sendList } from '../send-list.js';
import { actorOf, type Answer, ConsoleRoute, ConsoleRoutes } from '../console/console-routes.js';
import { ConsolePageQuery } from '../console/console-tasks.controller.js';
import { KeyFacts } from '../console/key-facts.js';
import { type AnswerOf, entryOf, keyOf, listOf, rowOf } from '../console/views.js';

class AccountsQuery extends ConsolePageQuery {
  /** A part of the name or the whole id. */
  @IsOptional() @IsShownText(200) name?: string;
}

/** Accounts with their money and their keys, for operators. */
@ConsoleRoutes()
export class AdminAccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly funds: FundsService,
    private readonly keys: KeysService,
    private readonly entries: AccountEntriesService,
    private readonly facts: KeyFacts,
    private readonly tagLimits: TagLimitsService,
    private readonly priceLists: PriceListsService,
  ) {}

  @ConsoleRoute('GET /admin/accounts')
  async list(@Query() query: unknown): Answer<'GET /admin/accounts'> {
    const { limit, cursor = null, name } = checked(AccountsQuery, query);
    return listOf<AdminAccount>(await this.accounts.list({ limit, cursor }, name));
  }

  @ConsoleRoute('POST /admin/accounts')
  async create(@Body() body: unknown, @Req() request: Request): Answer<'POST /admin/accounts'> {
    return rowOf(await this.accounts.create(actorOf(request), toAccountSettings(named(checked(NewAccount, body)))));
  }

  @ConsoleRoute('GET /admin/accounts/:account_id')
  async read(@Param('account_id') id: string): Answer<'GET /admin/accounts/:account_id'> {
    return { ...rowOf<AdminAccount>(await this.accounts.read(id)), price_list: await this.priceLists.ofAccount(id) };
  }

  @ConsoleRoute('POST /admin/accounts/:account_id')
  async update(
    @Param('account_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/accounts/:account_id'> {
    return rowOf(await this.accounts.update(actorOf(request), id, toAccountSettings(checked(AccountChange, body))));
  }

  @ConsoleRoute('POST /admin/accounts/:account_id/top-ups')
  topUp(
    @Param('account_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/accounts/:account_id/top-ups'> {
    return this.book('top_up', id, body, request);
  }

  @ConsoleRoute('POST /admin/accounts/:account_id/adjustments')
  adjust(
    @Param('account_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/accounts/:account_id/adjustments'> {
    return this.book('adjustment', id, body, request);
  }

  @ConsoleRoute('GET /admin/accounts/:account_id/entries')
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

  @ConsoleRoute('GET /admin/accounts/:account_id/keys')
  async listKeys(@Param('account_id') id: string): Answer<'GET /admin/accounts/:account_id/keys'> {
    const rows = await this.keys.list(id);
    const facts = await this.facts.of(rows);
    return { items: rows.map((row) => keyOf(row, facts, null)) };
  }

  @ConsoleRoute('POST /admin/accounts/:account_id/keys')
  async createKey(
    @Param('account_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/accounts/:account_id/keys'> {
    const given = named(checked(NewKeyBody, body));
    const made = await this.keys.create(actorOf(request), id, { ...toKeySettings(given), name: given.name });
    return { key: await this.view(made.row), secret: made.key };
  }

  @ConsoleRoute('POST /admin/keys/:key_id')
  async updateKey(
    @Param('key_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/keys/:key_id'> {
    return this.view(await this.keys.update(actorOf(request), id, toKeySettings(checked(KeyChange, body))));
  }

  @ConsoleRoute('POST /admin/keys/:key_id/revoke')
  async revokeKey(@Param('key_id') id: string, @Req() request: Request): Answer<'POST /admin/keys/:key_id/revoke'> {
    return this.view(await this.keys.revoke(actorOf(request), id));
  }

  @ConsoleRoute('GET /admin/accounts/:account_id/tag-limits')
  async listTagLimits(@Param('account_id') id: string): Answer<'GET /admin/accounts/:account_id/tag-limits'> {
    return { items: (await this.tagLimits.list(id)).map(rowOf<ConsoleTagLimit>) };
  }

  @ConsoleRoute('POST /admin/accounts/:account_id/tag-limits')
  async setTagLimits(
    @Param('account_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/accounts/:account_id/tag-limits'> {
    const limits = await this.tagLimits.replace(actorOf(request), id, tagLimitsOf(body));
    return { items: limits.map(rowOf<ConsoleTagLimit>) };
  }

  private async view(row: KeyView): Promise<ConsoleKey> {
    return keyOf(row, await this.facts.of([row]), null);
  }

  private async book(kind: Funding['kind'], accountId: string, body: unknown, request: Request): Promise<AdminFunded> {
    const { amount, reference, note } = checked(FundingBody, body);
    const funding = { accountId, kind, amountMicros: amountOf(amount, 'amount'), reference, note: note ?? null };
    const { entryId, amountMicros, availableMicros, replayed } = await this.funds.book(actorOf(request), funding);
    return rowOf<AdminFunded>({
      entry_id: entryId.toString(),
      amount_micros: amountMicros,
      available_micros: availableMicros,
      replayed,
    });
  }
}
