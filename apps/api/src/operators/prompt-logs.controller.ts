import { Param, Req } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PromptLogService } from '#features';
import { PromptEntriesQuery, PromptLogBody } from '../account.dto.js';
import { CheckedBody, CheckedQuery } from '../checked-input.js';
import { sendList } from '../send-list.js';
import { PROMPT_LOG_OPERATIONS } from './admin.openapi.js';
import { NamedAccount, operatorOf, OperatorRoute, OperatorRoutes } from './operator-route.js';
import { Reply } from '../http/route.js';

/** The log of prompts and answers, for operators, and of their account for its owners. Each reading is on record. */
@OperatorRoutes()
export class PromptLogsController {
  constructor(private readonly prompts: PromptLogService) {}

  @OperatorRoute('GET /accounts/:account_id/prompt-log', PROMPT_LOG_OPERATIONS.adminReadPromptLog, {
    own: 'GET /prompt-log',
  })
  read(@NamedAccount() accountId: string) {
    return this.prompts.settings(accountId);
  }

  @OperatorRoute('PUT /accounts/:account_id/prompt-log', PROMPT_LOG_OPERATIONS.adminSetPromptLog, {
    own: 'POST /prompt-log',
  })
  set(@NamedAccount() accountId: string, @CheckedBody(PromptLogBody) body: PromptLogBody, @Req() request: Request) {
    return this.prompts.change(operatorOf(request), accountId, body);
  }

  /** Everything that is logged, at once. */
  @OperatorRoute('DELETE /accounts/:account_id/prompt-log/entries', PROMPT_LOG_OPERATIONS.adminClearPromptLog, {
    page: 'POST /admin/accounts/:account_id/prompt-log/clear',
    own: 'POST /prompt-log/clear',
  })
  clear(@NamedAccount() accountId: string, @Req() request: Request) {
    return this.prompts.clear(operatorOf(request), accountId);
  }

  @OperatorRoute('GET /accounts/:account_id/prompt-log/entries', PROMPT_LOG_OPERATIONS.adminListPrompts, {
    own: 'GET /prompt-log/entries',
  })
  list(
    @NamedAccount() accountId: string,
    @CheckedQuery(PromptEntriesQuery) list: PromptEntriesQuery,
    @Reply() response: Response,
  ) {
    const filter = { session: list.session ?? null, requestId: list.request_id ?? null };
    return sendList(response, list, (page) => this.prompts.list(accountId, filter, page));
  }

  /** The words of one; who read them is on record. */
  @OperatorRoute('GET /accounts/:account_id/prompt-log/entries/:entry_id', PROMPT_LOG_OPERATIONS.adminReadPrompt, {
    own: 'GET /prompt-log/entries/:entry_id',
  })
  readEntry(@NamedAccount() accountId: string, @Param('entry_id') entryId: string, @Req() request: Request) {
    return this.prompts.read(operatorOf(request), accountId, entryId);
  }

  @OperatorRoute('DELETE /accounts/:account_id/prompt-log/entries/:entry_id', PROMPT_LOG_OPERATIONS.adminRemovePrompt, {
    own: 'POST /prompt-log/entries/:entry_id/remove',
  })
  async remove(@NamedAccount() accountId: string, @Param('entry_id') id: string, @Req() request: Request) {
    await this.prompts.remove(operatorOf(request), accountId, id);
    return { id, removed: true };
  }
}
