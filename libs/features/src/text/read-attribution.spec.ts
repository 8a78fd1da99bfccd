import type { NamedHeaders } from './conversation-key.js';
import { attributionOf } from './read-attribution.js';

const NO_TAGS = { tags: [], limitedTags: [] };
const read = (headers: NamedHeaders, body: unknown = {}, key: { tags?: string[]; limitedTags?: string[] } = {}) =>
  attributionOf(headers, body, { ...NO_TAGS, ...key });

const UUID = '0f9e8d7c-6b5a-4321-8765-0123456789ab';

describe('Who and what a request is for', () => {
  it.each<[string, NamedHeaders, unknown, string | undefined]>([
    ['the session header of one agent', { 'x-claude-code-session-id': 's1' }, {}, 's1'],
    ['the session header of another', { 'session-id': 's1' }, {}, 's1'],
    ['its older spelling', { session_id: 's1' }, {}, 's1'],
    ['that of a router', { 'x-session-id': 's1' }, {}, 's1'],
    ['those of a third agent', { 'x-opencode-session': 's2', 'x-session-affinity': 's1' }, {}, 's1'],
    ['a field of the body', {}, { session_id: 's1' }, 's1'],
    ['the key of the prompt cache', {}, { prompt_cache_key: 's1' }, 's1'],
    ['the end of the person', {}, { metadata: { user_id: `user_a_account_b_session_${UUID}` } }, UUID],
    ['JSON in the person', {}, { metadata: { user_id: JSON.stringify({ session_id: 's1' }) } }, 's1'],
    ['a header before a body', { 'x-session-id': 's1' }, { prompt_cache_key: 's2' }, 's1'],
    ['the next one where the first is too long', { 'session-id': 'x'.repeat(257), 'x-session-id': 's1' }, {}, 's1'],
    ['nothing where it is too long', { 'session-id': 'x'.repeat(257) }, {}, undefined],
    ['nothing where it has a control character', {}, { session_id: 'a\nb' }, undefined],
    [
      'nothing where it is empty, or no text',
      { 'session-id': '' },
      { session_id: 7, prompt_cache_key: ' ' },
      undefined,
    ],
    ['nothing where it is no text of Unicode', {}, { session_id: '\uD800' }, undefined],
    ['nothing of a body that is a list', {}, [{ session_id: 's1' }], undefined],
  ])('is read from %s', (_from, headers, body, session) => {
    expect(read(headers, body)?.session).toBe(session);
  });

  it.each<[NamedHeaders, unknown, string | undefined]>([
    [{ 'x-end-user-id': 'a' }, { user: 'b' }, 'a'],
    [{ 'x-litellm-end-user-id': 'c' }, { user: 'b', safety_identifier: 'd' }, 'b'],
    [{}, { safety_identifier: 'd', metadata: { user_id: 'e' } }, 'd'],
    [{ 'x-litellm-customer-id': 'f' }, { metadata: { user_id: 'e' } }, 'e'],
    [{ 'x-openwebui-user-id': 'g', 'x-litellm-customer-id': 'f' }, {}, 'f'],
    [{ 'x-openwebui-user-id': 'g' }, { user: 'x'.repeat(129) }, 'g'],
    [{}, { metadata: { user_id: `user_a_session_${UUID}` } }, 'user_a'],
    [{}, { metadata: { user_id: JSON.stringify({ session_id: 's1', device_id: 'd' }) } }, undefined],
  ])('is an end user: headers %j, body %j', (headers, body, endUser) => {
    expect(read(headers, body)?.endUser).toBe(endUser);
  });

  it('is an agent inside a session', () => {
    expect(read({ 'thread-id': 't', 'x-claude-code-agent-id': 'a' })?.agent).toBe('a');
    expect(read({ 'thread-id': 't' })).toEqual({ agent: 't' });
  });

  it('is tags, those of the key first and whatever the client sends, without bad ones and repeats, eight at most', () => {
    const sent = { 'x-tags': 'a, b c ,key:1,,d', 'x-litellm-tags': 'e,a' };
    expect(
      read(sent, { metadata: { tags: ['f', 7, 'g,h', 'ü'] } }, { tags: ['key:1'], limitedTags: ['d', 'z'] }),
    ).toEqual({
      tags: ['key:1', 'a', 'd', 'e', 'f', 'g', 'h'],
      limitedTags: ['d'],
    });
    const many = Array.from({ length: 20 }, (_, index) => `t${index}`).join();
    expect(read({ 'x-tags': many }, {}, { tags: ['k'] })?.tags).toHaveLength(8);
    expect(read({ 'x-tags': 'x'.repeat(65) })).toBeUndefined();
  });

  it('is nothing where nobody says anything', () => {
    expect(read({ host: 'gateway' }, { model: 'm' })).toBeUndefined();
    expect(read({}, undefined)).toBeUndefined();
  });
});
