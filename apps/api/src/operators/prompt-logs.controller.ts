import { Body, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PromptLogService } from '#features';
import { PromptEntriesQuery, PromptLogBody } from '../account.dto.js';
import { checked } from '../checked-input.js';
import { sendList } from '../send-list.js';
import { PROMPT_LOG_OPERATIONS } from './admin.openapi.js';
import { AdminRoute, operatorOf, OperatorRoutes } from './operator-route.js';

/** The log of prompts and answers of an account, for operators. */
@OperatorRoutes()
export class PromptLogsController {
  constructor(private readonly prompts: PromptLogService) {}

  @AdminRoute('GET /accounts/:account_id/prompt-log', PROMPT_LOG_OPERATIONS.adminReadPromptLog, {
    page: 'GET /admin/accounts/:account_id/prompt-log',
  })
  read(@Param('account_id') accountId: string): Promise<unknown> {
    return this.prompts.settings(accountId);
  }

  @AdminRoute('PUT /accounts/:account_id/prompt-log', PROMPT_LOG_OPERATIONS.adminSetPromptLog, {
    page: 'POST /admin/accounts/:account_id/prompt-log',
  })
  set(@Param('account_id') accountId: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    return this.prompts.change(operatorOf(request), accountId, checked(PromptLogBody, body));
  }

  /** Everything that is logged, at once. */
  @AdminRoute('DELETE /accounts/:account_id/prompt-log/entries', PROMPT_LOG_OPERATIONS.adminClearPromptLog, {
    page: 'POST /admin/accounts/:account_id/prompt-log/clear',
  })
  clear(@Param('account_id') accountId: string, @Req() request: Request): Promise<unknown> {
    return this.prompts.clear(operatorOf(request), accountId);
  }

  @AdminRoute('GET /accounts/:account_id/prompt-log/entries', PROMPT_LOG_OPERATIONS.adminListPrompts, {
    page: 'GET /admin/accounts/:account_id/prompt-log/entries',
  })
  list(
    @Param('account_id') accountId: string,
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    const list = checked(PromptEntriesQuery, query);
    const filter = { session: list.session ?? null, requestId: list.request_id ?? null };
    return sendList(response, list, (page) => this.prompts.list(accountId, filter, page));
  }

  /** The words of one; who read them is on record. */
  @AdminRoute('GET /accounts/:account_id/prompt-log/entries/:entry_id', PROMPT_LOG_OPERATIONS.adminReadPrompt, {
    page: 'GET /admin/accounts/:account_id/prompt-log/entries/:entry_id',
  })
  readEntry(
    @Param('account_id') accountId: string,
    @Param('entry_id') entryId: string,
    @Req() request: Request,
  ): Promise<unknown> {
    return this.prompts.read(operatorOf(request), accountId, entryId);
  }

  @AdminRoute('DELETE /accounts/:account_id/prompt-log/entries/:entry_id', PROMPT_LOG_OPERATIONS.adminRemovePrompt, {
    page: 'POST /admin/accounts/:account_id/prompt-log/entries/:entry_id/remove',
  })
  async remove(
    @Param('account_id') accountId: string,
    @Param('entry_id') id: string,
    @Req() request: Request,
  ): Promise<unknown> {
    await this.prompts.remove(operatorOf(request), accountId, id);
    return { id, removed: true };
  }
}
