import type { JsonObject, TextUsage } from '#contracts';
import { asStream, decoded, readWhole, usageOf as usageWith } from '../testing/decoded.js';
import { PROTOCOL_CODECS } from '../open-text-upstreams.js';
import { RelayTap } from './relay-tap.js';

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

const INPUT_OF_RESPONSES = { input: 'input_tokens', read: 'input_tokens_details' };

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

describe.each(PROTOCOLS)('A reply whose %s upstream reports no output', (protocol) => {
  it.each([undefined, null])(
    'has the input that was reported, and its output is counted by the gateway: %s',
    (output) => {
      expect(usageOf(protocol, 12, output)).toMatchObject({ inputTokens: 12, outputTokens: 0 });
    },
  );
});

it.each(['responses', 'chat'] as const)(
  'The output of a %s upstream is what its total has beside the input',
  (protocol) => {
    const names = protocol === 'chat' ? { input: 'prompt_tokens', read: 'prompt_tokens_details' } : INPUT_OF_RESPONSES;
    const usage = { [names.input]: 12, total_tokens: 15, [names.read]: { cached_tokens: 10 } };
    const reply = { ...(REPLIES[protocol](0, 0) as JsonObject), usage };
    const events = PROTOCOL_CODECS[protocol].read(reply);
    expect(events.find((event) => event.type === 'finish')?.usage).toMatchObject({
      inputTokens: 12,
      cachedInputTokens: 10,
      outputTokens: 3,
    });
  },
);

