import { chatStyle } from './chat/chat-style.js';
import { inlineMedia, readMediaAddress } from './request-parts.js';

const LONG = 'word '.repeat(500_000);
const parameters = { type: 'object', properties: { a: { type: 'string', description: LONG } } };
const request = (more: object) => ({ model: 'm', messages: [{ role: 'user' as const, content: 'hello' }], ...more });
const tools = (count: number) =>
  Array.from({ length: count }, (_, place) => ({ type: 'function', function: { name: `f${place}`, parameters } }));

describe('Schemas of a request that is translated', () => {
  it('are taken as long as models read them', () => {
    expect(() => chatStyle.read(request({ tools: tools(1) }), 'm', false)).not.toThrow();
  });

  it.each([
    ['of tools', { tools: tools(2) }],
    [
      'of a tool and the answer',
      {
        tools: tools(1),
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: parameters } },
      },
    ],
  ])('are refused by name where writing them would keep others waiting: %s', (_what, more) => {
    expect(() => chatStyle.read(request(more), 'm', false)).toThrow(
      'The schemas of all tools and of the answer together may have at most 4194304 characters.',
    );
  });
});

describe('A file that stands in a request', () => {
  it.each([
    ['data:text/html;base64,eA==', 'text/html'],
    ['data:text/html;charset=utf-8;base64,eA==', 'text/html'],
    ['data:application/json; charset=utf-8;base64,eA==', 'application/json'],
    ['DATA:Image/PNG;name=a.png;base64,eA==', 'image/png'],
    ['data:image/jpg;base64,eA==', 'image/jpeg'],
  ])('is of the type that its address names, whatever else that says: %s', (address, mediaType) => {
    expect(readMediaAddress(address)).toEqual({ kind: 'inline', mediaType, base64: 'eA==' });
  });

  it('is of the type that a field names, without parameters', () => {
    expect(inlineMedia('application/json; charset=utf-8', 'eA==').mediaType).toBe('application/json');
  });
});
