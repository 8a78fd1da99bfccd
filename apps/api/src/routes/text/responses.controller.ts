import { Controller, Get, HttpCode, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError, RESPONSES_LIMITS, ResponsesRequest } from '#contracts';
import { type Caller, checkedBody, expectScope, ItemStore, resolveReferences, responsesStyle } from '#features';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { Route, Routes } from '../../http/route.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { TextAnswers } from './text-answers.js';
import { TEXT_OPERATIONS } from './text.openapi.js';

/** @throws GatewayError `invalid_parameter` when the output limit stands there under two names. */
function expectOneLimit(body: ResponsesRequest): void {
  const [first, second] = RESPONSES_LIMITS.filter((name) => body[name] != null);
  if (second === undefined) return;
  throw new GatewayError('invalid_parameter', `${first} and ${second} are two names of one limit; send one of them.`, {
    param: second,
  });
}

/** D1 4.1. The further paths are what client libraries make of other base addresses. */
@Controller(['v1', 'v1/v1', ''])
@UseGuards(ApiKeyGuard)
@Routes({ style: 'responses', scope: 'generate', cors: true })
export class ResponsesController {
  constructor(
    private readonly answers: TextAnswers,
    private readonly items: ItemStore,
  ) {}

  /** Answers a conversation, whole or streamed, and remembers the answer unless `store` is false. */
  @Post('responses')
  @Route({ operation: TEXT_OPERATIONS.createResponse, cost: 'text', body: 'conversation', answer: 'native' })
  @HttpCode(200)
  async create(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @CurrentCaller() caller: Caller,
  ): Promise<SerializedBody | undefined> {
    const { accountId } = caller;
    const sentBody = await checkedBody(ResponsesRequest, request.body);
    if (refersToStored(sentBody)) expectScope(caller, 'responses');
    expectOneLimit(sentBody);
    const { body, changed, ownItems } = await resolveReferences(sentBody, accountId, this.items);
    const previousResponseId = sentBody.previous_response_id ?? undefined;
    const demand = {
      codec: responsesStyle,
      model: body.model,
      body,
      sentBody,
      headers: {},
      bytes: changed ? undefined : request.rawBody,
      ...(sentBody.store !== false && {
        remember: (answer: Parameters<typeof responsesStyle.wrap>[1]) =>
          this.items.save({ accountId, response: answer, inputItems: ownItems, previousResponseId }),
      }),
    };
    return this.answers.answer(demand, sentBody.stream === true, request, response);
  }

  /** A stored response. */
  @Get('responses/:id')
  @Route({ operation: TEXT_OPERATIONS.readResponse, scope: 'responses', answer: 'native' })
  async read(@Param('id') id: string, @CurrentCaller() { accountId }: Caller): Promise<SerializedBody> {
    const stored = await this.items.response(accountId, id);
    return new SerializedBody(responsesStyle.wrap(JSON.stringify(stored), stored));
  }
}

/** Whether a request goes on from what the account stored before. */
const refersToStored = ({ previous_response_id: previous, input }: ResponsesRequest): boolean =>
  Boolean(previous) || (Array.isArray(input) && input.some(({ type }) => type === 'item_reference'));