/** What is added to the usage of each protocol, and what must be known of it then. */
const UNITS: readonly (readonly [keyof typeof PROTOCOL_CODECS, JsonObject, Partial<TextUsage>])[] = [
  [
    'chat',
    { prompt_tokens_details: { audio_tokens: 9 }, completion_tokens_details: { audio_tokens: 2 } },
    { inputTokens: 12, outputTokens: 3, units: { audio_input_token: 9, audio_output_token: 2 } },
  ],
  [
    'chat',
    { prompt_tokens_details: { audio_tokens: 400 }, completion_tokens_details: { audio_tokens: 50, image_tokens: 7 } },
    {
      inputTokens: 400,
      outputTokens: 57,
      units: { audio_input_token: 400, audio_output_token: 50, image_output_token: 7 },
    },
  ],
  [
    'chat',
    { num_search_queries: 2, server_tool_use: { web_search_requests: 3 } },
    { units: { vendor_web_search_call: 3 } },
  ],
  [
    'chat',
    { num_server_side_tools_used: 5, server_side_tool_usage_details: { web_search_calls: 1, x_search_calls: 2 } },
    { units: { vendor_web_search_call: 3, vendor_tool_call: 2 } },
  ],
  [
    'responses',
    { num_server_side_tools_used: 5, server_side_tool_usage_details: { web_search_calls: 1, x_search_calls: 2 } },
    { units: { vendor_web_search_call: 3, vendor_tool_call: 2 } },
  ],
  [
    'chat',
    { prompt_tokens_details: { cache_creation: { ephemeral_1h_input_tokens: 6, ephemeral_5m_input_tokens: 1 } } },
    { units: { cache_write_long_token: 6 } },
  ],
  ['chat', { num_sources_used: 4 }, { units: { vendor_tool_call: 4 } }],
  // What was read from a cache stands beside the input, as the total says.
  [
    'responses',
    { input_tokens: 100, input_tokens_details: { cached_tokens: 900 }, total_tokens: 1_003 },
    { inputTokens: 1_000, cachedInputTokens: 900 },
  ],
  [
    'responses',
    { output_tokens_details: { reasoning_tokens: 50 }, total_tokens: 65 },
    { outputTokens: 53, reasoningTokens: 50 },
  ],
  [
    'responses',
    { cache_read_input_tokens: 3, input_tokens_details: { cache_creation_tokens: 2 } },
    { inputTokens: 12, cachedInputTokens: 3, cacheWriteTokens: 2 },
  ],
  // An input that is not said is what the total leaves.
  ...(
    [
      ['responses', { input_tokens: null, input_tokens_details: { cached_tokens: 900 } }, { total_tokens: 1_003 }],
      ['chat', { prompt_tokens: null, prompt_tokens_details: { cached_tokens: 900 } }, { total_tokens: 1_003 }],
      ['gemini', { promptTokenCount: null, cachedContentTokenCount: 900 }, { totalTokenCount: 1_003 }],
    ] as const
  ).flatMap(([protocol, said, total]): (typeof UNITS)[number][] => [
    [protocol, { ...said, ...total }, { inputTokens: 1_000, cachedInputTokens: 900, outputTokens: 3 }],
    // Without a total it is counted by the gateway, and is no less than its parts.
    [protocol, said, { inputTokens: 0, cachedInputTokens: 900, outputTokens: 3 }],
  ]),
  // Each round of the vendor's own is a call of the model, at the prices of its own input and with what it kept for an hour.
  [
    'messages',
    {
      input_tokens: 600,
      cache_creation_input_tokens: 100,
      cache_creation: { ephemeral_1h_input_tokens: 100 },
      server_tool_use: { web_search_requests: 1 },
      iterations: [
        {
          type: 'compaction',
          input_tokens: 500,
          cache_creation_input_tokens: 200,
          cache_creation: { ephemeral_1h_input_tokens: 200 },
          output_tokens: 10,
        },
        {
          type: 'message',
          input_tokens: 600,
          cache_creation_input_tokens: 100,
          cache_creation: { ephemeral_1h_input_tokens: 100 },
          output_tokens: 3,
        },
      ],
    },
    {
      inputTokens: 1_400,
      outputTokens: 13,
      units: { cache_write_long_token: 300, vendor_web_search_call: 1 },
      calls: [
        usageWith({
          inputTokens: 700,
          cacheWriteTokens: 200,
          outputTokens: 10,
          units: { cache_write_long_token: 200 },
        }),
        usageWith({
          inputTokens: 700,
          cacheWriteTokens: 100,
          outputTokens: 3,
          units: { cache_write_long_token: 100, vendor_web_search_call: 1 },
        }),
      ],
    },
  ],
  [
    'responses',
    { input_tokens_details: { audio_tokens: 400, image_tokens: 5 }, output_tokens_details: { audio_tokens: 50 } },
    {
      inputTokens: 405,
      imageInputTokens: 5,
      outputTokens: 50,
      units: { audio_input_token: 400, audio_output_token: 50 },
    },
  ],
  [
    'messages',
    {
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
      cache_creation: { ephemeral_1h_input_tokens: 6 },
    },
    { inputTokens: 12, units: { vendor_web_search_call: 2, vendor_tool_call: 1, cache_write_long_token: 6 } },
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
      units: { audio_input_token: 400, audio_output_token: 50, image_output_token: 7 },
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
    const calls = [
      { type: 'web_search_call', action: { type: 'search' } },
      { type: 'web_search_call', action: { type: 'open_page' } },
      ...['web_search_call', 'code_interpreter_call', 'function_call', 'message'].map((type) => ({ type })),
    ];
    const response = { ...withUsage('responses', {}), output: calls };
    const grounded = (REPLIES.gemini(12, 3) as { candidates: JsonObject[] }).candidates.map((candidate) => ({
      ...candidate,
      groundingMetadata: { webSearchQueries: ['a', 'b'] },
    }));
    const gemini = { ...withUsage('gemini', {}), candidates: grounded };
    const uncounted = {
      ...gemini,
      candidates: gemini.candidates.map((candidate) => ({
        ...candidate,
        groundingMetadata: { groundingChunks: [{ web: { uri: 'https://a.test' } }] },
      })),
    };
    for (const [protocol, reply, units] of [
      ['responses', response, { vendor_web_search_call: 2, vendor_tool_call: 2 }],
      ['gemini', gemini, { vendor_web_search_call: 2 }],
      ['gemini', uncounted, { vendor_web_search_call: 1 }],
    ] as const)
      expect(readWhole(PROTOCOL_CODECS[protocol], reply).at(-1)).toMatchObject({ usage: { units } });
  });

  it.each([
    ['chat', { service_tier: 'Priority' }, 'priority'],
    ['chat', { service_tier: 'fast' }, 'priority'],
    ['chat', { service_tier: 'scale' }, 'other'],
    ['chat', { service_tier: 'auto' }, undefined],
    ['responses', { service_tier: 'flex' }, 'flex'],
    ['responses', { service_tier: 'default' }, 'default'],
    ['messages', { usage: { service_tier: 'batch' } }, 'batch'],
    ['messages', { usage: { service_tier: 'standard' } }, 'default'],
    ['gemini', { usageMetadata: { serviceTier: 'PRIORITY' } }, 'priority'],
    ['gemini', { usageMetadata: { trafficType: 'ON_DEMAND_FLEX' } }, 'flex'],
    ['gemini', { usageMetadata: { serviceTier: 7 } }, undefined],
  ] as const)('says which tier served it, whole and streamed, over %s: %j', (protocol, added, tier) => {
    const reply = withUsage(
      protocol,
      'usage' in added ? added.usage : 'usageMetadata' in added ? added.usageMetadata : {},
    );
    const served = 'service_tier' in added ? { ...reply, ...added } : reply;
    for (const events of [
      PROTOCOL_CODECS[protocol].read(served),
      decoded(PROTOCOL_CODECS[protocol], asStream(streamOf(protocol, served))),
    ])
      expect(events.find((event) => event.type === 'finish')?.usage?.tier).toBe(tier);
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

  it('is the later number of what was read, and the larger of what was written, where a stream reports it twice', () => {
    const told = (audio: number) =>
      withUsage('chat', {
        prompt_tokens_details: { audio_tokens: audio },
        completion_tokens_details: { audio_tokens: audio - 3 },
      });
    const { choices: _choices, ...last } = told(4);
    const events = decoded(PROTOCOL_CODECS.chat, asStream([told(9), last]));
    expect(events.at(-1)).toMatchObject({
      usage: { inputTokens: 12, units: { audio_input_token: 4, audio_output_token: 6 } },
    });
  });
});

