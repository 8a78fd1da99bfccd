import { type JsonObject, type TextRequest } from '#contracts';
import { PROTOCOL_CODECS } from '#providers';
import { busySoFarMs } from '#testing';
import { chatStyle } from './chat/chat-style.js';
import { geminiEventStyle } from './gemini/gemini-style.js';
import { messagesStyle } from './messages/messages-style.js';
import { responsesStyle } from './responses/responses-style.js';

/** So many turns that work which grows with their square stands out. */
const TURNS = 12_000;

/** A step over all turns takes some four times as long as JSON takes over them; one that grows with their square takes fifty times. */
const TIMES_JSON = 12;

const TRIES = 2;

const turns = <Turn>(turn: (place: number) => Turn, count = TURNS): Turn[] =>
  Array.from({ length: count }, (_, place) => turn(place));
const half = TURNS / 2;

const image = { type: 'input_image', image_url: 'https://files.example/a.png' };
const call = (place: number, name = 'find') => ({
  type: 'function_call',
  call_id: `call_${place}`,
  name,
  arguments: '{}',
});
const output = (place: number) => ({ type: 'function_call_output', call_id: `call_${place}`, output: 'found' });

const responses = (input: readonly object[]): TextRequest =>
  responsesStyle.read({ model: 'm', input } as never, 'm', false);

/** Shapes of long conversations, and how each is read. */
const SHAPES: Readonly<Record<string, () => TextRequest>> = {
  'turn by turn': () => responses(turns((place) => ({ role: place % 2 === 0 ? 'user' : 'assistant', content: 'hi' }))),
  'images of the user in a row': () => responses(turns(() => ({ role: 'user', content: [image] }))),
  'calls, then their results': () => responses([...turns(call, half), ...turns(output, half)]),
  'each call with its result': () => responses(turns((place) => (place % 2 === 0 ? call(place) : output(place - 1)))),
  'calls of names that are not taken': () =>
    responses(turns((place) => (place % 2 === 0 ? call(place, `find ${place}`) : output(place - 1)))),
  'results in blocks': () =>
    messagesStyle.read(
      {
        model: 'm',
        max_tokens: 1,
        messages: [
          {
            role: 'assistant',
            content: turns((place) => ({ type: 'tool_use', id: `c${place}`, name: 'f', input: {} }), half),
          },
          { role: 'user', content: turns((place) => ({ type: 'tool_result', tool_use_id: `c${place}` }), half) },
        ],
      } as never,
      'm',
      false,
    ),
  'results in messages': () =>
    chatStyle.read(
      {
        model: 'm',
        messages: turns((place) =>
          place % 2 === 0
            ? {
                role: 'assistant',
                tool_calls: [{ id: `c${place}`, type: 'function', function: { name: 'f', arguments: '{}' } }],
              }
            : { role: 'tool', tool_call_id: `c${place - 1}`, content: 'found' },
        ),
      } as never,
      'm',
      false,
    ),
  'results by name alone': () =>
    geminiEventStyle.read(
      {
        contents: [
          { role: 'model', parts: turns(() => ({ functionCall: { name: 'f', args: {} } }), half) },
          { role: 'user', parts: turns(() => ({ functionResponse: { name: 'f', response: {} } }), half) },
        ],
      } as never,
      'm',
      false,
    ),
};

/** The least of several measurements, in milliseconds of work of this thread. */
function leastMs(work: () => unknown): number {
  const took = Array.from({ length: TRIES }, () => {
    const from = busySoFarMs();
    work();
    return busySoFarMs() - from;
  });
  return Math.min(...took);
}

describe('A long conversation', () => {
  it.each(Object.keys(SHAPES))('is read and written with work that grows with its turns alone: %s', (name) => {
    const read = SHAPES[name] as () => TextRequest;
    const request = read();
    const barMs = TIMES_JSON * leastMs(() => JSON.parse(JSON.stringify(request)));
    const steps = {
      read,
      ...Object.fromEntries(
        Object.entries(PROTOCOL_CODECS).map(([protocol, codec]) => [
          protocol,
          (): JsonObject => codec.write(request, 'm', {}),
        ]),
      ),
    };
    const slow = Object.entries(steps).filter(([, work]) => leastMs(work) > barMs);
    expect(slow.map(([step]) => step)).toEqual([]);
  });

  it('passes through with work that grows with its turns alone: contents of one role in a row', () => {
    const body = { contents: turns(() => ({ role: 'user', parts: [{ text: 'hi' }] })) };
    const barMs = TIMES_JSON * leastMs(() => JSON.parse(JSON.stringify(body)));
    const codec = PROTOCOL_CODECS.gemini;
    expect(leastMs(() => codec.native?.({ kind: 'rewritten', body }, {}, 'm'))).toBeLessThan(barMs);
  });
});
