import { Body, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { PromptLogService } from '#features';
import { checked } from '../checked-input.js';
import { callerOf } from '../http/api-key.guard.js';
import { PromptEntriesQuery, PromptLogBody } from '../account.dto.js';
import { actorOf, type Answer, ConsoleRoute, ConsoleRoutes } from './console-routes.js';
import { listOf } from './views.js';

/** The log of prompts and answers: of their account for its owners, of any account for operators. Each reading is on record. */
@ConsoleRoutes()
export class ConsolePromptLogsController {
  constructor(private readonly prompts: PromptLogService) {}

  @ConsoleRoute('GET /prompt-log')
  own(@Req() request: Request): Answer<'GET /prompt-log'> {
    return this.prompts.settings(accountOf(request));
  }

  @ConsoleRoute('POST /prompt-log')
  setOwn(@Body() body: unknown, @Req() request: Request): Answer<'POST /prompt-log'> {
    return this.prompts.change(actorOf(request), accountOf(request), checked(PromptLogBody, body));
  }

  @ConsoleRoute('POST /prompt-log/clear')
  clearOwn(@Req() request: Request): Answer<'POST /prompt-log/clear'> {
    return this.prompts.clear(actorOf(request), accountOf(request));
  }

  @ConsoleRoute('GET /prompt-log/entries')
  listOwn(@Query() query: unknown, @Req() request: Request): Answer<'GET /prompt-log/entries'> {
    return this.list(accountOf(request), query);
  }

  @ConsoleRoute('GET /prompt-log/entries/:entry_id')
  readOwn(@Param('entry_id') id: string, @Req() request: Request): Answer<'GET /prompt-log/entries/:entry_id'> {
    return this.prompts.read(actorOf(request), accountOf(request), id);
  }

  @ConsoleRoute('POST /prompt-log/entries/:entry_id/remove')
  async removeOwn(
    @Param('entry_id') id: string,
    @Req() request: Request,
  ): Answer<'POST /prompt-log/entries/:entry_id/remove'> {
    await this.prompts.remove(actorOf(request), accountOf(request), id);
    return { id, removed: true };
  }

  @ConsoleRoute('GET /admin/accounts/:account_id/prompt-log')
  ofAny(@Param('account_id') accountId: string): Answer<'GET /admin/accounts/:account_id/prompt-log'> {
    return this.prompts.settings(accountId);
  }

  @ConsoleRoute('POST /admin/accounts/:account_id/prompt-log')
  setOfAny(
    @Param('account_id') accountId: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/accounts/:account_id/prompt-log'> {
    return this.prompts.change(actorOf(request), accountId, checked(PromptLogBody, body));
  }

  @ConsoleRoute('POST /admin/accounts/:account_id/prompt-log/clear')
  clearOfAny(
    @Param('account_id') accountId: string,
    @Req() request: Request,
  ): Answer<'POST /admin/accounts/:account_id/prompt-log/clear'> {
    return this.prompts.clear(actorOf(request), accountId);
  }

  @ConsoleRoute('GET /admin/accounts/:account_id/prompt-log/entries')
  listOfAny(
    @Param('account_id') accountId: string,
    @Query() query: unknown,
  ): Answer<'GET /admin/accounts/:account_id/prompt-log/entries'> {
    return this.list(accountId, query);
  }

  @ConsoleRoute('GET /admin/accounts/:account_id/prompt-log/entries/:entry_id')
  readOfAny(
    @Param('account_id') accountId: string,
    @Param('entry_id') id: string,
    @Req() request: Request,
  ): Answer<'GET /admin/accounts/:account_id/prompt-log/entries/:entry_id'> {
    return this.prompts.read(actorOf(request), accountId, id);
  }

  @ConsoleRoute('POST /admin/accounts/:account_id/prompt-log/entries/:entry_id/remove')
  async removeOfAny(
    @Param('account_id') accountId: string,
    @Param('entry_id') id: string,
    @Req() request: Request,
  ): Answer<'POST /admin/accounts/:account_id/prompt-log/entries/:entry_id/remove'> {
    await this.prompts.remove(actorOf(request), accountId, id);
    return { id, removed: true };
  }

  private async list(accountId: string, query: unknown): Answer<'GET /prompt-log/entries'> {
    const { session, request_id: requestId, limit, cursor } = checked(PromptEntriesQuery, query);
    const filter = { session: session ?? null, requestId: requestId ?? null };
    return listOf(await this.prompts.list(accountId, filter, { limit, cursor: cursor ?? null }));
  }
}

const accountOf = (request: Request): string => callerOf(request).accountId;
