import type { JsonObject, TextUsage } from '#contracts';
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
