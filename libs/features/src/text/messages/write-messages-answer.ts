import {
  type CollectedReply,
  type FinishReason,
  type JsonObject,
  type MessagesAnswer,
  type MessagesReplyBlock,
  type MessagesStopReason,
  type MessagesUsage,
  NO_USAGE,
  REDACTED,
  type ReplyBlock,
  type TextUsage,
} from '#contracts';
import { markedProof } from '#providers';
import { stepBlocks, writeCitation } from '../hosted-tools/messages-steps.js';
import { readableBlocks } from '../tool-arguments.js';
import { newTextId } from '../reply-parts.js';

const STOP_REASON: Record<FinishReason, MessagesStopReason> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  'tool-limit': 'pause_turn',
};

/** @param declines whether the reply is a refusal in words. */
export const stopReason = (reason: FinishReason, declines: boolean): MessagesStopReason =>
  declines && reason === 'stop' ? 'refusal' : STOP_REASON[reason];

type MessagesTokens = Omit<TextUsage, 'source' | 'imageInputTokens'>;

/** Token counts of the messages style, where cached tokens stand beside `input_tokens` and not inside. */
export function writeMessagesUsage(usage: MessagesTokens = NO_USAGE, searches = 0): MessagesUsage {
  const { inputTokens, cachedInputTokens: cached, cacheWriteTokens: written, outputTokens, reasoningTokens } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: reasoningTokens },
    ...(searches > 0 && { server_tool_use: { web_search_requests: searches } }),
  };
}

/** Whether a proof without words belongs to a thought of this interface whose words its vendor does not show. */
export function isUnsaid(proof: string): boolean {
  const marked = markedProof(proof);
  return marked?.signer === 'messages' && !marked.proof.startsWith(REDACTED);
}

/** A finished block as a content block; the arguments of a call are known to be an object. */
function contentBlock(block: Extract<ReplyBlock, { type: 'call' | 'reasoning' }>): MessagesReplyBlock {
  switch (block.type) {
    case 'call': {
      const input = JSON.parse(block.arguments) as JsonObject;
      return { type: 'tool_use', id: block.id, name: block.name, input };
    }
    default:
      return block.text === '' && block.signature !== undefined && !isUnsaid(block.signature)
        ? { type: 'redacted_thinking', data: block.signature }
        : { type: 'thinking', thinking: block.text, signature: block.signature ?? '' };
  }
}

type TextBlock = Extract<ReplyBlock, { type: 'text' | 'refusal' }>;

/** A text is cut behind each of its citations: what a block holds is what its citations are about. */
function textBlocks({ text, citations = [] }: TextBlock): MessagesReplyBlock[] {
  const byEnd = new Map<number, JsonObject[]>();
  for (const citation of citations) {
    const written = byEnd.get(citation.end) ?? [];
    byEnd.set(citation.end, written);
    written.push(writeCitation(citation));
  }
  const ends = [...byEnd.keys()];
  const cited = [...byEnd].map(([end, written], index): MessagesReplyBlock => ({
    type: 'text',
    text: text.slice(ends[index - 1] ?? 0, end),
    citations: written,
  }));
  const rest = text.slice(ends.at(-1) ?? 0);
  return rest === '' && cited.length > 0 ? cited : [...cited, { type: 'text', text: rest }];
}

const contentBlocks = (block: ReplyBlock): readonly MessagesReplyBlock[] => {
  if (block.type === 'step') return stepBlocks(block.step);
  return block.type === 'call' || block.type === 'reasoning' ? [contentBlock(block)] : textBlocks(block);
};

/**
 * A whole reply as the native message object.
 *
 * @throws GatewayError `upstream_error` for a call whose arguments cannot be read.
 */
export function messagesAnswer({ blocks, finish }: CollectedReply, model: string): MessagesAnswer {
  const declines = blocks.some(({ type }) => type === 'refusal');
  return {
    id: newTextId('msg_'),
    type: 'message',
    role: 'assistant',
    model,
    content: readableBlocks(blocks, finish.reason).flatMap(contentBlocks),
    stop_reason: stopReason(finish.reason, declines),
    stop_sequence: finish.stopSequence ?? null,
    usage: writeMessagesUsage(
      finish.usage,
      blocks.filter((block) => block.type === 'step' && block.step.type === 'web_search').length,
    ),
  };
}
