import { asStream, decoded, joined } from '../testing/decoded.js';
import { chatCodec } from './chat-codec.js';

/** Every piece brings the name of the function again, and no id. */
const pieceOf = (json: string): object => ({
  choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name: 'tool_0', arguments: json } }] } }],
});
const END = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };

/** The arguments of each call that is read. */
function argumentsOf(pieces: readonly string[]): string[] {
  const events = joined(decoded(chatCodec, asStream([...pieces.map(pieceOf), END])));
  return events.flatMap((event) => (event.type === 'arguments' ? [event.json] : []));
}

describe('Arguments of a chat server that repeats the name with every piece', () => {
  it.each([
    ['a number', ['1', '2'], ['1', '2']],
    ['a text', ['"a', 'b"', '""'], ['"ab"', '""']],
    ['an object in two pieces', ['{"a":[1', ']}', '{"b":"\\"}"}'], ['{"a":[1]}', '{"b":"\\"}"}']],
    ['a bracket within a text', ['{"a":"', '}', '"}', '{}'], ['{"a":"}"}', '{}']],
    ['white space behind the end', ['{} ', ' {}'], ['{} ', ' {}']],
    ['no JSON', ['{a}', '{b}'], ['{a}{b}']],
    ['more behind the end', ['{}}', '{}'], ['{}}{}']],
  ])('begin another call behind whole ones: %s', (_what, pieces, expected) => {
    expect(argumentsOf(pieces)).toEqual(expected);
  });

  it('are parsed once, however many pieces end as arguments do', () => {
    const first = ['{"note":"', ...Array.from({ length: 1_000 }, () => ' {x}'), '"}'];
    const pieces = [...first, '{"note":"2"}'];
    const parse = jest.spyOn(JSON, 'parse');
    const read = argumentsOf(pieces);
    const parsedCharacters = parse.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    parse.mockRestore();
    expect(read).toEqual([first.join(''), '{"note":"2"}']);
    expect(parsedCharacters).toBeLessThan(2 * asStream(pieces.map(pieceOf)).length);
  });
});
