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

/** One try may meet a collection of the whole heap, or code that is not compiled yet; work that grows too fast is slow in each. */
const TRIES = 8;

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

/** The least of several measurements, in milliseconds of work of this thread; of fewer where that is little enough. */
function leastMs(work: () => unknown, enoughMs: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < TRIES && least > enoughMs; tried += 1) {
    const from = busySoFarMs();
    work();
    least = Math.min(least, busySoFarMs() - from);
  }
  return least;
}

/** The most milliseconds that a step over the value may take: JSON's own, over several runs, because some systems count in ticks. */
function barOf(value: unknown): number {
  const from = busySoFarMs();
  for (let tried = 0; tried < TRIES; tried += 1) JSON.parse(JSON.stringify(value));
  return (TIMES_JSON * (busySoFarMs() - from)) / TRIES;
}

describe('A long conversation', () => {
  it.each(Object.keys(SHAPES))('is read and written with work that grows with its turns alone: %s', (name) => {
    const read = SHAPES[name] as () => TextRequest;
    const request = read();
    const barMs = barOf(request);
    const steps = {
      read,
      ...Object.fromEntries(
        Object.entries(PROTOCOL_CODECS).map(([protocol, codec]) => [
          protocol,
          (): JsonObject => codec.write(request, 'm', {}),
        ]),
      ),
    };
    const slow = Object.entries(steps).filter(([, work]) => leastMs(work, barMs) > barMs);
    expect(slow.map(([step]) => step)).toEqual([]);
  });

  it('passes through with work that grows with its turns alone: contents of one role in a row', () => {
    const body = { contents: turns(() => ({ role: 'user', parts: [{ text: 'hi' }] })) };
    const barMs = barOf(body);
    const codec = PROTOCOL_CODECS.gemini;
    const native = (): unknown => codec.native?.({ kind: 'rewritten', body }, {}, 'm');
    expect(leastMs(native, barMs)).toBeLessThan(barMs);
  });
});
