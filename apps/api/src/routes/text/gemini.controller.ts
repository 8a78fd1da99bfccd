import { Controller, Param, Post, Query, Req, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  camelCaseGemini,
  GEMINI_METHODS,
  type GeminiMethod,
  GeminiRequest,
  GatewayError,
  isJsonObject,
} from '#contracts';
import { checkedBody, geminiArrayStyle, geminiEventStyle, TextService } from '#features';
import { ApiKeyGuard } from '../../http/api-key.guard.js';
import { Reply, Route, Routes } from '../../http/route.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { TextAnswers } from './text-answers.js';
import { TEXT_OPERATIONS } from './text.openapi.js';

interface Target {
  readonly model: string;
  readonly method: GeminiMethod;
}

const COUNT = ':countTokens';

/** Methods of the interface that are not here, and what to do instead. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/embed/i, 'Embeddings are made by POST /v1/embeddings.'],
  [/^(async)?batch/i, 'There is no batch API: send the requests one by one, several at the same time.'],
  [/^predict/i, 'Images are made by POST /v1/images/generations, videos by POST /v1/videos/generations.'],
];

/** `{model}:{method}`; model names may hold anything. */
function readTarget(target: string): Target {
  const colon = target.lastIndexOf(':');
  const method = GEMINI_METHODS.find((name) => name === target.slice(colon + 1));
  if (colon > 0 && method) return { model: target.slice(0, colon), method };
  const sent = target.slice(colon + 1);
  const elsewhere = ELSEWHERE.find(([name]) => name.test(sent))?.[1];
  throw new GatewayError(
    'not_found',
    elsewhere ?? `The path must end in {model}:{method}; {method} is ${GEMINI_METHODS.join(', ')} or countTokens.`,
  );
}

/** @throws GatewayError `invalid_parameter` when the body names another model than the path, which is the one that is paid for. */
function expectOneModel(sent: unknown, model: string): void {
  const named = isJsonObject(sent) ? (sent['model'] ?? model) : model;
  if (named === model || named === `models/${model}`) return;
  throw GatewayError.ofField('model', 'must be the model of the path, or left out');
}

/** The content-generation style. */
@Controller('v1beta/models')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'gemini', scope: 'generate', cors: true })
export class GeminiController {
  constructor(
    private readonly answers: TextAnswers,
    private readonly text: TextService,
  ) {}

  /** Generates content or counts tokens. Content comes whole or streamed: as server-sent events with `alt=sse`, else as one JSON array. */
  @Post(':target')
  @Route({ operation: TEXT_OPERATIONS.generateContent, cost: 'text', body: 'conversation', answer: 'native' })
  generate(
    @Param('target') target: string,
    @Query('alt') alternative: string | readonly string[] | undefined,
    @Req() request: Request,
    @Reply() response: Response,
  ): Promise<SerializedBody | undefined> {
    if (target.endsWith(COUNT)) return this.count(target.slice(0, -COUNT.length), request.body);
    if (Array.isArray(alternative)) throw GatewayError.ofField('alt', 'must be given once');
    return this.answers.answer(request, response, async () => {
      const { model, method } = readTarget(target);
      expectOneModel(request.body, model);
      const { body: spelled, isRenamed } = camelCaseGemini(request.body);
      const body = await checkedBody(GeminiRequest, spelled);
      return {
        codec: alternative === 'sse' ? geminiEventStyle : geminiArrayStyle,
        model,
        body,
        sentBody: body,
        bytes: isRenamed ? undefined : request.rawBody,
        headers: request.headers,
        stream: method === 'streamGenerateContent',
      };
    });
  }

  /** Counts what a request would be read as, without running it. */
  private async count(model: string, sent: unknown): Promise<SerializedBody> {
    const { body: spelled } = camelCaseGemini(sent);
    // Some clients send the contents alone, others the whole request in a field of its own.
    const whole = isJsonObject(spelled) ? spelled['generateContentRequest'] : undefined;
    const body = await checkedBody(GeminiRequest, whole ?? spelled);
    const counted = { totalTokens: await this.text.countTokens(geminiEventStyle, body, model) };
    return new SerializedBody(geminiEventStyle.wrap(JSON.stringify(counted), counted));
  }
}
