import { ALLOW_UNPRICED, REFUSE_UNPRICED } from '#contracts';
import { checkUpstream } from '../check-upstreams.js';
import { UpstreamEntry } from '../upstream-entry.js';
import { PassedHeaders } from './passed-headers.js';

const mistakesOf = (passHeaders: unknown) =>
  checkUpstream(UpstreamEntry, {
    id: 'a',
    protocol: 'chat',
    base_url: 'http://127.0.0.1:1/v1',
    models: { m: 'theirs' },
    pass_headers: passHeaders,
  }).mistakes.map(({ path }) => path.join('.'));

describe('The headers of callers that an upstream is sent', () => {
  it.each([
    'cookie',
    'set-cookie',
    'authorization',
    'proxy-authorization',
    'x-api-key',
    'api_key',
    'x-goog-api-key',
    'idempotency-key',
    'x-access-token',
    'host',
    'content-type',
    'forwarded',
    'x-forwarded-for',
    'transfer-encoding',
    'X-Session-Id',
    'two words',
    '',
  ])('are never set to %j', (name) => {
    expect(mistakesOf([name])).toEqual(['pass_headers']);
  });

  it('are set to names of agents, or to none', () => {
    expect([mistakesOf(['x-session-id', 'my_header']), mistakesOf([]), mistakesOf(undefined)]).toEqual([[], [], []]);
    const sent = { 'x-session-id': 's', 'session-id': 't', 'my-header': 'u', cookie: 'c' };
    expect(new PassedHeaders('chat').of(sent, REFUSE_UNPRICED)).toEqual({ 'x-session-id': 's', 'session-id': 't' });
    expect(new PassedHeaders('chat', ['my-header']).of(sent, REFUSE_UNPRICED)).toEqual({ 'my-header': 'u' });
    expect(new PassedHeaders('chat', []).of(sent, REFUSE_UNPRICED)).toEqual({});
  });

  it('are printable and short, and betas those that the policy allows', () => {
    const passed = new PassedHeaders('messages');
    const long = { 'x-claude-code-session-id': 'x'.repeat(513), 'x-claude-code-agent-id': 'a\u0080' };
    expect(passed.of(long, REFUSE_UNPRICED)).toEqual({});
    const sent = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'effort-2025-11-24, unpriced' };
    expect(passed.of(sent, REFUSE_UNPRICED)).toEqual({ ...sent, 'anthropic-beta': 'effort-2025-11-24' });
    expect(passed.of(sent, ALLOW_UNPRICED)['anthropic-beta']).toBe('effort-2025-11-24, unpriced');
  });
});
