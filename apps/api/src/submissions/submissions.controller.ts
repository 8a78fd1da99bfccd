import type { SubmissionPath } from '#contracts';
import { SubmissionService } from '#features';
import { Controller, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiKeyGuard, callerOf } from '../door/api-key.guard.js';
import { NeedsScope } from '../door/needs-scope.js';
import { Metered } from '../door/metered.js';
import { SANDBOX_HEADER } from '../sandbox-header.js';
import { sendJson } from '../send-json.js';
import { submissionContext, submitted } from './submitted.js';

/** Orders for films and pictures (D2, D3): each is answered with its task handle, and fetched by polling the task. */
@Controller('v1')
@UseGuards(ApiKeyGuard)
@NeedsScope('generate')
export class SubmissionsController {
  constructor(private readonly submissions: SubmissionService) {}

  /** Video generation (D2). */
  @Post('videos/generations')
  @Metered('task')
  @HttpCode(200)
  generateVideo(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.submit('/v1/videos/generations', request, response);
  }

  /** Image generation (D3). */
  @Post('images/generations')
  @Metered('task')
  @HttpCode(200)
  generateImages(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.submit('/v1/images/generations', request, response);
  }

  /** Image editing (D3). */
  @Post('images/edits')
  @Metered('task')
  @HttpCode(200)
  editImage(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.submit('/v1/images/edits', request, response);
  }

  private async submit(path: SubmissionPath, request: Request, response: Response): Promise<void> {
    const accepted = await this.submissions.submit(path, callerOf(request), request.body, submissionContext(request));
    if (accepted.isMadeBySandbox) response.setHeader(SANDBOX_HEADER, 'true');
    sendJson(response, JSON.stringify(submitted(accepted)));
  }
}
