import { Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { PromptLogService } from '#features';
import { checked, CheckedBody } from '../checked-input.js';
import { callerOf } from '../http/api-key.guard.js';
import { PromptEntriesQuery, PromptLogBody } from '../account.dto.js';
import { actorOf, PageRoute, ConsoleRoutes } from './console-routes.js';
import { type AnswerOf, listOf } from './views.js';

/** The log of prompts and answers: of their account, for its owners. Each reading is on record. */
@ConsoleRoutes()
export class ConsolePromptLogsController {
  constructor(private readonly prompts: PromptLogService) {}

  @PageRoute('GET /prompt-log')
  own(@Req() request: Request) {
    return this.prompts.settings(accountOf(request));
  }

  @PageRoute('POST /prompt-log')
  setOwn(@CheckedBody(PromptLogBody) body: PromptLogBody, @Req() request: Request) {
    return this.prompts.change(actorOf(request), accountOf(request), body);
  }

  @PageRoute('POST /prompt-log/clear')
  clearOwn(@Req() request: Request) {
    return this.prompts.clear(actorOf(request), accountOf(request));
  }

  @PageRoute('GET /prompt-log/entries')
  async listOwn(@Query() query: unknown, @Req() request: Request) {
    const { session, request_id: requestId, limit, cursor } = checked(PromptEntriesQuery, query);
    const filter = { session: session ?? null, requestId: requestId ?? null };
    return listOf<AnswerOf<'GET /prompt-log/entries'>['items'][number]>(
      await this.prompts.list(accountOf(request), filter, { limit, cursor: cursor ?? null }),
    );
  }

  @PageRoute('GET /prompt-log/entries/:entry_id')
  readOwn(@Param('entry_id') id: string, @Req() request: Request) {
    return this.prompts.read(actorOf(request), accountOf(request), id);
  }

  @PageRoute('POST /prompt-log/entries/:entry_id/remove')
  async removeOwn(@Param('entry_id') id: string, @Req() request: Request) {
    await this.prompts.remove(actorOf(request), accountOf(request), id);
    return { id, removed: true as const };
  }
}

const accountOf = (request: Request): string => callerOf(request).accountId;
