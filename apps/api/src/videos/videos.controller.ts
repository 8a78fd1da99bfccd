import { type Caller, SubmissionService } from '#features';
import { Body, Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { ApiKeyGuard, CurrentCaller } from '../door/api-key.guard.js';
import { Metered } from '../door/metered.js';
import { submissionContext, submitted, type SubmittedBody } from '../submitted.js';

/** Video generation (D2). */
@Controller('v1/videos')
@UseGuards(ApiKeyGuard)
export class VideosController {
  constructor(private readonly submissions: SubmissionService) {}

  /** Takes a video order and answers with its task handle; the film is fetched by polling the task. */
  @Post('generations')
  @Metered('task')
  @HttpCode(200)
  async generate(
    @CurrentCaller() caller: Caller,
    @Body() body: unknown,
    @Req() request: Request,
  ): Promise<SubmittedBody> {
    return submitted(await this.submissions.submit('/v1/videos/generations', caller, body, submissionContext(request)));
  }
}
