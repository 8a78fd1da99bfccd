import {
  type ChatAnswer,
  type ChatFinishReason,
  type ChatReplyCall,
  type ChatRequest,
  type ChatUsage,
  type Citation,
  type CollectedReply,
  type FinishReason,
  isChatCustomTool,
  type JsonObject,
  type ReplyBlock,
  type TextUsage,
} from '#contracts';
import { writeAnnotation } from '../hosted-tools/responses-steps.js';
import { JoinedTexts, newTextId } from '../reply-parts.js';
import type { ReplyContext } from '../text-style-codec.js';
import { textOfArguments } from '../tool-arguments.js';
import { belongsToOnePart, proofAtCall, reasoningDetail } from './chat-reasoning.js';
import { offersLegacyFunctions } from './read-chat-request.js';

const FINISH_REASON: Record<FinishReason, ChatFinishReason> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  'tool-limit': 'length',
};

/** @param isLegacy whether its caller reads calls in the legacy form. */
export const chatFinishReason = (reason: FinishReason, isLegacy: boolean): ChatFinishReason =>
  reason === 'tool-calls' && isLegacy ? 'function_call' : FINISH_REASON[reason];

/** Token counts of the chat style. */
export function writeChatUsage(usage: TextUsage | undefined): ChatUsage {
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage?.cachedInputTokens ?? 0,
      cache_write_tokens: usage?.cacheWriteTokens ?? 0,
    },
    completion_tokens_details: { reasoning_tokens: usage?.reasoningTokens ?? 0 },
  };
}

/** The names of the tools whose input is a text and no JSON. */
export const freeFormNames = ({ tools }: ChatRequest): ReadonlySet<string> =>
  new Set((tools ?? []).flatMap((tool) => (isChatCustomTool(tool) ? [tool.custom.name] : [])));

function writeCall(
  { id, name, arguments: json }: Extract<ReplyBlock, { type: 'call' }>,
  isFreeForm: boolean,
  end: FinishReason,
): ChatReplyCall | undefined {
  if (!isFreeForm) return { id, type: 'function', function: { name, arguments: json } };
  const input = textOfArguments(json, end);
  return input === undefined ? undefined : { id, type: 'custom', custom: { name, input } };
}

/**
 * The calls of a reply. A proof stands at the first call that follows it, where clients keep it that keep nothing else;
 * not where it belongs to a text in between.
 */
function writeCalls({ blocks, finish }: CollectedReply, freeForm: ReadonlySet<string>): ChatReplyCall[] {
  let proof: string | undefined;
  return blocks.flatMap((block) => {
    if (block.type === 'reasoning') proof = block.signature || proof;
    else if (block.type !== 'call' && proof !== undefined && belongsToOnePart(proof)) proof = undefined;
    if (block.type !== 'call') return [];
    const written = writeCall(block, freeForm.has(block.name), finish.reason);
    if (!written) return [];
    const signed = proof === undefined ? written : { ...written, extra_content: proofAtCall(proof) };
    proof = undefined;
    return [signed];
  });
}

/** The thoughts of a reply, each apart from the one before. */
function reasoningOf(blocks: readonly ReplyBlock[]): string {
  const reasoning = new JoinedTexts();
  return blocks
    .map((block) => {
      reasoning.cut();
      return block.type === 'reasoning' ? reasoning.add(block.text) : '';
    })
    .join('');
}

type Message = ChatAnswer['choices'][number]['message'];

/** The legacy form holds one call. The model was asked for one at a time; it can make the others in its next turn. */
function writeLegacyCall(blocks: readonly ReplyBlock[]): Pick<Message, 'function_call'> {
  const call = blocks.find(({ type }) => type === 'call');
  return call?.type === 'call' ? { function_call: { name: call.name, arguments: call.arguments } } : {};
}

function writeMessage(reply: CollectedReply, body: ChatRequest): Message {
  const { blocks } = reply;
  const calls = writeCalls(reply, freeFormNames(body));
  const { text, annotations } = chatContent(blocks);
  const refusal = blocks.map((block) => (block.type === 'refusal' ? block.text : '')).join('');
  const reasoning = reasoningOf(blocks);
  const thoughts = blocks.filter((block) => block.type === 'reasoning');
  const details = thoughts.flatMap((block, index) => reasoningDetail(block, index) ?? []);
  return {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(details.length > 0 ? { reasoning_details: details } : {}),
    ...(offersLegacyFunctions(body) ? writeLegacyCall(blocks) : calls.length > 0 ? { tool_calls: calls } : {}),
    ...(annotations.length > 0 ? { annotations } : {}),
  };
}

/** A whole reply as the native completion object. */
export function chatAnswer(
  reply: CollectedReply,
  { model, createdSeconds, body }: Pick<ReplyContext<ChatRequest>, 'model' | 'createdSeconds' | 'body'>,
): ChatAnswer {
  const { finish } = reply;
  const message = writeMessage(reply, body);
  return {
    id: newTextId('chatcmpl_'),
    object: 'chat.completion',
    created: createdSeconds,
    model,
    choices: [
      {
        index: 0,
        message,
        logprobs: null,
        finish_reason: chatFinishReason(finish.reason, offersLegacyFunctions(body)),
      },
    ],
    usage: writeChatUsage(finish.usage),
  };
}

/** A citation as the chat style has it: its fields stand in an object of their own. `offset`: of its block in the content. */
export function chatAnnotation(citation: Citation, offset: number): JsonObject {
  const { type, ...fields } = writeAnnotation({
    ...citation,
    start: citation.start + offset,
    end: citation.end + offset,
  }) as JsonObject & { readonly type: string };
  return { type, [type]: fields };
}

/** What ends a text, though the next one stands in the same content. */
const endsText = (block: ReplyBlock): boolean =>
  block.type === 'call' || block.type === 'step' || (block.type === 'reasoning' && block.text !== '');

/** The content of a whole reply, in which all its texts stand, and their citations. */
function chatContent(blocks: readonly ReplyBlock[]): {
  readonly text: string;
  readonly annotations: readonly JsonObject[];
} {
  const content = new JoinedTexts();
  const annotations: JsonObject[] = [];
  const texts = blocks.map((block) => {
    if (endsText(block) || (block.type === 'text' && block.isApart)) content.cut();
    if (block.type !== 'text') return '';
    const placed = content.add(block.text);
    const before = content.length - block.text.length;
    annotations.push(...(block.citations ?? []).map((citation) => chatAnnotation(citation, before)));
    return placed;
  });
  return { text: texts.join(''), annotations };
}
