import { asStream, decoded, joined } from '../testing/decoded.js';
import { parseReply } from './codec-failures.js';
import { PROTOCOL_CODECS } from './protocol-codecs.js';

/** The word "Hi" and the end of the reply, in each protocol. */
const STREAMS = {
  chat: [{ choices: [{ delta: { content: 'Hi' } }] }, { choices: [{ delta: {}, finish_reason: 'stop' }] }],
  responses: [
    { type: 'response.output_text.delta', delta: 'Hi' },
    { type: 'response.completed', response: { output: [] } },
  ],
  messages: [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'H' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'i' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ],
  gemini: [
    { candidates: [{ content: { parts: [{ text: 'H' }] } }] },
    { candidates: [{ content: { parts: [{ text: 'i' }] }, finishReason: 'STOP' }] },
  ],
} as const;

const PROTOCOLS = Object.keys(STREAMS) as (keyof typeof STREAMS)[];

describe.each(PROTOCOLS)('A stream over %s', (protocol) => {
  const stream = asStream(STREAMS[protocol]);
  const said = (sent: string): unknown => joined(decoded(PROTOCOL_CODECS[protocol], sent))[0];

  it.each([
    ['begins with the mark of its byte order', `\uFEFF${stream}`],
    ['ends with the word of another protocol', `${stream}data: [DONE]\n\n`],
    ['breaks its lines in another way', stream.replaceAll('\n', '\r\n')],
    ['holds comments and events of tomorrow', `: wait\n\n${asStream([{ type: 'an_event_of_tomorrow' }])}${stream}`],
  ])('is read to its end where it %s', (_how, sent) => {
    expect(said(sent)).toEqual({ type: 'text', text: 'Hi' });
  });
});

it('A whole reply may begin with the mark of its byte order', () => {
  expect(parseReply('\uFEFF{"x":1}')).toEqual({ x: 1 });
});
