import {
  type CollectedReply,
  type FinishEvent,
  type FinishReason,
  GatewayError,
  type ReplyBlock,
  type ResponsesAnswer,
  type ResponsesOutcome,
  type ResponsesOutputItem,
  type ResponsesOutputPart,
  type ResponsesRequest,
  type ResponsesUsage,
  type SpecifiedResponse,
  type TextUsage,
} from '#contracts';
import { charactersLeft } from '#platform';
import { envelope, newTextId } from '../reply-parts.js';
import { argumentsWith, textOfArguments } from '../tool-arguments.js';
import { asJson } from '../json-object.js';
import type { ReplyContext } from '../text-style-codec.js';
import { originsOf, type ToolOrigin } from './flat-tools.js';
import { stepItem, withoutTokens, writeAnnotation } from '../hosted-tools/responses-steps.js';
import { nativeTool } from './native-responses-body.js';

type Echo = Omit<ResponsesAnswer, keyof ResponsesOutcome>;

/** Fields that are said back as they came, and what they count as when they did not. */
const ECHO_DEFAULTS = {
  instructions: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  store: true,
  temperature: 1,
  tool_choice: 'auto',
  top_logprobs: 0,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  truncation: 'disabled',
  user: null,
  metadata: {},
} as const satisfies Partial<Echo>;

type EchoedField = keyof typeof ECHO_DEFAULTS;

const ECHOED = Object.entries(ECHO_DEFAULTS);

/** Whatever of a request its response says back. */
const SAID_BACK = [...Object.keys(ECHO_DEFAULTS), 'tools', 'text', 'reasoning'];

/** What a response may say back of its request, in characters: several events of a stream repeat it. */
const ECHO_CHARACTERS_MAX = 1024 * 1024;

/** @throws GatewayError `invalid_parameter` naming the field with which it becomes too much. */
export function expectShortEcho(body: ResponsesRequest): void {
  const sent = asJson(body);
  let left = ECHO_CHARACTERS_MAX;
  for (const param of SAID_BACK) {
    if (sent[param] == null) continue;
    left = charactersLeft(sent[param], left);
    if (left < 0)
      throw new GatewayError(
        'invalid_parameter',
        `${param}: the fields of the request that a response repeats (instructions, tools, text, metadata and other settings) may have at most ${ECHO_CHARACTERS_MAX} characters together; send long texts in input.`,
        { param },
      );
  }
}

function echoedFields(body: ResponsesRequest): Pick<Echo, EchoedField> {
  const sent = asJson(body);
  const echoed: Record<string, unknown> = {};
  for (const [name, absent] of ECHOED) echoed[name] = sent[name] ?? absent;
  return echoed as Pick<Echo, EchoedField>;
}

/** The fields of a response that are known before it begins: its identity, and the request said back. */
export function echoRequest({ body, model, createdSeconds }: ReplyContext<ResponsesRequest>, id: string): Echo {
  return {
    id,
    object: 'response',
    created_at: createdSeconds,
    model,
    background: false,
    error: null,
    max_output_tokens: body.max_output_tokens ?? body.max_completion_tokens ?? body.max_tokens ?? null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    service_tier: 'default',
    text: { format: { type: 'text' }, ...(body.text ? asJson(body.text) : {}) },
    tools: (body.tools ?? []).map((tool) => withoutTokens(nativeTool(tool))),
    // Last: in front of other fields a spread costs ten times as much.
    ...echoedFields(body),
  };
}

/** What a response says of its outcome until it has one. */
export const UNFINISHED: ResponsesOutcome = {
  status: 'in_progress',
  output: [],
  usage: null,
  incomplete_details: null,
  completed_at: null,
};

export function writeUsage(usage: TextUsage): ResponsesUsage {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedInputTokens, cache_write_tokens: usage.cacheWriteTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

const INCOMPLETE = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
  'tool-limit': 'max_tool_calls',
} as const;

/** How a finished response ended. */
export function outcomeOf(finish: FinishEvent, output: readonly ResponsesOutputItem[]): ResponsesOutcome {
  const usage = finish.usage ? writeUsage(finish.usage) : null;
  if (finish.reason === 'length' || finish.reason === 'content-filter' || finish.reason === 'tool-limit')
    return {
      status: 'incomplete',
      output,
      usage,
      incomplete_details: { reason: INCOMPLETE[finish.reason] },
      completed_at: null,
    };
  const completed = Math.floor(Date.now() / 1000);
  return { status: 'completed', output, usage, incomplete_details: null, completed_at: completed };
}

