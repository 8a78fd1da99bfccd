import type {
  ChatAnswer,
  ChatFinishReason,
  ChatReplyCall,
  ChatUsage,
  CollectedReply,
  FinishReason,
  ReplyBlock,
  TextUsage,
} from '#contracts';
import { chatAnnotations } from '../hosted-tools/chat-annotations.js';
import { newTextId } from '../text-id.js';
import type { ReplyContext } from '../text-style-codec.js';
import { belongsToOnePart, proofAtCall, reasoningDetail } from './chat-reasoning.js';

const FINISH_REASON: Record<FinishReason, ChatFinishReason> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  'tool-limit': 'length',
};

export const chatFinishReason = (reason: FinishReason): ChatFinishReason => FINISH_REASON[reason];

/** Token counts of the chat style. */
export function writeChatUsage(usage: TextUsage | undefined): ChatUsage {
  const { inputTokens = 0, cachedInputTokens = 0, outputTokens = 0, reasoningTokens = 0 } = usage ?? {};
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

/**
 * The calls of a reply. A proof stands at the first call that follows it, where clients keep it that keep nothing else;
 * not where it belongs to a text in between.
 */
function writeCalls(blocks: readonly ReplyBlock[]): ChatReplyCall[] {
  let proof: string | undefined;
  return blocks.flatMap((block) => {
    if (block.type === 'reasoning') proof = block.signature || proof;
    else if (block.type !== 'call' && proof !== undefined && belongsToOnePart(proof)) proof = undefined;
    if (block.type !== 'call') return [];
    const { id, name, arguments: json } = block;
    const written: ChatReplyCall = { id, type: 'function', function: { name, arguments: json } };
    const signed = proof === undefined ? written : { ...written, extra_content: proofAtCall(proof) };
    proof = undefined;
    return [signed];
  });
}

const textOf = (blocks: readonly ReplyBlock[], type: 'text' | 'refusal' | 'reasoning'): string =>
  blocks.map((block) => (block.type === type ? block.text : '')).join('');

function writeMessage(blocks: readonly ReplyBlock[]): ChatAnswer['choices'][number]['message'] {
  const calls = writeCalls(blocks);
  const text = textOf(blocks, 'text');
  const refusal = textOf(blocks, 'refusal');
  const reasoning = textOf(blocks, 'reasoning');
  const annotations = chatAnnotations(blocks);
  const thoughts = blocks.filter((block) => block.type === 'reasoning');
  const details = thoughts.flatMap((block, index) => reasoningDetail(block, index) ?? []);
  return {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(details.length > 0 ? { reasoning_details: details } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(annotations.length > 0 ? { annotations } : {}),
  };
}

/** A whole reply as the native completion object. */
export function chatAnswer(
  { blocks, finish }: CollectedReply,
  { model, createdSeconds }: Pick<ReplyContext<unknown>, 'model' | 'createdSeconds'>,
): ChatAnswer {
  return {
    id: newTextId('chatcmpl_'),
    object: 'chat.completion',
    created: createdSeconds,
    model,
    choices: [
      { index: 0, message: writeMessage(blocks), logprobs: null, finish_reason: chatFinishReason(finish.reason) },
    ],
    usage: writeChatUsage(finish.usage),
  };
}
