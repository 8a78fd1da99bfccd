import fc from 'fast-check';
import type { JsonObject, OutputFormat, TextEvent } from '#contracts';
import { atBest } from '#testing';
import { AnswerTaker, withAnswerInObject } from './answer-in-object.js';

const CITY: JsonObject = { type: 'object', properties: { city: { type: 'string' } } };
const asked = (schema: JsonObject): OutputFormat => ({ type: 'json-schema', name: 'output', schema });
const inObject = (answer: JsonObject): JsonObject => ({
  type: 'object',
  properties: { answer },
  required: ['answer'],
  additionalProperties: false,
});

describe.each(['chat', 'responses'] as const)('The schema of an answer over %s', (protocol) => {
  it.each<[string, JsonObject, JsonObject]>([
    ['a list', { type: 'array', items: CITY }, inObject({ type: 'array', items: CITY })],
    ['a choice', { anyOf: [CITY, { type: 'null' }] }, inObject({ anyOf: [CITY, { type: 'null' }] })],
    ['a word', { enum: ['a', 'b'] }, inObject({ enum: ['a', 'b'] })],
    [
      'an object that may be null',
      { ...CITY, type: ['object', 'null'] },
      inObject({ ...CITY, type: ['object', 'null'] }),
    ],
    [
      'a list of what is shared',
      { type: 'array', items: { $ref: '#/$defs/City' }, $defs: { City: CITY } },
      { ...inObject({ type: 'array', items: { $ref: '#/$defs/City' } }), $defs: { City: CITY } },
    ],
    [
      'a list of itself',
      { type: 'array', items: { anyOf: [{ $ref: '#' }, { $ref: '#/items/anyOf/2' }, CITY] } },
      inObject({
        type: 'array',
        items: { anyOf: [{ $ref: '#/properties/answer' }, { $ref: '#/properties/answer/items/anyOf/2' }, CITY] },
      }),
    ],
  ])('that is %s asks for it in an object', (_, schema, written) => {
    expect(withAnswerInObject(asked(schema), protocol)).toEqual({ format: asked(written), isInObject: true });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['an object', CITY, CITY],
    ['an object of any fields', { type: 'object' }, { type: 'object', properties: {} }],
    ['an object that does not say so', { properties: CITY['properties'] ?? null }, CITY],
    ['a shared object', { $ref: '#/$defs/City', $defs: { City: CITY } }, { ...CITY, $defs: { City: CITY } }],
  ])('that is %s stays one', (_, schema, written) => {
    expect(withAnswerInObject(asked(schema), protocol)).toEqual({ format: asked(written), isInObject: false });
  });
});

it.each(['messages', 'gemini'] as const)(
  'The schema of an answer over %s, which enforces any, stays as it is',
  (protocol) => {
    const format = asked({ type: 'array', items: CITY });
    expect(withAnswerInObject(format, protocol)).toEqual({ format, isInObject: false });
  },
);

const END: TextEvent = { type: 'finish', reason: 'stop' };

/** What a caller reads of a text that comes in such pieces. */
function taken(pieces: readonly string[], end: TextEvent = END): string {
  const taker = new AnswerTaker();
  const events = [...pieces.map((text): TextEvent => ({ type: 'text', text })), end];
  const read = events.flatMap((event) => taker.take([event]));
  expect(read.at(-1)).toBe(end);
  expect(read.every((event) => event.type !== 'text' || event.text !== '')).toBe(true);
  return read.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');
}

const cut = (text: string, places: readonly number[]): string[] => {
  const at = [
    0,
    ...places.map((place) => place % (text.length + 1)).toSorted((one, other) => one - other),
    text.length,
  ];
  return at.slice(1).flatMap((end, index) => text.slice(at[index], end) || []);
};

describe('An answer in an object', () => {
  it('is what the caller gets, whatever it is and whatever pieces it comes in', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.nat()), fc.constantFrom(undefined, 2), (value, places, indent) => {
        expect(JSON.parse(taken(cut(JSON.stringify({ answer: value }, undefined, indent), places)))).toEqual(
          JSON.parse(JSON.stringify(value)),
        );
      }),
    );
  });

  it.each(['No.', '{"city":"Paris"}', '[1]', '{"answ', '', '{"answer" 1}'])(
    'is left alone where the vendor answered otherwise: %j',
    (text) => {
      for (let place = 0; place < text.length; place += 1) expect(taken(cut(text, [place]))).toBe(text);
    },
  );

  it('keeps what the output limit cut off as it is', () => {
    expect(taken(['{"answer":[{"a":1}'], { type: 'finish', reason: 'length' })).toBe('[{"a":1}');
  });

  it('ends before a call, and another may follow', () => {
    const taker = new AnswerTaker();
    const call: TextEvent = { type: 'call', id: 'c', name: 'f' };
    const text = (said: string): TextEvent => ({ type: 'text', text: said });
    expect(taker.take([text('{"answer":1}'), call, text('{"answer":2 }'), END])).toEqual([
      text('1'),
      call,
      text('2'),
      END,
    ]);
  });
});

it.each(['', '{"answer":'])(
  'An answer that begins %j is taken out at one pass over the white space behind it',
  async (begins) => {
    const piece = ' '.repeat(10);
    const tookMs = await atBest(1_000, () => {
      const taker = new AnswerTaker();
      taker.take([{ type: 'text', text: begins }]);
      for (let count = 0; count < 8_000; count += 1) taker.take([{ type: 'text', text: piece }]);
      taker.take([END]);
    });
    expect(tookMs).toBeLessThan(1_000);
  },
);