/** A call as the caller knows its tool; undefined for one of a free-form tool that the end of the reply cut off. */
function callItem(
  { id: call_id, name, arguments: json }: Extract<ReplyBlock, { type: 'call' }>,
  id: string,
  origin: ToolOrigin = { kind: 'function', name },
  end: FinishReason | undefined,
): ResponsesOutputItem | undefined {
  const { kind, name: own, namespace } = origin;
  const call = { id, status: 'completed' as const, call_id, name: own, ...(namespace !== undefined && { namespace }) };
  if (kind !== 'custom') return { ...call, type: 'function_call', arguments: json };
  const input = textOfArguments(json, end);
  return input === undefined ? undefined : { ...call, type: 'custom_tool_call', input };
}

/** Words as a part of a message. */
export function outputPart({
  type,
  text,
  citations = [],
}: Extract<ReplyBlock, { type: 'text' | 'refusal' }>): ResponsesOutputPart {
  if (type === 'refusal') return { type, refusal: text };
  return { type: 'output_text', text, annotations: citations.map(writeAnnotation), logprobs: [] };
}

/**
 * A finished block as an output item; undefined for a call of a free-form tool that the end of the reply cut off.
 *
 * @param origin how the caller knows the tool that the block calls; undefined when it is a plain function.
 * @param end how the reply ended; undefined when it continues after the block.
 */
export function outputItem(
  block: Exclude<ReplyBlock, { type: 'step' }>,
  id: string,
  origin?: ToolOrigin,
  end?: FinishReason,
): ResponsesOutputItem | undefined {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return { id, type: 'message', status: 'completed', role: 'assistant', content: [outputPart(block)] };
    case 'call':
      return callItem(block, id, origin, end);
    default:
      return {
        id,
        type: 'reasoning',
        summary: block.text === '' ? [] : [{ type: 'summary_text', text: block.text }],
        ...(block.signature ? { encrypted_content: block.signature } : {}),
      };
  }
}

const ITEM_PREFIX = { text: 'msg_', refusal: 'msg_', call: 'fc_', reasoning: 'rs_' } as const;

export const newItemId = (type: keyof typeof ITEM_PREFIX, origin?: ToolOrigin): string =>
  newTextId(origin?.kind === 'custom' ? 'ctc_' : ITEM_PREFIX[type]);

const FINISH_REASON = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  'tool-limit': 'length',
} as const;

/** The parts of a native response that stand in `data` too; a relayed upstream's object has them too. */
export interface ResponseLike {
  readonly id: string;
  readonly created_at: number;
  readonly model: string;
  readonly status: string;
  readonly output: readonly ResponsesOutputItem[];
  readonly incomplete_details?: { readonly reason: string } | null;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number } | null;
}

function specifiedFinish(
  response: ResponseLike,
  called: boolean,
): SpecifiedResponse['choices'][number]['finish_reason'] {
  const reason = response.incomplete_details?.reason;
  if (reason === 'max_output_tokens') return FINISH_REASON.length;
  if (reason === 'content_filter') return FINISH_REASON['content-filter'];
  if (reason === 'max_tool_calls') return FINISH_REASON['tool-limit'];
  return called ? FINISH_REASON['tool-calls'] : FINISH_REASON.stop;
}

const wordsOf = (part: ResponsesOutputPart): string => (part.type === 'refusal' ? part.refusal : (part.text ?? ''));

/** The reply as `choices`, as `data` of an answer has it. */
export function specifiedResponse(response: ResponseLike): SpecifiedResponse {
  const calls = response.output.flatMap((item) => {
    if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return [];
    const json = item.type === 'function_call' ? item.arguments : JSON.stringify(argumentsWith(item.input));
    return [{ id: item.call_id, type: 'function' as const, function: { name: item.name, arguments: json } }];
  });
  const text = response.output.flatMap((item) => (item.type === 'message' ? item.content.map(wordsOf) : [])).join('');
  const called = calls.length > 0;
  const [input, output] = [response.usage?.input_tokens ?? 0, response.usage?.output_tokens ?? 0];
  return {
    id: response.id,
    object: 'response',
    created: response.created_at,
    model: response.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: called && text === '' ? null : text,
          ...(called ? { tool_calls: calls } : {}),
        },
        finish_reason: specifiedFinish(response, called),
      },
    ],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  };
}

/** A whole reply as the native response object. */
export function responsesAnswer(reply: CollectedReply, context: ReplyContext<ResponsesRequest>): ResponsesAnswer {
  const origins = originsOf(context.body.tools ?? []);
  const output = reply.blocks.flatMap((block) => {
    if (block.type === 'step') return [stepItem(block.step, context.body.include ?? [])];
    const origin = block.type === 'call' ? origins.get(block.name) : undefined;
    return outputItem(block, newItemId(block.type, origin), origin, reply.finish.reason) ?? [];
  });
  return Object.assign(echoRequest(context, newTextId('resp_')), outcomeOf(reply.finish, output));
}

/** The JSON of a response: native at the top level, `choices` in `data`. */
export const envelopedResponse = (native: string, response: ResponseLike): string =>
  envelope(native, JSON.stringify(specifiedResponse(response)));
