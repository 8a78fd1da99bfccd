import type { TextEvent } from '#contracts';
import { chatCodec } from '../chat/chat-codec.js';
import { messagesCodec } from '../messages/messages-codec.js';
import { responsesCodec } from '../responses/responses-codec.js';
import { asStream, decoded, joined, readWhole } from '../testing/decoded.js';

const PAGE = 'https://a.example/page';
const TEXT = 'Paris is the capital.';
const FIELDS = { url: PAGE, title: 'A page', start_index: 0, end_index: 5 };
const IN_CHAT = { type: 'url_citation', url_citation: FIELDS };
const IN_RESPONSES = { type: 'url_citation', ...FIELDS };

const cited = (changes: { start?: number; end?: number; text?: string; title?: string; index?: number } = {}) => {
  const { start = 0, end = 5, text = 'Paris', title = 'A page', index = 0 } = changes;
  const source = { kind: 'page', page: { url: PAGE, title, text: '' } };
  return { type: 'citation', citation: { start, end, text, index, source } };
};
const withoutFinish = (events: readonly TextEvent[]) => events.filter(({ type }) => type !== 'finish');

const chat = (annotations: unknown) => ({
  choices: [{ index: 0, message: { content: TEXT, annotations }, finish_reason: 'stop' }],
});
const responses = (...content: object[]) => ({ status: 'completed', output: [{ type: 'message', content }] });

