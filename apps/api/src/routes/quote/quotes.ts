import { Inject, Injectable } from '@nestjs/common';
import {
  type BalanceUnit,
  ChatRequest,
  type ConsoleQuote,
  familyOf,
  formatMicros,
  GatewayError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MODEL_IDS,
  nearestNames,
  textModelElsewhere,
} from '#contracts';
import {
  type Caller,
  chatStyle,
  checkedBody,
  PriceList,
  SubmissionService,
  TextService,
  TextUpstreams,
} from '#features';
import { isDataUri } from '#media';
import { PLATFORM, type Platform } from '#runtime';

/** What a request would cost and how it was understood. A body that would be refused gets the same refusal here. */
export interface QuoteView extends Omit<ConsoleQuote, 'valid_until'> {
  readonly object: 'quote';
  readonly valid: true;
  readonly currency: BalanceUnit;
  /** Unix seconds from which another price is already set; null when none is. */
  readonly valid_until: number | null;
}

/** What a text request would cost. */
export interface TextQuoteView {
  readonly object: 'quote';
  readonly valid: true;
  readonly model: string;
  readonly path: '/v1/chat/completions';
  readonly mode: 'text';
  /** What is charged if the reply is as long as it may be, with six places. */
  readonly amount: string;
  /** What is held, by an estimate that is rarely too small. */
  readonly held: string;
  readonly currency: BalanceUnit;
  readonly basis: {
    /** Counted by a tokenizer, which may differ from the vendor's. */
    readonly input_tokens: number;
    /** The most that it may write. */
    readonly output_tokens: number;
    /** The beginning of the band of prices that the input is in; 0: below all. */
    readonly from_input_tokens: number;
    readonly service_tier: string;
  };
}

/** Prices without running. */
@Injectable()
export class Quotes {
  constructor(
    private readonly submissions: SubmissionService,
    private readonly prices: PriceList,
    @Inject(PLATFORM) private readonly platform: Platform,
    private readonly text: TextService,
    private readonly upstreams: TextUpstreams,
  ) {}

  /** Whether a body is one of text: of the chat style, for a model of an upstream. */
  isOfText(body: unknown): body is JsonObject {
    return isJsonObject(body) && typeof body['model'] === 'string' && this.upstreams.has(body['model']);
  }

  /** Takes a body of the chat style, refuses what that refuses, counts its input, and moves no money. */
  async ofText(caller: Caller, sent: JsonObject): Promise<TextQuoteView> {
    const body = await checkedBody(ChatRequest, sent);
    const { model } = body;
    const checked = { codec: chatStyle, model, body, sentBody: body, bytes: undefined, headers: {}, stream: false };
    const quote = await this.text.quote(checked, caller);
    return {
      object: 'quote',
      valid: true,
      model,
      path: '/v1/chat/completions',
      mode: 'text',
      amount: formatMicros(quote.chargeMicros),
      held: formatMicros(quote.heldMicros),
      currency: this.platform.config.server.BALANCE_UNIT,
      basis: {
        input_tokens: quote.inputTokens,
        output_tokens: quote.outputTokens,
        from_input_tokens: quote.fromInputTokens,
        service_tier: quote.tier,
      },
    };
  }

  /** Takes any body of the video and image endpoints, refuses what they refuse, and moves no money. */
  async of(caller: Caller, body: unknown): Promise<QuoteView> {
    const family = familyNamedIn(body);
    const { request, quote } = await this.submissions.price(family.path, caller, body);
    const { variant, quantity, unit, settle } = family.billing(request.parameters);
    const nextChange = await this.prices.nextChange(request.model, unit, variant);
    return {
      object: 'quote',
      valid: true,
      model: request.model,
      path: family.path,
      mode: request.mode,
      amount: formatMicros(quote.holdMicros),
      currency: this.platform.config.server.BALANCE_UNIT,
      unit_price: formatMicros(quote.unitMicros),
      quantity,
      per: unit,
      variant,
      settle,
      request: withFilesNamed(request.parameters),
      notices: request.notices,
      valid_until: nextChange && Math.floor(nextChange.getTime() / 1000),
    };
  }
}

/** The body itself says which path it belongs to: each model is served by one. */
export function familyNamedIn(body: unknown) {
  if (!isJsonObject(body)) throw new GatewayError('invalid_json', 'The body must be a JSON object.');
  const { model } = body;
  if (model == null)
    throw new GatewayError('missing_parameter', 'model is required. GET /v1/models lists all.', { param: 'model' });
  if (typeof model !== 'string' || model === '') {
    const rule = model === '' ? 'must not be empty' : 'must be a string';
    throw new GatewayError('invalid_parameter', `model ${rule}.`, { param: 'model' });
  }
  const family = familyOf(model);
  if (family) return family;
  const near = nearestNames(model, MODEL_IDS, 3);
  const advice = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'GET /v1/models lists all.';
  throw new GatewayError(
    'model_not_found',
    textModelElsewhere(model) ?? `model "${model.slice(0, 64)}" does not exist. ${advice}`,
    { param: 'model' },
  );
}

/** Inline files by their type alone: the caller has them, and repeating 60 MB would keep others waiting. */
export function withFilesNamed(parameters: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, withFileNamed(value)]));
}

function withFileNamed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return isDataUri(value) ? `${value.slice(0, value.indexOf(',') + 1)}…` : value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => withFileNamed(item));
  return isJsonObject(value) ? withFilesNamed(value) : value;
}
