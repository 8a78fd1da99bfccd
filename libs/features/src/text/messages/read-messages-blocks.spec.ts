import { checkBody, type JsonObject, MessagesRequest, type TextRequest } from '#contracts';
import { readMessagesRequest } from './read-messages-request.js';

function read(...content: JsonObject[]): TextRequest {
  const body = { model: 'm', messages: [{ role: 'user', content }] };
  expect(checkBody(MessagesRequest, body)).toEqual([]);
  return readMessagesRequest(body as never, 'm', false);
}

const document = (content: JsonObject[] | string, about: JsonObject = {}): JsonObject => ({
  type: 'document',
  source: { type: 'content', content },
  ...about,
});

describe('A document that its caller put together', () => {
  it('is read as its parts in their order, behind its title and context', () => {
    const parts = [
      { type: 'text', text: 'one' },
      { type: 'image', source: { type: 'url', url: 'https://a.example/1.png' } },
      { type: 'text', text: 'two' },
    ];
    const sent = [document(parts, { title: 'A title', context: 'of last year' }), document('three', { title: null })];
    expect(read(...sent).turns).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'A title\n\nof last year' },
          { type: 'text', text: 'one' },
          {
            type: 'image',
            source: { kind: 'url', url: 'https://a.example/1.png' },
            param: 'messages[0].content[0].source.content[1]',
          },
          { type: 'text', text: 'two' },
          { type: 'text', text: 'three' },
        ],
      },
    ]);
  });

  it.each<[string, JsonObject, string]>([
    ['its citing', document('x', { citations: { enabled: true } }), 'messages[0].content[0].citations'],
    [
      'a part that no other interface has',
      document([{ type: 'a_block_of_tomorrow' }]),
      'messages[0].content[0].source.content[0]',
    ],
    [
      'an uploaded file',
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
      'messages[0].content[0].source',
    ],
  ])('is refused by name for %s', (_what, block, param) => {
    expect(() => read(block)).toThrow(expect.objectContaining({ code: 'unsupported_parameter', param }));
  });
});

it('A tool that the result of a search for tools names is named in words', () => {
  const body = {
    model: 'm',
    messages: [
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'find_tools', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't', content: [{ type: 'tool_reference', tool_name: 'get_time' }] },
        ],
      },
    ],
  };
  expect(checkBody(MessagesRequest, body)).toEqual([]);
  expect(readMessagesRequest(body as never, 'm', false).turns.at(-1)?.parts).toMatchObject([
    { type: 'result', callId: 't', content: [{ type: 'text', text: 'The tool "get_time" can be called.' }] },
  ]);
});