describe('Pages that a vendor cites unasked', () => {
  it('are read up to a number that no answer has, and cost no more than that many', () => {
    const cites = (answer: object): number =>
      readWhole(chatCodec, answer).filter(({ type }) => type === 'citation').length;
    expect(cites(chat(Array.from({ length: 20_000 }, () => IN_CHAT)))).toBe(10_000);
    const marks = chat(undefined);
    const [choice] = marks.choices;
    const marked = [{ ...choice, message: { content: '[1]'.repeat(300_000) } }];
    expect(cites({ choices: marked, citations: [PAGE] })).toBe(10_000);
    const urls = Array.from({ length: 20_000 }, (_, place) => `${PAGE}/${place}`);
    const listed = { citations: urls, search_results: urls.map((url) => ({ url })) };
    expect(cites({ ...marks, ...listed })).toBe(999);
  });

  it('follow the text of a chat completion, whole and streamed, wherever in the stream they come', () => {
    const expected = [{ type: 'text', text: TEXT }, cited()];
    expect(withoutFinish(readWhole(chatCodec, chat([IN_CHAT])))).toEqual(expected);
    const [pages, ...words] = [{ annotations: [IN_CHAT] }, { content: 'Paris is ' }, { content: 'the capital.' }];
    for (const deltas of [
      [pages, ...words],
      [...words, pages],
    ]) {
      const stream = asStream([
        ...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })),
        { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        '[DONE]',
      ]);
      expect(withoutFinish(joined(decoded(chatCodec, stream)))).toEqual(expected);
    }
  });

  it('follow the text of a response, whole, streamed and where only its end brings it', () => {
    const part = { type: 'output_text', text: TEXT, annotations: [IN_RESPONSES] };
    const before = { type: 'output_text', text: 'Well: ' };
    const message = { type: 'message', content: [before, part] };
    const expected = [{ type: 'text', text: `Well: ${TEXT}` }, cited({ start: 6, end: 11 })];
    expect(withoutFinish(readWhole(responsesCodec, responses(before, part)))).toEqual(expected);
    const end = { type: 'response.completed', response: { status: 'completed', output: [message] } };
    const pieces = [
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', content: [] } },
      { type: 'response.output_text.delta', output_index: 0, delta: 'Well: ' },
      { type: 'response.output_text.delta', output_index: 0, delta: TEXT },
      { type: 'response.output_item.done', output_index: 0, item: message },
    ];
    for (const events of [[...pieces, end], [end]])
      expect(withoutFinish(joined(decoded(responsesCodec, asStream(events))))).toEqual(expected);
  });

  it('stand before the call of a function that follows the text', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const message = { content: TEXT, annotations: [IN_CHAT], tool_calls: [call] };
    const events = readWhole(chatCodec, { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
    expect(events.map(({ type }) => type)).toEqual(['text', 'citation', 'call', 'arguments', 'finish']);
  });

  it.each<[string, unknown, object[]]>([
    [
      'no places are the whole page',
      { type: 'url_citation', url_citation: { url: PAGE, title: 'A page' } },
      [cited({ end: 0, text: '' })],
    ],
    [
      'places beyond the text end with it',
      { type: 'url_citation', url: PAGE, title: 'A page', start_index: 13, end_index: 999 },
      [cited({ start: 13, end: 21, text: 'capital.' })],
    ],
    [
      'places are turned round',
      { type: 'url_citation', ...FIELDS, start_index: 9, end_index: 5 },
      [cited({ start: 5, end: 5, text: '' })],
    ],
    ['there is no title', { type: 'url_citation', url: PAGE, end_index: 5 }, [cited({ title: 'a.example' })]],
    ['the address is none', { type: 'url_citation', url: 'https://', end_index: 5 }, []],
    ['the address is no page', { type: 'url_citation', url: 'javascript:alert(1)', end_index: 5 }, []],
    ['it is a file of the vendor', { type: 'file_citation', file_id: 'file_1' }, []],
    ['it is no object', 'https://a.example/page', []],
  ])('are read as they can be where %s', (_where, annotation, expected) => {
    expect(withoutFinish(readWhole(chatCodec, chat([annotation])))).toEqual([
      { type: 'text', text: TEXT },
      ...expected,
    ]);
  });

  it('have one number for each page', () => {
    const other = { type: 'url_citation', url: 'https://b.example/', title: 'B', end_index: 2 };
    const events = readWhole(chatCodec, chat([IN_CHAT, other, IN_CHAT]));
    expect(events.flatMap((event) => (event.type === 'citation' ? [event.citation.index] : []))).toEqual([0, 1, 0]);
  });

  it('stand at their marks where a vendor lists them beside its reply, and once where the content marks none', () => {
    const listed = {
      citations: [PAGE, 'https://b.example/'],
      search_results: [{ url: PAGE, title: 'A page', snippet: 'Paris!' }],
    };
    const content = 'Paris[1], see [2](x) and [7].';
    const source = { kind: 'page', page: { url: PAGE, title: 'A page', text: 'Paris!' } };
    const other = { kind: 'page', page: { url: 'https://b.example/', title: 'b.example', text: '' } };
    const expected = [
      { type: 'text', text: content },
      { type: 'citation', citation: { start: 5, end: 8, text: '[1]', index: 0, source } },
      { type: 'citation', citation: { start: 29, end: 29, text: '', index: 1, source: other } },
    ];
    const whole = { ...listed, choices: [{ index: 0, message: { content }, finish_reason: 'stop' }] };
    expect(withoutFinish(readWhole(chatCodec, whole))).toEqual(expected);
    const stream = asStream([
      ...['Paris[', '1], see [2](x) and [7].'].map((piece) => ({
        ...listed,
        choices: [{ delta: { content: piece } }],
      })),
      { ...listed, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ]);
    expect(withoutFinish(joined(decoded(chatCodec, stream)))).toEqual(expected);
    const annotated = {
      ...listed,
      choices: [{ message: { content: TEXT, annotations: [IN_CHAT] }, finish_reason: 'stop' }],
    };
    expect(withoutFinish(readWhole(chatCodec, annotated))).toEqual([{ type: 'text', text: TEXT }, cited()]);
  });

  it.each([
    { citations: {}, search_results: 'x' },
    { citations: [{ start: 0 }], search_results: [1] },
  ])('are none where a vendor has something else under the names of its lists: %o', (beside) => {
    const whole = { ...beside, choices: [{ message: { content: TEXT }, finish_reason: 'stop' }] };
    expect(withoutFinish(readWhole(chatCodec, whole))).toEqual([{ type: 'text', text: TEXT }]);
    const content = [{ type: 'text', text: TEXT, citations: beside.citations }];
    expect(withoutFinish(readWhole(messagesCodec, { content }))).toEqual([{ type: 'text', text: TEXT }]);
  });
});
