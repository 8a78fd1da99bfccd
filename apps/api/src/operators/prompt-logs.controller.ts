import { Param, Req } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PromptLogService } from '#features';
import { PromptEntriesQuery, PromptLogBody } from '../account.dto.js';
import { CheckedBody, CheckedQuery } from '../checked-input.js';
import { sendList } from '../send-list.js';
import { PROMPT_LOG_OPERATIONS } from './admin.openapi.js';
import { operatorOf, OperatorRoute, OperatorRoutes } from './operator-route.js';
import { Reply } from '../http/route.js';

@OperatorRoutes()
export class PromptLogsController {
  constructor(private readonly prompts: PromptLogService) {}

  @OperatorRoute('GET /accounts/:account_id/prompt-log', PROMPT_LOG_OPERATIONS.adminReadPromptLog)
  read(@Param('account_id') accountId: string) {
    return this.prompts.settings(accountId);
  }

  @OperatorRoute('PUT /accounts/:account_id/prompt-log', PROMPT_LOG_OPERATIONS.adminSetPromptLog)
  set(
    @Param('account_id') accountId: string,
    @CheckedBody(PromptLogBody) body: PromptLogBody,
    @Req() request: Request,
  ) {
    return this.prompts.change(operatorOf(request), accountId, body);
  }

  /** Everything that is logged, at once. */
  @OperatorRoute('DELETE /accounts/:account_id/prompt-log/entries', PROMPT_LOG_OPERATIONS.adminClearPromptLog, {
    page: 'POST /admin/accounts/:account_id/prompt-log/clear',
  })
  clear(@Param('account_id') accountId: string, @Req() request: Request) {
    return this.prompts.clear(operatorOf(request), accountId);
  }

  @OperatorRoute('GET /accounts/:account_id/prompt-log/entries', PROMPT_LOG_OPERATIONS.adminListPrompts)
  list(
    @Param('account_id') accountId: string,
    @CheckedQuery(PromptEntriesQuery) list: PromptEntriesQuery,
    @Reply() response: Response,
  ) {
    const filter = { session: list.session ?? null, requestId: list.request_id ?? null };
    return sendList(response, list, (page) => this.prompts.list(accountId, filter, page));
  }

  /** The words of one; who read them is on record. */
  @OperatorRoute('GET /accounts/:account_id/prompt-log/entries/:entry_id', PROMPT_LOG_OPERATIONS.adminReadPrompt)
  readEntry(@Param('account_id') accountId: string, @Param('entry_id') entryId: string, @Req() request: Request) {
    return this.prompts.read(operatorOf(request), accountId, entryId);
  }

  @OperatorRoute('DELETE /accounts/:account_id/prompt-log/entries/:entry_id', PROMPT_LOG_OPERATIONS.adminRemovePrompt)
  async remove(@Param('account_id') accountId: string, @Param('entry_id') id: string, @Req() request: Request) {
    await this.prompts.remove(operatorOf(request), accountId, id);
    return { id, removed: true };
  }
}
