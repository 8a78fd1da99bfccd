import { type Caller, SubmissionService } from '#features';
import { Body, Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { ApiKeyGuard, CurrentCaller } from '../door/api-key.guard.js';
import { Metered } from '../door/metered.js';
import { submissionContext, submitted, type SubmittedBody } from '../submitted.js';

/** Image generation and editing (D3). */
@Controller('v1/images')
@UseGuards(ApiKeyGuard)
export class ImagesController {
  constructor(private readonly submissions: SubmissionService) {}

  /** Takes an order for pictures and answers with its task handle. */
  @Post('generations')
  @Metered('task')
  @HttpCode(200)
  async generate(
    @CurrentCaller() caller: Caller,
    @Body() body: unknown,
    @Req() request: Request,
  ): Promise<SubmittedBody> {
    return submitted(await this.submissions.submit('/v1/images/generations', caller, body, submissionContext(request)));
  }

  /** Takes an order to change a picture and answers with its task handle. */
  @Post('edits')
  @Metered('task')
  @HttpCode(200)
  async edit(@CurrentCaller() caller: Caller, @Body() body: unknown, @Req() request: Request): Promise<SubmittedBody> {
    return submitted(await this.submissions.submit('/v1/images/edits', caller, body, submissionContext(request)));
  }
}
