import type { AssistantPart, JsonObject, TextRequest, UserPart } from '#contracts';
import { PLAIN, RICH } from './testing/text-requests.js';
import type { ProtocolOptions } from './upstream/protocol-codec.js';
import { PROTOCOL_CODECS } from './upstream/protocol-codecs.js';

const write = (protocol: keyof typeof PROTOCOL_CODECS, change: Partial<TextRequest>): JsonObject =>
  PROTOCOL_CODECS[protocol].write({ ...PLAIN, ...change }, 'upstream-name', {});

describe('Reasoning of earlier turns', () => {
  const reasoning = (signature: string) => ({ type: 'reasoning' as const, text: 'Hm', signature });
  const call = { type: 'call' as const, id: 'c', name: 'get_time', arguments: '{}' };
  const result = { type: 'result' as const, callId: 'c', name: 'get_time', content: [], isError: false };
  const after = (...parts: AssistantPart[]): TextRequest['turns'] => [
    { role: 'assistant', parts },
    { role: 'user', parts: [result] },
  ];
  const assistant = (turns: TextRequest['turns'], options: ProtocolOptions = {}): JsonObject =>
    (PROTOCOL_CODECS.chat.write({ ...PLAIN, turns }, 'm', options)['messages'] as JsonObject[])[0] ?? {};

  it.each(['reasoning_content', 'reasoning'])('goes back to a chat vendor as %s, beside its calls', (field) => {
    expect(assistant(after(reasoning(`chat:${field}`), call))).toMatchObject({ [field]: 'Hm' });
    expect(assistant(after(reasoning(`chat:${field}`), { type: 'text', text: 'x' }))).not.toHaveProperty(field);
  });

  it('of another vendor goes to a chat vendor only where an operator says that it must', () => {
    const foreign = after(reasoning('messages:proof'), call);
    expect(assistant(foreign)).not.toHaveProperty('reasoning_content');
    expect(assistant(foreign, { replayedReasoning: 'always' })).toMatchObject({ reasoning_content: 'Hm' });
    expect(assistant(after(call), { replayedReasoning: 'always' })).toMatchObject({ reasoning_content: '' });
    expect(assistant(after(reasoning('chat:reasoning'), call), { replayedReasoning: 'never' })).not.toHaveProperty(
      'reasoning',
    );
  });

  const thinking = (turns: TextRequest['turns']): JsonObject =>
    write('messages', { turns, reasoning: { effort: 'low', visible: true } });

  it('is not asked for by a messages vendor where it is missing before calls', () => {
    expect(thinking(after(reasoning('messages:proof'), call))).toMatchObject({ thinking: { type: 'enabled' } });
    for (const turns of [after(call), after(reasoning('gemini:proof'), call)])
      expect(thinking(turns)).not.toHaveProperty('thinking');
  });
});

describe('A messages upstream', () => {
  const said = (...parts: UserPart[]): JsonObject => write('messages', { turns: [{ role: 'user', parts }] });
  const file = (mediaType: string): UserPart => ({
    type: 'file',
    source: { kind: 'inline', mediaType, base64: Buffer.from('a,b').toString('base64') },
  });

  it('is told texts as texts, since only PDF may be base64', () => {
    expect(said(file('text/csv'))).toMatchObject({
      messages: [{ content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } }] }],
    });
    expect(() => said(file('application/zip'))).toThrow(expect.objectContaining({ code: 'unsupported_parameter' }));
  });

  it('is sent no empty text, and no empty message', () => {
    expect(said({ type: 'text', text: '' }, { type: 'text', text: 'x' })).toMatchObject({
      messages: [{ content: [{ type: 'text', text: 'x' }] }],
    });
    const turns: TextRequest['turns'] = [
      { role: 'user', parts: [{ type: 'text', text: 'x' }] },
      { role: 'assistant', parts: [{ type: 'reasoning', text: 'Hm', signature: 'gemini:proof' }] },
      { role: 'user', parts: [{ type: 'text', text: 'y' }] },
    ];
    expect(write('messages', { turns })['messages']).toHaveLength(1);
  });

  it('keeps room for the answer behind the thoughts', () => {
    const limited = (maxOutputTokens: number): JsonObject =>
      write('messages', { reasoning: { effort: 'high', visible: true }, maxOutputTokens });
    expect(limited(2_000)).not.toHaveProperty('thinking');
    expect(limited(4_000)).toMatchObject({ thinking: { budget_tokens: 2_976 } });
  });

  it('is told nothing of a cache for a single question, or where an operator says so', () => {
    expect(JSON.stringify(write('messages', {}))).not.toContain('cache_control');
    const body = PROTOCOL_CODECS.messages.write({ ...PLAIN, ...RICH }, 'm', { marksPromptCache: false });
    expect(JSON.stringify(body)).not.toContain('cache_control');
  });
});
