import { Body, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { PromptLogService } from '#features';
import { checked } from '../checked-input.js';
import { callerOf } from '../http/api-key.guard.js';
import { PromptEntriesQuery, PromptLogBody } from '../account.dto.js';
import { actorOf, type Answer, PageRoute, ConsoleRoutes } from './console-routes.js';
import { listOf } from './views.js';

/** The log of prompts and answers: of their account, for its owners. Each reading is on record. */
@ConsoleRoutes()
export class ConsolePromptLogsController {
  constructor(private readonly prompts: PromptLogService) {}

  @PageRoute('GET /prompt-log')
  own(@Req() request: Request): Answer<'GET /prompt-log'> {
    return this.prompts.settings(accountOf(request));
  }

  @PageRoute('POST /prompt-log')
  setOwn(@Body() body: unknown, @Req() request: Request): Answer<'POST /prompt-log'> {
    return this.prompts.change(actorOf(request), accountOf(request), checked(PromptLogBody, body));
  }

  @PageRoute('POST /prompt-log/clear')
  clearOwn(@Req() request: Request): Answer<'POST /prompt-log/clear'> {
    return this.prompts.clear(actorOf(request), accountOf(request));
  }

  @PageRoute('GET /prompt-log/entries')
  async listOwn(@Query() query: unknown, @Req() request: Request): Answer<'GET /prompt-log/entries'> {
    const { session, request_id: requestId, limit, cursor } = checked(PromptEntriesQuery, query);
    const filter = { session: session ?? null, requestId: requestId ?? null };
    return listOf(await this.prompts.list(accountOf(request), filter, { limit, cursor: cursor ?? null }));
  }

  @PageRoute('GET /prompt-log/entries/:entry_id')
  readOwn(@Param('entry_id') id: string, @Req() request: Request): Answer<'GET /prompt-log/entries/:entry_id'> {
    return this.prompts.read(actorOf(request), accountOf(request), id);
  }

  @PageRoute('POST /prompt-log/entries/:entry_id/remove')
  async removeOwn(
    @Param('entry_id') id: string,
    @Req() request: Request,
  ): Answer<'POST /prompt-log/entries/:entry_id/remove'> {
    await this.prompts.remove(actorOf(request), accountOf(request), id);
    return { id, removed: true };
  }
}

const accountOf = (request: Request): string => callerOf(request).accountId;
