import type { TextEvent } from '#contracts';
import { MendedArguments } from './mended-arguments.js';

const CALL: TextEvent = { type: 'call', id: 'call_1', name: 'look' };
const FINISH: TextEvent = { type: 'finish', reason: 'tool-calls' };

/** The arguments of a call that come in these pieces, one batch of events for each. */
function mended(pieces: readonly string[]): string[] {
  const taker = new MendedArguments();
  const batches: TextEvent[][] = [
    [CALL],
    ...pieces.map((json): TextEvent[] => [{ type: 'arguments', json }]),
    [CALL, { type: 'arguments', json: '{"b":2}' }, FINISH],
  ];
  const events = batches.flatMap((batch) => taker.take(batch));
  expect(events.filter(({ type }) => type !== 'arguments')).toEqual([CALL, CALL, FINISH]);
  expect(events.at(-2)).toEqual({ type: 'arguments', json: '{"b":2}' });
  return events.slice(0, -3).flatMap((event) => (event.type === 'arguments' ? [event.json] : []));
}

const inText = (json: string): string => JSON.stringify(json);

describe('Arguments of a call', () => {
  it.each([
    ['an object as a text', [inText('{"a":"x"}')], '{"a":"x"}'],
    ['an object as a text in pieces', [' ', ...inText('{"a":"\\"x"}').split('')], '{"a":"\\"x"}'],
    ['an empty object in front of the real one', ['{}', '{"a":', '1}'], '{"a":1}'],
    ['an empty object and a space in front of it', ['{ }', ' ', ' {', '"a":1}'], ' {"a":1}'],
    ['null', ['null'], ''],
    ['null in pieces', ['nu', 'll'], ''],
  ])('are mended: %s', (_what, pieces, expected) => {
    expect(mended(pieces).join('')).toBe(expected);
  });

  it.each([
    ['an empty object', ['{}']],
    ['nothing', ['']],
    ['an object in pieces', ['{', '}']],
    ['a text', [inText('no object')]],
    ['a list as a text', [inText('[1]')]],
    ['a text that is cut off', ['"{\\"a']],
    ['a list', ['[{}', '{}]']],
    ['a word', ['nope']],
    ['two objects in one piece', ['{}{"a":1}']],
    ['space without end', Array.from({ length: 40 }, () => ' ')],
  ])('stay as they are: %s', (_what, pieces) => {
    expect(mended(pieces).join('')).toBe(pieces.join(''));
  });

  it('pass as they come where nothing is to be mended', () => {
    expect(mended(['{"a"', ':', '1}'])).toEqual(['{"a"', ':', '1}']);
  });
});
