import type { TextStyle } from '#contracts';
import { conversationKey, sessionOf } from './conversation-key.js';

const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e';

describe('The session that a client names', () => {
  it.each([
    ['x-claude-code-session-id', 'x-opencode-session'],
    ['session-id', 'session_id'],
    ['session_id', 'x-session-id'],
    ['x-session-id', 'x-session-affinity'],
    ['x-session-affinity', 'x-opencode-session'],
  ])('is read from %s before %s', (first, second) => {
    expect(sessionOf({ [second]: 'two' }, {})).toBe('two');
    expect(sessionOf({ [second]: 'two', [first]: 'one' }, {})).toBe('one');
  });

  it('is read from the body where no header names one, and a header wins over the body', () => {
    const body = { metadata: { user_id: `user_x_account__session_${UUID}` }, session_id: 's', prompt_cache_key: 'k' };
    expect(sessionOf({}, body)).toBe(UUID);
    expect(
      sessionOf({}, { ...body, metadata: { user_id: JSON.stringify({ device_id: 'd', session_id: UUID }) } }),
    ).toBe(UUID);
    expect(sessionOf({}, { ...body, metadata: { user_id: 'a person' } })).toBe('s');
    expect(sessionOf({}, { prompt_cache_key: 'k' })).toBe('k');
    expect(sessionOf({ 'x-session-id': 'header' }, body)).toBe('header');
  });

  it.each(['', ' ', 'x'.repeat(257), 'a\nb', 'a\u007Fb', 'a\u0085b', 7, null, ['a'], {}])(
    'is none where the value is %j, and the next place is read',
    (value) => {
      expect(sessionOf({ 'session-id': value as string, 'x-session-id': 'next' }, {})).toBe('next');
      expect(sessionOf({}, { session_id: value, prompt_cache_key: 'next' })).toBe('next');
      expect(sessionOf({}, { metadata: { user_id: JSON.stringify({ session_id: value }) } })).toBeUndefined();
    },
  );

  it('is no person, and no number of one request', () => {
    const body = { user: 'u', safety_identifier: 'i', metadata: { user_id: '{"session_id"' } };
    expect(sessionOf({ 'x-client-request-id': 'r' }, body)).toBeUndefined();
    expect(sessionOf({}, { metadata: { user_id: `{${'x'.repeat(5_000)}_session_${UUID}` } })).toBeUndefined();
    expect(sessionOf({}, 'text')).toBeUndefined();
  });

  it('may have 256 characters of any alphabet', () => {
    expect(sessionOf({ 'x-session-id': 'x'.repeat(256) }, {})).toHaveLength(256);
    expect(sessionOf({}, { session_id: '会话' })).toBe('会话');
  });
});

/** A conversation of a style: instructions, the first message, and whether the model has answered. */
function bodyOf(
  style: TextStyle,
  { system = 'Be brief.', said = 'Hello', answered = true, tools = [] as object[] } = {},
): object {
  const reply = answered ? 'Yes?' : undefined;
  if (style === 'gemini')
    return {
      tools,
      systemInstruction: { parts: [{ text: system }] },
      contents: [{ parts: [{ text: said }] }, ...(reply ? [{ role: 'model', parts: [{ text: reply }] }] : [])],
    };
  const messages = [{ role: 'user', content: said }, ...(reply ? [{ role: 'assistant', content: reply }] : [])];
  if (style === 'messages') return { tools, system: [{ type: 'text', text: system }], messages };
  if (style === 'responses') return { tools, instructions: system, input: messages };
  return { tools, messages: [{ role: 'system', content: system }, ...messages] };
}

describe.each(['responses', 'messages', 'gemini', 'chat'] as const)(
  'A conversation without a name, in the %s style',
  (style) => {
    const keyOf = (body: object, more: object = {}) =>
      conversationKey({ accountId: 'ada', model: 'm', style, session: undefined, body, ...more });

    it('is known by its beginning, whatever follows and whichever tools are loaded', () => {
      const known = keyOf(bodyOf(style));
      expect(known?.key).toMatch(/^[0-9a-f]{32}$/);
      expect(keyOf(bodyOf(style, { tools: [{ name: 'f' }] }))).toEqual(known);
      expect(keyOf(bodyOf(style, { answered: false }))).toEqual({ key: known?.key, isKnown: false });
      expect(known?.isKnown).toBe(true);
    });

    it('differs by its first message, its instructions, its model and its account', () => {
      const keys = [
        keyOf(bodyOf(style)),
        keyOf(bodyOf(style, { said: 'Hello!' })),
        keyOf(bodyOf(style, { system: 'Be long.' })),
        keyOf(bodyOf(style), { model: 'n' }),
        keyOf(bodyOf(style), { accountId: 'bob' }),
        keyOf(bodyOf(style), { session: 's' }),
      ];
      expect(new Set(keys.map((found) => found?.key)).size).toBe(keys.length);
    });

    it('is told by the beginning of long instructions, and by the beginning and the length of a long message', () => {
      const ofSystem = (end: string) => keyOf(bodyOf(style, { system: 'x'.repeat(3_000) + end }));
      expect(ofSystem('today')).toEqual(ofSystem('tomorrow'));
      const ofFile = (end: string) => keyOf(bodyOf(style, { said: 'y'.repeat(100_000) + end }));
      expect(ofFile('1')).toEqual(ofFile('2'));
      expect(ofFile('1')).not.toEqual(ofFile('12'));
    });
  },
);

describe('The beginning of a conversation', () => {
  const keyOf = (body: object) =>
    conversationKey({ accountId: 'ada', model: 'm', style: 'messages', session: undefined, body });
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }];

  it('leaves out the line that Claude Code changes with every request, and where the cache is marked', () => {
    const system = (cch: string) => [
      { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1.177; cch=${cch};` },
      { type: 'text', text: 'You are an agent.' },
    ];
    const marked = [{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }] }];
    expect(keyOf({ system: system('1'), messages })).toEqual(keyOf({ system: system('2'), messages: marked }));
  });

  it('is nothing where the user has said nothing', () => {
    expect(keyOf({ messages: [{ role: 'assistant', content: 'Hello' }] })).toBeUndefined();
  });
});
