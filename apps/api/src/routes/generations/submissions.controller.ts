import { Controller, Post, Req, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type ErrorCode, familiesAt, type SubmissionPath, submissionSchema, UNPAID_CODES } from '#contracts';
import { SubmissionService } from '#features';
import { ApiKeyGuard, callerOf } from '../../http/api-key.guard.js';
import { envelope } from '../../http/envelope.js';
import { IdempotentRequests } from '../../http/idempotent-requests.js';
import { inHeader, type OperationText, schemaOf } from '../../http/operation.js';
import { Reply, Route, Routes } from '../../http/route.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { submissionContext, submitted } from '../../http/submitted.js';
import { SANDBOX_HEADER } from '../../http/response-headers.middleware.js';

const SUBMISSION_ERRORS: readonly ErrorCode[] = [
  'invalid_parameter',
  'missing_parameter',
  'unknown_parameter',
  'invalid_media',
  ...UNPAID_CODES,
  'model_not_allowed',
  'model_not_found',
  'idempotency_in_flight',
  'idempotency_mismatch',
  'request_too_large',
  'unsupported_media_type',
];

const IDEMPOTENCY_KEY = inHeader(
  'Idempotency-Key',
  'Retries with the same key and body get the first response at no cost. Kept for 24 hours.',
);
const WEBHOOK_URL = inHeader(
  'X-Webhook-Url',
  'URL that receives a signed call when the task has ended. Also a body field.',
);

function submission(path: SubmissionPath, id: string, tag: string, summary: string): OperationText {
  const models = familiesAt(path).flatMap((family) => family.models);
  return {
    id,
    tag,
    summary,
    description: `Returns a task handle at once. Models: ${models.map((model) => `\`${model}\``).join(', ')}.`,
    parameters: [IDEMPOTENCY_KEY, WEBHOOK_URL],
    body: submissionSchema(path),
    answer: schemaOf('SubmittedTask'),
    errors: SUBMISSION_ERRORS,
  };
}

/** The operations that make tasks. */
const SUBMISSION_OPERATIONS = {
  generateVideo: submission('/v1/videos/generations', 'generateVideo', 'Videos', 'Order a video'),
  generateImage: submission('/v1/images/generations', 'generateImage', 'Images', 'Order images'),
  editImage: submission('/v1/images/edits', 'editImage', 'Images', 'Edit an image'),
} satisfies Readonly<Record<string, OperationText>>;

/** Orders for videos and images: each is answered with its task handle, and fetched by polling the task. */
@Controller('v1')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'image', scope: 'generate' })
export class SubmissionsController {
  constructor(
    private readonly idempotent: IdempotentRequests,
    private readonly submissions: SubmissionService,
  ) {}

  @Post('videos/generations')
  @Route({
    operation: SUBMISSION_OPERATIONS.generateVideo,
    style: 'video',
    cost: 'task',
    body: 'images',
    answer: 'native',
  })
  generateVideo(@Req() request: Request, @Reply() response: Response): Promise<SerializedBody | undefined> {
    return this.submit('/v1/videos/generations', request, response);
  }

  @Post('images/generations')
  @Route({ operation: SUBMISSION_OPERATIONS.generateImage, cost: 'task', body: 'images', answer: 'native' })
  generateImages(@Req() request: Request, @Reply() response: Response): Promise<SerializedBody | undefined> {
    return this.submit('/v1/images/generations', request, response);
  }

  @Post('images/edits')
  @Route({ operation: SUBMISSION_OPERATIONS.editImage, cost: 'task', body: 'images', answer: 'native' })
  editImage(@Req() request: Request, @Reply() response: Response): Promise<SerializedBody | undefined> {
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
