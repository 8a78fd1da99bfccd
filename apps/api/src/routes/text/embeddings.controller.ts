import { Controller, Post, Req, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { EmbeddingsRequest } from '#contracts';
import { attributionOf, checkedBody, EmbeddingsService, RunningTexts } from '#features';
import { ApiKeyGuard, callerOf } from '../../http/api-key.guard.js';
import { IdempotentRequests } from '../../http/idempotent-requests.js';
import { MemoryReservations } from '../../http/memory-reservations.js';
import { Reply, Route, Routes } from '../../http/route.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { duringText } from './text-answers.js';
import { TEXT_OPERATIONS } from './text.openapi.js';

/** Embeddings, in the form of the chat style's vendors. */
@Controller('v1')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'chat', scope: 'generate', cors: true })
export class EmbeddingsController {
  constructor(
    private readonly idempotent: IdempotentRequests,
    private readonly embeddings: EmbeddingsService,
    private readonly memory: MemoryReservations,
    private readonly running: RunningTexts,
  ) {}

  /** Turns texts into vectors, at an upstream that offers it. */
  @Post('embeddings')
  @Route({ operation: TEXT_OPERATIONS.createEmbeddings, cost: 'text', body: 'conversation', answer: 'native' })
  create(@Req() request: Request, @Reply() response: Response): Promise<SerializedBody | undefined> {
    return this.memory.during(response, () =>
      this.idempotent.answer(request, response, async () => new SerializedBody(await this.embed(request, response))),
    );
  }

  /** The vendor of a client that leaves makes its vectors, and is paid, all the same. */
  private embed(request: Request, response: Response): Promise<string> {
    return duringText(this.running, request, response, async (caller) => {
      const body = await checkedBody(EmbeddingsRequest, request.body);
      const account = callerOf(request);
      const order = {
        requestId: request.requestId,
        idempotencyKey: request.attempt?.key,
        caller: account,
        attribution: attributionOf(request.headers, body, account),
        body,
        bytes: request.rawBody,
      };
      return this.embeddings.embed(order, caller.signal);
    });
  }
}
