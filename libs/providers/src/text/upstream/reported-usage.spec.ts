import type { JsonObject, TextUsage } from '#contracts';
import { asStream, decoded, readWhole, usageOf as usageWith } from '../testing/decoded.js';
import { PROTOCOL_CODECS } from './protocol-codecs.js';

/** A whole reply of each protocol with these counts of input and output. */
const REPLIES: Readonly<Record<keyof typeof PROTOCOL_CODECS, (input: unknown, output: unknown) => unknown>> = {
  responses: (input, output) => ({
    status: 'completed',
    output: [],
    usage: { input_tokens: input, output_tokens: output },
  }),
  chat: (input, output) => ({
    choices: [{ message: { content: 'Yes.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: input, completion_tokens: output },
  }),
  messages: (input, output) => ({
    content: [{ type: 'text', text: 'Yes.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: input, output_tokens: output },
  }),
  gemini: (input, output) => ({
    candidates: [{ content: { parts: [{ text: 'Yes.' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output },
  }),
};

const PROTOCOLS = Object.keys(REPLIES) as (keyof typeof PROTOCOL_CODECS)[];

function usageOf(protocol: keyof typeof PROTOCOL_CODECS, input: unknown, output: unknown): TextUsage | undefined {
  const events = PROTOCOL_CODECS[protocol].read(REPLIES[protocol](input, output) as JsonObject);
  return events.find((event) => event.type === 'finish')?.usage;
}

describe.each(PROTOCOLS)('The usage that a %s upstream reports', (protocol) => {
  it('is taken when its numbers are counts', () => {
    expect(usageOf(protocol, 12, 3)).toMatchObject({ inputTokens: 12, outputTokens: 3, source: 'upstream' });
  });

  it.each([[1.5], [-1], ['12'], [1e300], [[]]])(
    'is left out, so that the gateway counts, when one is %j',
    (nonsense) => {
      expect(usageOf(protocol, nonsense, 3)).toBeUndefined();
      expect(usageOf(protocol, 12, nonsense)).toBeUndefined();
    },
  );
});

it.each(['responses', 'chat', 'messages'] as const)(
  'A reply whose %s upstream reports no output is counted by the gateway',
  (protocol) => {
    expect(usageOf(protocol, 12, undefined)).toBeUndefined();
  },
);

/** What is added to the usage of each protocol, and what must be known of it then. */
const UNITS: readonly (readonly [keyof typeof PROTOCOL_CODECS, JsonObject, Partial<TextUsage>])[] = [
  [
    'chat',
    { prompt_tokens_details: { audio_tokens: 9 }, completion_tokens_details: { audio_tokens: 2 } },
    { inputTokens: 12, outputTokens: 3, unpriced: { audio_input_token: 9, audio_output_token: 2 } },
  ],
  [
    'chat',
    { prompt_tokens_details: { audio_tokens: 400 }, completion_tokens_details: { audio_tokens: 50, image_tokens: 7 } },
    {
      inputTokens: 400,
      outputTokens: 57,
      unpriced: { audio_input_token: 400, audio_output_token: 50, image_output_token: 7 },
    },
  ],
  [
    'chat',
    { num_search_queries: 2, server_tool_use: { web_search_requests: 3 } },
    { unpriced: { vendor_tool_call: 3 } },
  ],
  ['chat', { num_sources_used: 4 }, { unpriced: { vendor_tool_call: 4 } }],
  [
    'responses',
    { input_tokens_details: { audio_tokens: 400, image_tokens: 5 }, output_tokens_details: { audio_tokens: 50 } },
    {
      inputTokens: 405,
      imageInputTokens: 5,
      outputTokens: 50,
      unpriced: { audio_input_token: 400, audio_output_token: 50 },
    },
  ],
  [
    'messages',
    {
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
      cache_creation: { ephemeral_1h_input_tokens: 6 },
    },
    { inputTokens: 12, unpriced: { vendor_tool_call: 3, long_cache_write_token: 6 } },
  ],
  [
    'gemini',
    {
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 4 },
        { modality: 'audio', tokenCount: 300 },
      ],
      toolUsePromptTokensDetails: [{ modality: 'AUDIO', tokenCount: 100 }],
      candidatesTokensDetails: [
        { modality: 'AUDIO', tokenCount: 50 },
        { modality: 'IMAGE', tokenCount: 7 },
      ],
    },
    {
      inputTokens: 400,
      outputTokens: 57,
      unpriced: { audio_input_token: 400, audio_output_token: 50, image_output_token: 7 },
    },
  ],
];

/** The same reply as a stream of one event, or of the events that the protocol needs. */
function streamOf(protocol: keyof typeof PROTOCOL_CODECS, reply: JsonObject): object[] {
  const { usage } = reply;
  if (protocol === 'responses') return [{ type: 'response.completed', response: reply }];
  if (protocol !== 'messages') return [reply];
  return [
    { type: 'message_start', message: { usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Yes.' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ];
}

function withUsage(protocol: keyof typeof PROTOCOL_CODECS, added: unknown): JsonObject {
  const reply = REPLIES[protocol](12, 3) as JsonObject;
  const field = protocol === 'gemini' ? 'usageMetadata' : 'usage';
  return { ...reply, [field]: { ...(reply[field] as JsonObject), ...(added as JsonObject) } };
}

describe('What an upstream reports and no price is known for', () => {
  it.each(UNITS)('is known by its unit, in a whole no less than its parts, over %s: %j', (protocol, added, known) => {
    const reply = withUsage(protocol, added);
    for (const events of [
      PROTOCOL_CODECS[protocol].read(reply),
      decoded(PROTOCOL_CODECS[protocol], asStream(streamOf(protocol, reply))),
    ])
      expect(events.find((event) => event.type === 'finish')?.usage).toMatchObject(known);
  });

  it('counts the searches and calls that stand in a reply', () => {
    const calls = ['web_search_call', 'code_interpreter_call', 'function_call', 'message'].map((type) => ({ type }));
    const response = { ...withUsage('responses', {}), output: calls };
    const grounded = (REPLIES.gemini(12, 3) as { candidates: JsonObject[] }).candidates.map((candidate) => ({
      ...candidate,
      groundingMetadata: { webSearchQueries: ['a', 'b'] },
    }));
    const gemini = { ...withUsage('gemini', {}), candidates: grounded };
    for (const [protocol, reply] of [
      ['responses', response],
      ['gemini', gemini],
    ] as const)
      expect(readWhole(PROTOCOL_CODECS[protocol], reply).at(-1)).toMatchObject({
        usage: { unpriced: { vendor_tool_call: 2 } },
      });
  });

  it.each(PROTOCOLS)('is left out where it is no count, and the rest is believed, over %s', (protocol) => {
    for (const nonsense of [-5, 1.5, '12', 1e300, [], {}, null, true]) {
      const details = { audio_tokens: nonsense };
      const added = {
        prompt_tokens_details: details,
        completion_tokens_details: details,
        input_tokens_details: details,
        output_tokens_details: details,
        cache_creation: { ephemeral_1h_input_tokens: nonsense },
        server_tool_use: { web_search_requests: nonsense },
        num_search_queries: nonsense,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: nonsense }, nonsense, { modality: nonsense }],
        candidatesTokensDetails: nonsense,
      };
      const { usage } = readWhole(PROTOCOL_CODECS[protocol], withUsage(protocol, added)).at(-1) as {
        usage?: TextUsage;
      };
      expect(usage).toEqual(usageWith({ inputTokens: 12, outputTokens: 3 }));
    }
  });

  it('is the larger number where a stream reports it twice', () => {
    const told = (audio: number) => withUsage('chat', { prompt_tokens_details: { audio_tokens: audio } });
    const { choices: _choices, ...last } = told(4);
    const events = decoded(PROTOCOL_CODECS.chat, asStream([told(9), last]));
    expect(events.at(-1)).toMatchObject({ usage: { inputTokens: 12, unpriced: { audio_input_token: 9 } } });
  });
});

describe.each(PROTOCOLS)('Garbage in place of the usage of a %s reply', (protocol) => {
  it.each([['words'], [7], [[]], [[null]], [true], [null]])('is no usage, and the reply is read: %j', (nonsense) => {
    const field = protocol === 'gemini' ? 'usageMetadata' : 'usage';
    const reply = { ...(REPLIES[protocol](12, 3) as JsonObject), [field]: nonsense };
    for (const events of [
      PROTOCOL_CODECS[protocol].read(reply),
      decoded(PROTOCOL_CODECS[protocol], asStream(streamOf(protocol, reply))),
    ]) {
      const { usage } = events.at(-1) as { usage?: TextUsage };
      expect(usage?.outputTokens ?? 0).toBe(0);
    }
  });
});
