import type { AssistantPart, JsonObject, TextRequest } from '#contracts';
import { PLAIN } from './testing/text-requests.js';
import { PROTOCOL_CODECS } from './open-text-upstreams.js';

const write = (protocol: keyof typeof PROTOCOL_CODECS, change: Partial<TextRequest>): JsonObject =>
  PROTOCOL_CODECS[protocol].write({ ...PLAIN, ...change }, 'upstream-name', { marksPromptCache: false });

describe('What was said in one turn of the assistant', () => {
  const contentOf = (parts: AssistantPart[]): unknown =>
    (write('chat', { turns: [{ role: 'assistant', parts }] })['messages'] as JsonObject[])[0]?.['content'];
  const said = (text: string, isApart?: true) => ({ type: 'text' as const, text, ...(isApart && { isApart }) });

  it('goes to a chat vendor as one content: messages a blank line apart, pieces of one text as they are', () => {
    const call = { type: 'call' as const, id: 'a', name: 'f', arguments: '{}' };
    expect(contentOf([said('Looking.'), said('Done.', true)])).toBe('Looking.\n\nDone.');
    expect(contentOf([said('Looking.'), call, said('Done.')])).toBe('Looking.\n\nDone.');
    expect(contentOf([said('Par'), said('is')])).toBe('Paris');
    expect(contentOf([said('Looking.\n'), said('Done.', true)])).toBe('Looking.\nDone.');
  });
});

describe('A call of an earlier turn, made by another vendor', () => {
  const turnsOf = (id: string, json = '{}'): TextRequest['turns'] => [
    { role: 'assistant', parts: [{ type: 'call', id, name: 'f', arguments: json }] },
    { role: 'user', parts: [{ type: 'result', callId: id, name: 'f', content: [], isError: false }] },
  ];
  const idsIn = (protocol: keyof typeof PROTOCOL_CODECS, id: string): readonly (string | undefined)[] =>
    [
      ...JSON.stringify(write(protocol, { turns: turnsOf(id) })).matchAll(
        /"(?:call_id|tool_call_id|tool_use_id|id)":"([^"]*)"/g,
      ),
    ].map(([, found]) => found);
  const LONG = `chatcmpl-tool-${'0'.repeat(90)}`;

  it.each([
    ['messages', 'functions.bash:0'],
    ['messages', LONG],
    ['responses', LONG],
  ] as const)('has an id that a %s vendor takes, and its result the same: %s', (protocol, id) => {
    const [call, result, ...others] = idsIn(protocol, id);
    expect([result, others, idsIn(protocol, id)[0]]).toEqual([call, [], call]);
    expect(call).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(idsIn(protocol, `${id}1`)[0]).not.toBe(call);
  });

  it.each([
    ['messages', 'toolu_01-A'],
    ['responses', 'functions.bash:0'],
    ['chat', 'functions.bash:0'],
    ['chat', LONG],
  ] as const)('keeps its id where a %s vendor may have given it: %s', (protocol, id) => {
    expect(idsIn(protocol, id)).toEqual([id, id]);
  });

  it.each(['{"path": "/tmp/x", "conf', '[1,2]', 'ls -l', '"x"', 'null', '{"a":1} '.repeat(2)])(
    'keeps arguments that are no object for vendors that take objects alone, instead of showing the model none: %s',
    (json) => {
      const sent = { rawInvalidInput: json };
      const turns = turnsOf('c', json);
      expect(JSON.stringify(write('messages', { turns })['messages'])).toContain(`"input":${JSON.stringify(sent)}`);
      expect(JSON.stringify(write('gemini', { turns })['contents'])).toContain(`"args":${JSON.stringify(sent)}`);
    },
  );

  it.each(['', ' ', '{}', '{ }'])('has no arguments where it had none: %j', (json) => {
    const turns = turnsOf('c', json);
    expect(JSON.stringify(write('messages', { turns })['messages'])).toContain('"input":{}');
    expect(JSON.stringify(write('gemini', { turns })['contents'])).toContain('"args":{}');
  });

  it.each(['chat', 'responses'] as const)(
    'has arguments that a %s vendor accepts, although it had none',
    (protocol) => {
      expect(JSON.stringify(write(protocol, { turns: turnsOf('c', '') }))).toContain('"arguments":"{}"');
    },
  );
});

describe('An empty text', () => {
  it.each(['', ' ', '\n\n'])('is left out for a messages vendor, which refuses it: %j', (nothing) => {
    const text = { type: 'text' as const, text: nothing };
    const call = { type: 'call' as const, id: 'c', name: 'f', arguments: '{}' };
    const result = { type: 'result' as const, callId: 'c', name: 'f', content: [text], isError: false };
    const turns: TextRequest['turns'] = [
      { role: 'user', parts: [{ type: 'text', text: 'x' }, text] },
      { role: 'assistant', parts: [text, call] },
      { role: 'user', parts: [result, text] },
    ];
    expect(write('messages', { turns })['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [] }] },
    ]);
  });
});
