import { Controller, Post, Req, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError, isJsonObject, otherConversation, RESPONSES_LIMITS, ResponsesRequest } from '#contracts';
import {
  type Caller,
  type CheckedText,
  checkedBody,
  compactionOf,
  expectScope,
  expectShortEcho,
  holdsForeignCompaction,
  ItemStore,
  type ReserveMemory,
  resolveReferences,
  responsesStyle,
  TextService,
} from '#features';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { DataWith } from '../../http/envelope.js';
import { Reply, Route, Routes } from '../../http/route.js';
import type { SerializedBody } from '../../http/serialized-body.js';
import { MemoryReservations } from '../../http/memory-reservations.js';
import { expectOneLimit, TextAnswers } from './text-answers.js';
import { TEXT_OPERATIONS } from './text.openapi.js';

@Controller('v1')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'responses', scope: 'generate', cors: true })
export class ResponsesController {
  constructor(
    private readonly answers: TextAnswers,
    private readonly items: ItemStore,
    private readonly text: TextService,
    private readonly memory: MemoryReservations,
  ) {}

  /** Answers a conversation, whole or streamed, and remembers the answer unless `store` is false. */
  @Post('responses')
  @Route({ operation: TEXT_OPERATIONS.createResponse, cost: 'text', body: 'conversation', answer: 'native' })
  create(
    @Req() request: Request,
    @Reply() response: Response,
    @CurrentCaller() caller: Caller,
  ): Promise<SerializedBody | undefined> {
    return this.answers.answer(request, response, () =>
      this.check(request, caller, this.memory.reserverFor(response, caller.accountId)),
    );
  }

  private async check(
    request: Request,
    caller: Caller,
    reserve: ReserveMemory,
  ): Promise<CheckedText<ResponsesRequest>> {
    const { accountId, apiKeyId } = caller;
    const sentBody = await checkedBody(ResponsesRequest, request.body);
    if (refersToStored(sentBody)) expectScope(caller, 'responses');
    expectOneLimit(sentBody, RESPONSES_LIMITS);
    expectShortEcho(sentBody);
    const { body, changed, ownItems, continues } = await resolveReferences(sentBody, accountId, this.items, reserve);
    const previousResponseId = sentBody.previous_response_id ?? undefined;
    return {
      codec: responsesStyle,
      model: body.model,
      body,
      sentBody,
      headers: request.headers,
      bytes: changed ? undefined : request.rawBody,
      stream: sentBody.stream === true,
      continues,
      isBound: () => holdsForeignCompaction(body),
      ...(sentBody.store !== false && {
        remember: (answer, json, writtenBy) =>
          this.items.save({
            accountId,
            apiKeyId,
            // An upstream that got the whole conversation says that it continues from none.
            ...(previousResponseId === undefined
              ? { response: answer, json }
              : { response: { ...answer, previous_response_id: previousResponseId } }),
            inputItems: ownItems,
            previousResponseId,
            writtenBy,
          }),
      }),
    };
  }

  /** Shortens a conversation: the answer is what to send in its place. Paid for as the summary that the model writes. */
  @Post('responses/compact')
  @Route({ operation: TEXT_OPERATIONS.compactResponse, cost: 'text', body: 'conversation', answer: 'native' })
  compact(
    @Req() request: Request,
    @Reply() response: Response,
    @CurrentCaller() caller: Caller,
  ): Promise<SerializedBody | undefined> {
    return this.answers.answer(request, response, async () => {
      const { body, codec, complete } = compactionOf(await this.conversation(request.body, caller, response));
      return {
        codec,
        complete,
        model: body.model,
        body,
        sentBody: body,
        headers: request.headers,
        bytes: undefined,
        stream: false,
      };
    });
  }

  /** Counts what a request would be read as, without running it. Free, but limited by the minute. */
  @Post('responses/input_tokens')
  @Route({ operation: TEXT_OPERATIONS.countResponseTokens, cost: 'free', body: 'conversation' })
  async countTokens(
    @Req() request: Request,
    @Reply() response: Response,
    @CurrentCaller() caller: Caller,
  ): Promise<DataWith<object>> {
    const body = await this.conversation(request.body, caller, response);
    const tokens = await this.text.countTokens(responsesStyle, body, body.model);
    const counted = { object: 'response.input_tokens', input_tokens: tokens };
    return new DataWith(counted, counted);
  }

  /** A checked body with all that it refers to; `input` may be left out where a stored response stands in front. */
  private async conversation(sent: unknown, caller: Caller, response: Response): Promise<ResponsesRequest> {
    const isAbsent = isJsonObject(sent) && sent['input'] == null;
    const body = await checkedBody(ResponsesRequest, isAbsent ? { ...sent, input: '' } : sent);
    if (isAbsent && !body.previous_response_id) {
      const rule = `input is required, or previous_response_id.${otherConversation('input', sent)}`;
      throw new GatewayError('missing_parameter', rule, { param: 'input' });
    }
    if (refersToStored(body)) expectScope(caller, 'responses');
    if (isAbsent) body.input = [];
    return (
      await resolveReferences(body, caller.accountId, this.items, this.memory.reserverFor(response, caller.accountId))
    ).body;
  }
}

/** Whether a request continues from what the account stored before. */
const refersToStored = ({ previous_response_id: previous, input }: ResponsesRequest): boolean =>
  Boolean(previous) || (Array.isArray(input) && input.some(({ type }) => type === 'item_reference'));
