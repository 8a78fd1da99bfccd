import { checkBody, MessagesRequest, type TextRequest } from '#contracts';
import { readMessagesRequest } from './read-messages-request.js';

function read(system: unknown): TextRequest['system'] {
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }], system };
  expect(checkBody(MessagesRequest, body)).toEqual([]);
  return readMessagesRequest(body as never, 'm', false).system;
}

describe('What Claude Code says to the billing of its vendor, another in each request', () => {
  const header = 'x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch=36ee5;';
  const said = (text: string) => ({ type: 'text', text });

  it('stands before no system prompt of another vendor, whose prompt cache would never be met', () => {
    expect(read([said(header), said('You are an agent.'), said('Be brief.')])).toEqual([
      'You are an agent.',
      'Be brief.',
    ]);
    expect(read([said(`${header}\nBe brief.`)])).toEqual(['Be brief.']);
    expect(read(`${header}\n\nBe brief.`)).toEqual(['Be brief.']);
    expect(read(header)).toEqual([]);
  });

  it.each(['Be brief.', `Say: ${header}`, 'x-anthropic-billing-header', ''])(
    'is told from any other text: %j',
    (text) => {
      expect(read(text)).toEqual([text]);
      expect(read([said('First.'), said(text)])).toEqual(['First.', text]);
    },
  );
});
