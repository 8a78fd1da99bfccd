import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PromptLogService } from '#features';
import { checked } from '../checked-input.js';
import { Route, Routes } from '../http/route.js';
import { sendList } from '../send-list.js';
import { operatorOf } from './admin-gate.js';
import { PROMPT_LOG_OPERATIONS } from './admin.openapi.js';
import { PromptEntriesQuery, PromptLogBody } from '../account.dto.js';

/** The log of prompts and answers of an account, for operators. */
@Controller('admin/v1/accounts/:account_id/prompt-log')
@Routes({ style: 'admin', access: 'operator' })
export class PromptLogsController {
  constructor(private readonly prompts: PromptLogService) {}

  @Get()
  @Route({ operation: PROMPT_LOG_OPERATIONS.adminReadPromptLog })
  read(@Param('account_id') accountId: string): Promise<unknown> {
    return this.prompts.settings(accountId);
  }

  @Put()
  @Route({ operation: PROMPT_LOG_OPERATIONS.adminSetPromptLog })
  set(@Param('account_id') accountId: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    return this.prompts.change(operatorOf(request), accountId, checked(PromptLogBody, body));
  }

  /** Everything that is logged, at once. */
  @Delete('entries')
  @Route({ operation: PROMPT_LOG_OPERATIONS.adminClearPromptLog })
  clear(@Param('account_id') accountId: string, @Req() request: Request): Promise<unknown> {
    return this.prompts.clear(operatorOf(request), accountId);
  }

  @Get('entries')
  @Route({ operation: PROMPT_LOG_OPERATIONS.adminListPrompts })
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
  @Get('entries/:entry_id')
  @Route({ operation: PROMPT_LOG_OPERATIONS.adminReadPrompt })
  readEntry(
    @Param('account_id') accountId: string,
    @Param('entry_id') entryId: string,
    @Req() request: Request,
  ): Promise<unknown> {
    return this.prompts.read(operatorOf(request), accountId, entryId);
  }

  @Delete('entries/:entry_id')
  @Route({ operation: PROMPT_LOG_OPERATIONS.adminRemovePrompt })
  @HttpCode(200)
  async remove(
    @Param('account_id') accountId: string,
    @Param('entry_id') entryId: string,
    @Req() request: Request,
  ): Promise<unknown> {
    await this.prompts.remove(operatorOf(request), accountId, entryId);
    return { id: entryId, removed: true };
  }
}
