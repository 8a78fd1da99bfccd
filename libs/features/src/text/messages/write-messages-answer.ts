import type {
  CollectedReply,
  FinishReason,
  MessagesAnswer,
  MessagesReplyBlock,
  MessagesStopReason,
  MessagesUsage,
  ReplyBlock,
  TextUsage,
} from '#contracts';
import { parsedArguments } from '../parsed-arguments.js';
import { newTextId } from '../text-id.js';

const STOP_REASON: Record<FinishReason, MessagesStopReason> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
};

export const stopReason = (reason: FinishReason): MessagesStopReason => STOP_REASON[reason];

/** Token counts of the messages style, where cached tokens stand beside `input_tokens` and not inside. */
export function writeMessagesUsage(usage: TextUsage | undefined): MessagesUsage {
  const cached = usage?.cachedInputTokens ?? 0;
  const written = usage?.cacheWriteTokens ?? 0;
  return {
    input_tokens: Math.max(0, (usage?.inputTokens ?? 0) - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: usage?.outputTokens ?? 0,
  };
}

/** A finished block as a content block. */
export function contentBlock(block: ReplyBlock): MessagesReplyBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'call':
      return { type: 'tool_use', id: block.id, name: block.name, input: parsedArguments(block.arguments) };
    default:
      return block.text === '' && block.signature !== undefined
        ? { type: 'redacted_thinking', data: block.signature }
        : { type: 'thinking', thinking: block.text, signature: block.signature ?? '' };
  }
}

/** A whole reply as the native message object. */
export function messagesAnswer(reply: CollectedReply, model: string): MessagesAnswer {
  return {
    id: newTextId('msg_'),
    type: 'message',
    role: 'assistant',
    model,
    content: reply.blocks.map(contentBlock),
    stop_reason: stopReason(reply.finish.reason),
    stop_sequence: reply.finish.stopSequence ?? null,
    usage: writeMessagesUsage(reply.finish.usage),
  };
}
