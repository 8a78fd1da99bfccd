import { GatewayError, type RequestUses, type TextRequest, type TextStyle } from '#contracts';
import { leastOutputLimit, type ModelLimits } from '#providers';
import type { CallerPresence } from './caller-presence.js';
import type { HeldTokens } from './due-usage.js';
import type { InputEstimate } from './estimate-tokens.js';
import type { ToolPlan } from './hosted-tools/hosted-tools.js';
import { isOpenEnded, replyBounds } from './reply-bounds.js';
import type { TextHold, TextHoldOrder } from './text-billing.js';
import type { Exchange } from './text-exchange.js';
import type { TextOrder } from './text-order.js';
import type { RoutedReply } from './text-router.js';
import type { TextRoute } from '../upstreams/text-upstreams.js';
import type { ReplyContext } from './text-style-codec.js';

/** A request that may be answered: what it costs is held, or will be before an upstream is asked. */
export interface TextWork<Body> {
  readonly context: ReplyContext<Body>;
  readonly exchange: Exchange;
  /** Chooses an upstream, and waits for the first sign of its reply. */
  readonly route: () => Promise<RoutedReply>;
}

/** What a request asks for beside its tokens, what of it the gateway runs itself, and the upstreams for the rest. */
export interface AllowedUses<Body> {
  readonly uses: RequestUses;
  readonly plan: ToolPlan<Body> | undefined;
  readonly routes: readonly TextRoute[];
}

/** Other work runs between the steps of a larger request, in bytes. */
const LARGE_BYTES = 128 * 1024;

/** Each pass over the content of so many bytes may take some ten milliseconds; the size of resolved references is unknown. */
export const isLarge = ({ bytes }: TextOrder<unknown>): boolean => bytes === undefined || bytes.length > LARGE_BYTES;

export function contextOf<Body>(
  { requestId, model, sentBody }: TextOrder<Body>,
  inputTokens: number,
): ReplyContext<Body> {
  const createdSeconds = Math.floor(Date.now() / 1000);
  return { requestId, model, body: sentBody, createdSeconds, estimatedInputTokens: inputTokens, onAnswer: () => {} };
}

/** The shortest reply that is worth beginning when the caller names no limit and the balance is low, in tokens. */
const LEAST_OUTPUT_TOKENS = 1_024;

/**
 * How much a request may write: how many replies, and of each what is thought beside the limit, the most and the least.
 *
 * @param routes the upstreams that may be asked: a limit below the lowest that one takes is sent as that one.
 */
export function outputOf<Body>(
  { codec, body }: TextOrder<Body>,
  { maxOutputTokens }: ModelLimits,
  routes: readonly TextRoute[],
) {
  const limit = codec.outputLimit(body);
  const sent =
    limit === undefined ? undefined : Math.max(limit, ...routes.map((route) => leastSent(route, codec.style)));
  const needed = Math.max(0, codec.thinkingBudget(body) ?? 0) + LEAST_OUTPUT_TOKENS;
  return {
    limit,
    replies: codec.replies?.(body) ?? 1,
    beside: codec.thinkingBesideLimit?.(body) ?? 0,
    most: sent ?? Math.max(maxOutputTokens, needed),
    least: sent ?? Math.min(maxOutputTokens, needed),
  };
}

/** What passes through is refused by the upstream where it is too low. */
const leastSent = ({ upstream: { provider } }: TextRoute, style: TextStyle): number =>
  provider.protocol === style ? 0 : leastOutputLimit(provider.protocol);

/** What a hold covers, and the most that may be charged whatever the upstream reports. */
export function heldBy(
  { outputTokens }: TextHold,
  asked: {
    readonly input: InputEstimate;
    readonly replies: number;
    readonly limits: ModelLimits;
    readonly uses: RequestUses;
  },
): HeldTokens {
  const { input, replies, limits, uses } = asked;
  const { heldTokens: inputTokens, hasFiles } = input;
  const bounds = replyBounds({ inputTokens, replies, limits, isOpenEnded: isOpenEnded(uses) });
  return { inputTokens, outputTokens, hasFiles, bounds };
}

/** What is held for a request that is one call of its model. */
export const holdOrderOf = (
  { requestId, idempotencyKey, caller: { accountId, apiKeyId }, model }: TextOrder<unknown>,
  { heldTokens: inputTokens, mostTokens: mostInputTokens }: InputEstimate,
  { replies, beside, most, least }: ReturnType<typeof outputOf>,
): TextHoldOrder => ({
  requestId,
  idempotencyKey,
  accountId,
  apiKeyId,
  model,
  inputTokens,
  mostInputTokens,
  outputTokens: replies * (beside + most),
  leastOutputTokens: replies * (beside + least),
});

export function limited(request: TextRequest, limit: number | undefined): TextRequest {
  if (limit === undefined) return request;
  // Where it takes nothing from the request, in front of it: behind a spread a new field costs as much as all others.
  return 'maxOutputTokens' in request ? { ...request, maxOutputTokens: limit } : { maxOutputTokens: limit, ...request };
}

/** Stops a request whose caller has left from asking an upstream, which nothing would be charged for. */
export function unlessLeft<Given extends readonly unknown[], T>(
  caller: CallerPresence,
  read: (...given: Given) => T,
): (...given: Given) => T {
  return (...given) => {
    if (caller.hasLeft) throw new Error('the caller has left');
    return read(...given);
  };
}

/** Makes what is asked for again of the same name but once. */
export function latest<T>(make: (name: string | undefined) => T): (name: string | undefined) => T {
  let made: { readonly name: string | undefined; readonly value: T } | undefined;
  return (name) => (made?.name === name && made ? made : (made = { name, value: make(name) })).value;
}

export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/**
 * The answer for the caller, or why there is none although the reply is paid for.
 *
 * @throws GatewayError `upstream_error` where a reply of a strange shape would end in a TypeError: it costs nothing.
 */
export function tryToWrap(wrap: () => string): { readonly json: string } | { readonly refusal: GatewayError } {
  try {
    return { json: wrap() };
  } catch (error) {
    if (error instanceof GatewayError) return { refusal: error };
    const message = 'The upstream sent something that is not part of its protocol.';
    throw new GatewayError('upstream_error', message, { cause: error });
  }
}

/** Reports to the order which offered tools the upstream was asked without. */
export function reportToolsLeftOut(
  { onToolsLeftOut }: Pick<TextOrder<unknown>, 'onToolsLeftOut'>,
  { toolsLeftOut }: RoutedReply,
): void {
  if (toolsLeftOut.length > 0) onToolsLeftOut?.(toolsLeftOut);
}

/** @throws GatewayError `model_not_allowed`: the key is limited to other models. */
export function expectModelAllowed({ model, caller: { allowedModels } }: TextOrder<unknown>): void {
  if (allowedModels.length > 0 && !allowedModels.includes(model))
    throw new GatewayError('model_not_allowed', `This API key may not use the model "${model}".`, { param: 'model' });
}
