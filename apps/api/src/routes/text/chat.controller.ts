import { Controller, Post, Req, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CHAT_LIMITS, ChatRequest } from '#contracts';
import { chatStyle, checkedBody } from '#features';
import { ApiKeyGuard } from '../../http/api-key.guard.js';
import { Reply, Route, Routes } from '../../http/route.js';
import type { SerializedBody } from '../../http/serialized-body.js';
import { expectOneLimit, TextAnswers } from './text-answers.js';
import { TEXT_OPERATIONS } from './text.openapi.js';

@Controller('v1')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'chat', scope: 'generate', cors: true })
export class ChatController {
  constructor(private readonly answers: TextAnswers) {}

  /** Writes the next message of a conversation, whole or streamed. */
  @Post('chat/completions')
  @Route({ operation: TEXT_OPERATIONS.createChatCompletion, cost: 'text', body: 'conversation', answer: 'native' })
  create(@Req() request: Request, @Reply() response: Response): Promise<SerializedBody | undefined> {
    return this.answers.answer(request, response, async () => {
      const body = await checkedBody(ChatRequest, request.body);
      expectOneLimit(body, CHAT_LIMITS);
      return {
        codec: chatStyle,
        model: body.model,
        body,
        sentBody: body,
        bytes: request.rawBody,
        headers: request.headers,
        stream: body.stream === true,
      };
    });
  }
}
