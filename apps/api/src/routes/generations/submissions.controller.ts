import { Controller, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { SubmissionPath } from '#contracts';
import { SubmissionService } from '#features';
import { ApiKeyGuard, callerOf } from '../../http/api-key.guard.js';
import { envelope } from '../../http/envelope.js';
import { IdempotentRequests } from '../../http/idempotent-requests.js';
import { Route, Routes } from '../../http/route.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { SANDBOX_HEADER } from '../../sandbox-header.js';
import { SUBMISSION_OPERATIONS } from './submissions.openapi.js';
import { submissionContext, submitted } from '../../http/submitted.js';

/** Orders for videos and images: each is answered with its task handle, and fetched by polling the task. */
@Controller('v1')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'image', scope: 'generate' })
export class SubmissionsController {
  constructor(
    private readonly idempotent: IdempotentRequests,
    private readonly submissions: SubmissionService,
  ) {}

  /** Video generation. */
  @Post('videos/generations')
  @Route({
    operation: SUBMISSION_OPERATIONS.generateVideo,
    style: 'video',
    cost: 'task',
    body: 'images',
    answer: 'native',
  })
  @HttpCode(200)
  generateVideo(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SerializedBody | undefined> {
    return this.submit('/v1/videos/generations', request, response);
  }

  /** Image generation. */
  @Post('images/generations')
  @Route({ operation: SUBMISSION_OPERATIONS.generateImage, cost: 'task', body: 'images', answer: 'native' })
  @HttpCode(200)
  generateImages(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SerializedBody | undefined> {
    return this.submit('/v1/images/generations', request, response);
  }

  /** Image editing. */
  @Post('images/edits')
  @Route({ operation: SUBMISSION_OPERATIONS.editImage, cost: 'task', body: 'images', answer: 'native' })
  @HttpCode(200)
  editImage(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SerializedBody | undefined> {
    return this.submit('/v1/images/edits', request, response);
  }

  private submit(path: SubmissionPath, request: Request, response: Response): Promise<SerializedBody | undefined> {
    return this.idempotent.answer(request, response, async () => {
      const accepted = await this.submissions.submit(path, callerOf(request), request.body, submissionContext(request));
      if (accepted.isMadeBySandbox) response.setHeader(SANDBOX_HEADER, 'true');
      return SerializedBody.json(envelope(submitted(accepted)));
    });
  }
}
