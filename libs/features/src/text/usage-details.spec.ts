import { type JsonObject, TEXT_STYLES, type TextEvent, type TextStyle } from '#contracts';
import { PROTOCOL_CODECS } from '#providers';
import { chatStyle } from './chat/chat-style.js';
import { geminiEventStyle } from './gemini/gemini-style.js';
import { messagesStyle } from './messages/messages-style.js';
import { responsesStyle } from './responses/responses-style.js';
import type { ReplyContext, TextStyleCodec } from './text-style-codec.js';

const STYLES: Readonly<Record<TextStyle, TextStyleCodec<never>>> = {
  responses: responsesStyle,
  chat: chatStyle,
  messages: messagesStyle,
  gemini: geminiEventStyle,
};

/** Whole replies with 100 tokens in, of which 30 were read from a cache and 20 written to it, and 50 out, 40 of them thought. */
const REPLIES: Readonly<Record<Exclude<TextStyle, 'gemini'>, JsonObject>> = {
  chat: {
    choices: [{ message: { content: 'Yes.' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 100,
      prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
      completion_tokens: 50,
      completion_tokens_details: { reasoning_tokens: 40 },
    },
  },
  responses: {
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'Yes.' }] }],
    usage: {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 40 },
    },
  },
  messages: {
    content: [{ type: 'text', text: 'Yes.' }],
    stop_reason: 'end_turn',
    usage: {
      input_tokens: 50,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 20,
      output_tokens: 50,
      output_tokens_details: { thinking_tokens: 40 },
    },
  },
};

/** What each style says of it. */
const SAID: Readonly<Record<TextStyle, JsonObject>> = {
  chat: { ...(REPLIES.chat['usage'] as JsonObject), total_tokens: 150 },
  responses: { ...(REPLIES.responses['usage'] as JsonObject), total_tokens: 150 },
  messages: REPLIES.messages['usage'] as JsonObject,
  gemini: { promptTokenCount: 100, cachedContentTokenCount: 30, candidatesTokenCount: 10, thoughtsTokenCount: 40 },
};

const context: ReplyContext<never> = {
  requestId: 'req_1',
  model: 'm',
  body: { model: 'm', input: '', messages: [], contents: [], stream_options: { include_usage: true } } as never,
  createdSeconds: 0,
  estimatedInputTokens: 100,
  onAnswer: () => {},
};

/** The last usage that a text of JSON tells. */
function lastUsage(style: TextStyle, text: string): unknown {
  const field = style === 'gemini' ? 'usageMetadata' : 'usage';
  const objects = text
    .split('\n')
    .flatMap((line) => (/^(data: )?\{/.test(line) ? [JSON.parse(line.replace(/^data: /, '')) as JsonObject] : []));
  return objects
    .flatMap((object) => object[field] ?? (object['response'] as JsonObject | undefined)?.[field] ?? [])
    .at(-1);
}

function streamed(style: TextStyle, events: readonly TextEvent[]): string {
  const encoder = STYLES[style].stream(context);
  return [...events.map((event) => encoder.write(event)), encoder.end()].join('');
}

function whole(style: TextStyle, events: readonly TextEvent[]): string {
  const finish = events.at(-1);
  if (finish?.type !== 'finish') throw new Error('the reply has no end');
  return STYLES[style].answer({ blocks: [{ type: 'text', text: 'Yes.' }], finish }, context);
}

const PROTOCOLS = Object.keys(REPLIES) as (keyof typeof REPLIES)[];

describe.each(PROTOCOLS)('What a %s upstream tells of its tokens', (protocol) => {
  it.each(TEXT_STYLES)('is told in the %s style, whole and streamed', (style) => {
    const events = PROTOCOL_CODECS[protocol].read(REPLIES[protocol]);
    expect(lastUsage(style, whole(style, events))).toMatchObject(SAID[style]);
    expect(lastUsage(style, streamed(style, events))).toMatchObject(SAID[style]);
  });
});