it('Input of a message whose end says nothing but zeros of it is that of its beginning, what was cached included', () => {
  const begun = { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 };
  const events = decoded(
    PROTOCOL_CODECS.messages,
    asStream([
      { type: 'message_start', message: { usage: begun } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 0, output_tokens: 5 } },
      { type: 'message_stop' },
    ]),
  );
  expect(events.at(-1)).toMatchObject({ usage: { inputTokens: 100, cachedInputTokens: 90, outputTokens: 5 } });
});

/** A stream that reports its usage twice, with these counts of input and output, or leaves some out (null). */
type Counts = readonly [input: number | null, output: number | null];
const TWICE: Readonly<Record<keyof typeof PROTOCOL_CODECS, (first: Counts, last: Counts) => object[]>> = {
  responses: ([input, output], last) => [
    { type: 'response.incomplete', response: REPLIES.responses(input, output) },
    { type: 'response.completed', response: REPLIES.responses(...last) },
  ],
  chat: (first, [input, output]) => [
    REPLIES.chat(...first) as object,
    { choices: [], usage: { prompt_tokens: input, completion_tokens: output } },
  ],
  messages: (first, [input, output]) => [
    { type: 'message_start', message: { usage: { input_tokens: first[0], output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Yes.' } },
    { type: 'message_delta', delta: {}, usage: { output_tokens: first[1] } },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: input, output_tokens: output },
    },
    { type: 'message_stop' },
  ],
  gemini: (first, last) => [REPLIES.gemini(...first) as object, REPLIES.gemini(...last) as object],
};

describe.each(PROTOCOLS)('Usage that a %s stream reports twice', (protocol) => {
  const told = (first: Counts, last: Counts): (TextUsage | undefined)[] => {
    const stream = asStream(TWICE[protocol](first, last));
    const tap = new RelayTap(PROTOCOL_CODECS[protocol]);
    // Each event comes by itself, as from a network.
    for (const event of TWICE[protocol](first, last)) tap.see(Buffer.from(asStream([event])));
    tap.end();
    return [(decoded(PROTOCOL_CODECS[protocol], stream).at(-1) as { usage?: TextUsage }).usage, tap.reportedUsage()];
  };

  it.each([
    ['less', 900, 700],
    ['more', 700, 900],
    ['the same', 900, 900],
  ])('has the last word for its input, relayed and translated, also where that is %s', (_what, first, last) => {
    for (const usage of told([first, 3], [last, 5]))
      expect(usage).toMatchObject({ inputTokens: last, outputTokens: 5 });
  });

  it('keeps the input of the first where the last says none, and the most of what was written', () => {
    for (const usage of told([900, 7], [0, 5])) expect(usage).toMatchObject({ inputTokens: 900, outputTokens: 7 });
  });
});

/** Chunks that each say what was used until then, and what the last of them leaves out, or says of it. */
const GROWING: Readonly<
  Record<keyof typeof PROTOCOL_CODECS, (output: number, cached: object, more: object) => object>
> = {
  responses: (output, input_tokens_details, more) => ({
    type: 'response.incomplete',
    response: { output: [], usage: { input_tokens: 12, input_tokens_details, output_tokens: output, ...more } },
  }),
  chat: (output, prompt_tokens_details, more) => ({
    choices: [{ delta: { content: 'Yes.' } }],
    usage: { prompt_tokens: 12, prompt_tokens_details, completion_tokens: output, ...more },
  }),
  messages: (output, _cached, more) => ({
    type: 'message_delta',
    delta: {},
    usage: { output_tokens: output, ...more },
  }),
  gemini: (output, _cached, more) => ({
    candidates: [{ content: { parts: [{ text: 'Yes.' }] } }],
    usageMetadata: { promptTokenCount: 12, cachedContentTokenCount: 10, candidatesTokenCount: output, ...more },
  }),
};

/** What the last report leaves out of its input. */
const LEFT_OUT: Readonly<Record<keyof typeof PROTOCOL_CODECS, readonly object[]>> = {
  responses: [{}, { input_tokens_details: null }, { input_tokens_details: {} }, { input_tokens: null }],
  chat: [{}, { prompt_tokens_details: null }, { prompt_tokens_details: {} }, { prompt_tokens: null }],
  messages: [{}, { input_tokens: null, cache_read_input_tokens: null }, { input_tokens: 2 }],
  gemini: [{}, { cachedContentTokenCount: null }, { promptTokenCount: null }],
};

const CACHED = { cached_tokens: 10 };
const END: Readonly<Record<keyof typeof PROTOCOL_CODECS, readonly object[]>> = {
  responses: [],
  chat: [{ choices: [{ delta: {}, finish_reason: 'stop' }], usage: null }],
  messages: [{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: null }, { type: 'message_stop' }],
  gemini: [
    { candidates: [], usageMetadata: { promptTokenCount: 12 } },
    { candidates: [{ finishReason: 'STOP' }], usageMetadata: null },
  ],
};

describe.each(PROTOCOLS)('Usage that a %s stream reports again and again', (protocol) => {
  const begun: Readonly<Record<string, object[]>> = {
    messages: [
      { type: 'message_start', message: { usage: { input_tokens: 2, cache_read_input_tokens: 10, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Yes.' } },
    ],
  };

  it.each(LEFT_OUT[protocol])(
    'is of all until then, never added, and what is left out at its end holds: %j',
    (more) => {
      const said = GROWING[protocol];
      const events = [
        ...(begun[protocol] ?? []),
        ...[1, 2, 5].map((output) => said(output, CACHED, {})),
        said(7, CACHED, more),
        ...END[protocol],
      ];
      const tap = new RelayTap(PROTOCOL_CODECS[protocol]);
      for (const event of events) tap.see(Buffer.from(asStream([event])));
      tap.end();
      const usage = usageWith({ inputTokens: 12, cachedInputTokens: 10, outputTokens: 7 });
      expect(tap.reportedUsage()).toEqual(usage);
      expect(decoded(PROTOCOL_CODECS[protocol], asStream(events)).at(-1)).toMatchObject({ usage });
    },
  );
});

it('A relayed gemini stream may report its input alone', () => {
  const tap = new RelayTap(PROTOCOL_CODECS.gemini);
  for (const promptTokenCount of [11, 12])
    tap.see(Buffer.from(asStream([{ candidates: [{ finishReason: 'STOP' }], usageMetadata: { promptTokenCount } }])));
  tap.end();
  expect(tap.reportedUsage()).toMatchObject({ inputTokens: 12, outputTokens: 0 });
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

it.each([
  [{ thoughtsTokenCount: 20, totalTokenCount: 40 }, 28, 20],
  [{ thoughtsTokenCount: 20, totalTokenCount: 32 }, 20, 20],
  [{ thoughtsTokenCount: 20 }, 20, 20],
  [{ totalTokenCount: 15 }, 3, 0],
  [{ toolUsePromptTokenCount: 8, totalTokenCount: 30 }, 10, 0],
  [{ totalTokenCount: '40' }, 0, 0],
  [{ totalTokenCount: 5 }, 0, 0],
])(
  'What a gemini vendor leaves out of its words is what its total says beside the rest: %j',
  (told, output, reasoning) => {
    const reply = { ...(REPLIES.gemini(12, 3) as JsonObject), usageMetadata: { promptTokenCount: 12, ...told } };
    for (const events of [PROTOCOL_CODECS.gemini.read(reply), decoded(PROTOCOL_CODECS.gemini, asStream([reply]))])
      expect(events.at(-1)).toMatchObject({ usage: { outputTokens: output, reasoningTokens: reasoning } });
  },
);
