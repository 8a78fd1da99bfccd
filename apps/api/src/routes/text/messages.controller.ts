import { Controller, Post, Req, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CountTokensRequest, GatewayError, MessagesRequest } from '#contracts';
import { checkedBody, messagesStyle, TextService } from '#features';
import { ApiKeyGuard } from '../../http/api-key.guard.js';
import { DataWith } from '../../http/envelope.js';
import { Reply, Route, Routes } from '../../http/route.js';
import type { SerializedBody } from '../../http/serialized-body.js';
import { TextAnswers } from './text-answers.js';
import { TEXT_OPERATIONS } from './text.openapi.js';

const VERSION = /^\d{4}-\d{2}-\d{2}$/;

/** The version header is required; newer and older client libraries send it under the vendor's name. */
function expectVersion({ headers }: Request): void {
  const sent = headers['vendor-version'] ?? headers['anthropic-version'];
  if (sent === undefined)
    throw new GatewayError(
      'missing_parameter',
      'The header vendor-version (or anthropic-version) is required: a date such as 2023-06-01.',
      { param: 'vendor-version' },
    );
  if (typeof sent !== 'string' || !VERSION.test(sent))
    throw new GatewayError(
      'invalid_parameter',
      'The header vendor-version (or anthropic-version) must be a date such as 2023-06-01.',
      { param: 'vendor-version' },
    );
}

@Controller('v1')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'messages', scope: 'generate', cors: true })
export class MessagesController {
  constructor(
    private readonly answers: TextAnswers,
    private readonly text: TextService,
  ) {}

  /** Writes the next turn of a conversation, whole or streamed. */
  @Post('messages')
  @Route({ operation: TEXT_OPERATIONS.createMessage, cost: 'text', body: 'conversation', answer: 'native' })
  create(@Req() request: Request, @Reply() response: Response): Promise<SerializedBody | undefined> {
    return this.answers.answer(request, response, async () => {
      expectVersion(request);
      const body = await checkedBody(MessagesRequest, request.body);
      return {
        codec: messagesStyle,
        model: body.model,
        body,
        sentBody: body,
        bytes: request.rawBody,
        headers: request.headers,
        stream: body.stream === true,
      };
    });
  }

  /** Counts the input tokens of a message request without running it. Free, but limited by the minute. */
  @Post('messages/count_tokens')
  @Route({ operation: TEXT_OPERATIONS.countMessageTokens, cost: 'free', body: 'conversation' })
  async countTokens(@Req() request: Request): Promise<DataWith<object>> {
    expectVersion(request);
    const body = await checkedBody(CountTokensRequest, request.body);
    const counted = { input_tokens: await this.text.countTokens(messagesStyle, body, body.model) };
    return new DataWith(counted, counted);
  }
}
