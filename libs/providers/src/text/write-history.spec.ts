import type { AssistantPart, JsonObject, TextRequest, UserPart } from '#contracts';
import { PLAIN, RICH, saying } from './testing/text-requests.js';
import type { ProtocolOptions } from './upstream/protocol-codec.js';
import { PROTOCOL_CODECS } from './open-text-upstreams.js';

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

  it('goes back to a chat vendor in the content where it came so, in every turn', () => {
    const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] };
    const turns = after(reasoning('chat:thinking'), { type: 'text', text: 'x' }, call);
    expect(assistant(turns)).toMatchObject({
      content: [thought, { type: 'text', text: 'x' }],
      tool_calls: [{ id: 'c' }],
    });
    expect(assistant(after(reasoning('chat:thinking'), { type: 'text', text: 'x' }))).toMatchObject({
      content: [thought, { type: 'text', text: 'x' }],
    });
    expect(assistant(turns, { replayedReasoning: 'never' })).toMatchObject({ content: 'x' });
  });

  it('that a chat vendor proved behind a call goes back at that call', () => {
    const late: AssistantPart = { ...reasoning('chat:behind_call:S'), text: '' };
    const other = { ...call, id: 'd' };
    const signed = { google: { thought_signature: 'S' } };
    for (const parts of [
      [call, late, other],
      [call, { type: 'text' as const, text: 'x' }, late, other],
      [late, call, other],
    ]) {
      const { tool_calls: calls } = assistant(after(...parts));
      expect(calls).toMatchObject([{ id: 'c', extra_content: signed }, { id: 'd' }]);
      expect((calls as JsonObject[])[1]).not.toHaveProperty('extra_content');
    }
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

  it('of another vendor before calls ends the asking for it, unless an operator says what the vendor wants', () => {
    const effort = (turns: TextRequest['turns'], options: ProtocolOptions = {}): unknown =>
      PROTOCOL_CODECS.chat.write({ ...PLAIN, turns, reasoning: { effort: 'high', visible: true } }, 'm', options)[
        'reasoning_effort'
      ];
    const foreign = after(reasoning('gemini:proof'), call);
    expect(effort(foreign)).toBeUndefined();
    expect(effort(foreign, { replayedReasoning: 'always' })).toBe('high');
    expect(effort(foreign, { replayedReasoning: 'never' })).toBe('high');
    for (const turns of [after(call), after(reasoning('chat:reasoning_content'), call)])
      expect(effort(turns)).toBe('high');
  });

  const thinking = (turns: TextRequest['turns']): JsonObject =>
    write('messages', { turns, reasoning: { effort: 'low', visible: true } });

  it('goes back to a messages vendor as the block that it came in: shown, without its words, or sealed', () => {
    const silent = { ...reasoning('messages:unsaid'), text: '' };
    const sealed = { ...reasoning('messages:redacted:data'), text: '' };
    const { messages } = thinking(after(reasoning('messages:said'), silent, sealed, call));
    const content = [
      { type: 'thinking', thinking: 'Hm', signature: 'said' },
      { type: 'thinking', thinking: '', signature: 'unsaid' },
      { type: 'redacted_thinking', data: 'data' },
      { type: 'tool_use' },
    ];
    expect((messages as JsonObject[])[1]).toMatchObject({ content });
  });

  it('is not asked for by a messages vendor where it is missing before calls', () => {
    expect(thinking(after(reasoning('messages:proof'), call))).toMatchObject({ thinking: { type: 'enabled' } });
    for (const turns of [after(call), after(reasoning('gemini:proof'), call)])
      expect(thinking(turns)).not.toHaveProperty('thinking');
  });
});

describe('A system message in the middle of a conversation', () => {
  const said = (text: string) => [{ type: 'text' as const, text }];
  const result = { type: 'result' as const, callId: 'c', name: 'f', content: said('done'), isError: false };
  const conversation: Partial<TextRequest> = {
    system: ['Be brief.'],
    turns: [
      { role: 'user', parts: said('one') },
      { role: 'assistant', parts: [{ type: 'call', id: 'c', name: 'f', arguments: '{}' }] },
      { role: 'system', parts: said('Now be long.') },
      { role: 'user', parts: [result] },
      { role: 'user', parts: said('two') },
    ],
  };
  const roles = (options: ProtocolOptions): unknown[] => {
    const body = PROTOCOL_CODECS.chat.write({ ...PLAIN, ...conversation }, 'm', options);
    return (body['messages'] as JsonObject[]).map(({ role, content }) => [role, content]);
  };

  it('stays there for a chat vendor, behind the results that must follow their calls', () => {
    expect(roles({})).toEqual([
      ['system', 'Be brief.'],
      ['user', 'one'],
      ['assistant', null],
      ['tool', 'done'],
      ['system', 'Now be long.'],
      ['user', 'two'],
    ]);
  });

  it('goes to the front where an operator says so', () => {
    expect(roles(saying('chat', { system_messages: 'in_front' }))).toEqual([
      ['system', 'Be brief.\n\nNow be long.'],
      ['user', 'one'],
      ['assistant', null],
      ['tool', 'done'],
      ['user', 'two'],
    ]);
  });

  it('stays there for a responses vendor, and goes to the front for those that have one place for it', () => {
    const input = write('responses', conversation)['input'] as JsonObject[];
    expect(input[2]).toEqual({
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: 'Now be long.' }],
    });
    expect(write('messages', conversation)['system']).toMatchObject([{ text: 'Be brief.\n\nNow be long.' }]);
    expect(write('gemini', conversation)['systemInstruction']).toEqual({
      parts: [{ text: 'Be brief.' }, { text: 'Now be long.' }],
    });
  });
});

describe('A request for no reasoning', () => {
  const asked = (protocol: keyof typeof PROTOCOL_CODECS, word: 'none' | undefined, disablesReasoning?: boolean) => {
    const wish = word ? { effort: word, visible: false } : { budgetTokens: 0, visible: false };
    const body = PROTOCOL_CODECS[protocol].write({ ...PLAIN, reasoning: wish }, 'm', { disablesReasoning });
    return body['reasoning'] ?? body['reasoning_effort'] ?? body['thinking'] ?? body['generationConfig'];
  };
  const OFF = { thinkingConfig: { includeThoughts: false, thinkingBudget: 0 } };

  it('reaches a responses vendor as the word that the caller used, and as no other', () => {
    expect([asked('responses', 'none'), asked('responses', undefined)]).toEqual([{ effort: 'none' }, undefined]);
  });

  it('is sent where it breaks nothing', () => {
    expect([asked('chat', 'none'), asked('messages', 'none'), asked('gemini', undefined)]).toEqual([
      undefined,
      undefined,
      OFF,
    ]);
  });

  it.each<[string, JsonObject]>([
    ['gemini-2.5-flash', { thinkingBudget: 0 }],
    ['gemini-2.5-pro', { thinkingBudget: 128 }],
    ['gemini-3.1-pro-preview', { thinkingLevel: 'low' }],
    ['gemini-3-flash-preview', { thinkingLevel: 'minimal' }],
    ['gemini-pro-latest', { thinkingLevel: 'low' }],
  ])('asks %s, of which some refuse to think nothing, for the least that it does', (model, least) => {
    const body = PROTOCOL_CODECS.gemini.write({ ...PLAIN, reasoning: { budgetTokens: 0, visible: false } }, model, {});
    expect(body['generationConfig']).toEqual({ thinkingConfig: { includeThoughts: false, ...least } });
  });

  it('is sent, or left out, where an operator says so', () => {
    expect([asked('chat', undefined, true), asked('responses', undefined, true)]).toEqual(['none', { effort: 'none' }]);
    expect([asked('responses', 'none', false), asked('gemini', 'none', false)]).toEqual([undefined, undefined]);
  });
});

describe('A gemini upstream', () => {
  const call = (id: string) => ({ type: 'call' as const, id, name: 'f', arguments: '{}' });
  const result = (callId: string) => ({ type: 'result' as const, callId, name: 'f', content: [], isError: false });
  const proven = { type: 'reasoning' as const, text: '', signature: 'gemini:proof' };
  const turns: TextRequest['turns'] = [
    { role: 'user', parts: [{ type: 'text', text: 'before' }] },
    { role: 'assistant', parts: [call('a')] },
    { role: 'user', parts: [result('a')] },
    { role: 'assistant', parts: [{ type: 'text', text: 'done' }] },
    { role: 'user', parts: [{ type: 'text', text: 'now' }] },
    { role: 'assistant', parts: [call('b'), call('c')] },
    { role: 'user', parts: [result('b'), result('c')] },
    { role: 'assistant', parts: [proven, call('d')] },
    { role: 'user', parts: [result('d')] },
  ];
  const proofs = (model: string): unknown[] => {
    const body = PROTOCOL_CODECS.gemini.write({ ...PLAIN, turns }, model, {});
    const contents = body['contents'] as { role: string; parts: JsonObject[] }[];
    return contents.flatMap(({ role, parts }) =>
      role === 'model' ? parts.map((part) => part['thoughtSignature'] ?? null) : [],
    );
  };

  it('that requires a proof at calls gets a marker at all calls made elsewhere, so that what was sent stays as it was', () => {
    const skip = 'skip_thought_signature_validator';
    expect(proofs('gemini-3-pro-preview')).toEqual([skip, null, skip, null, 'proof']);
    expect(proofs('gemini-flash-latest')).toEqual([skip, null, skip, null, 'proof']);
    expect(proofs('gemini-2.5-flash')).toEqual([null, null, null, null, 'proof']);
  });

  it('gets the marker also in a body that passes through without the proofs of another vendor', () => {
    const parts = [{ functionCall: { name: 'f' } }, { functionCall: { name: 'g' } }];
    const body = {
      contents: [
        { role: 'user', parts: [{ text: 'x' }] },
        { role: 'model', parts },
      ],
    };
    const native = PROTOCOL_CODECS.gemini.native?.({ kind: 'rewritten', body }, {}, 'gemini-3-flash');
    expect(JSON.stringify(native).split('skip_thought_signature_validator')).toHaveLength(2);
  });

  it.each(['functionCall', 'function_call'])(
    'gets the marker also in the bytes of a caller whose calls another model made without a proof: %s',
    (field) => {
      const bodyWith = (more: object): JsonObject => ({
        contents: [
          { role: 'user', parts: [{ text: 'x' }] },
          { role: 'model', parts: [{ [field]: { name: 'f' }, ...more }, { [field]: { name: 'g' } }] },
        ],
      });
      const native = (body: JsonObject, model: string) => {
        const sent = {
          kind: 'bytes' as const,
          bytes: Buffer.from(JSON.stringify(body)),
          front: { labels: {} },
          parsed: () => body,
        };
        return [PROTOCOL_CODECS.gemini.native?.(sent, {}, model), sent] as const;
      };
      const [proven] = native(bodyWith({}), 'gemini-3-flash');
      expect(proven).toMatchObject({ kind: 'rewritten', body: { labels: {} } });
      expect(JSON.stringify(proven).split('skip_thought_signature_validator')).toHaveLength(2);
      for (const [body, model] of [
        [bodyWith({}), 'gemini-2.5-flash'],
        [bodyWith({ thoughtSignature: 'proof' }), 'gemini-3-flash'],
        [bodyWith({ thought_signature: 'proof' }), 'gemini-3-flash'],
      ] as const) {
        const [same, sent] = native(body, model);
        expect(same).toBe(sent);
      }
    },
  );

  it('gets adjacent turns of a role as one content, and otherwise the original bytes', () => {
    const native = (roles: string[]) => {
      const contents = roles.map((role, index) => ({ role, parts: [{ text: String(index) }] }));
      const body = { contents };
      const bytes = Buffer.from(JSON.stringify(body));
      const sent = { kind: 'bytes' as const, bytes, front: { labels: {} }, parsed: () => body };
      return [PROTOCOL_CODECS.gemini.native?.(sent, {}, 'gemini-3-flash'), sent] as const;
    };
    const [same, sent] = native(['user', 'model', 'user']);
    expect(same).toBe(sent);
    expect(native(['user', 'model', 'user', 'user'])[0]).toEqual({
      kind: 'rewritten',
      body: {
        labels: {},
        contents: [
          { role: 'user', parts: [{ text: '0' }] },
          { role: 'model', parts: [{ text: '1' }] },
          { role: 'user', parts: [{ text: '2' }, { text: '3' }] },
        ],
      },
    });
  });

  it('is asked for no more thinking than each of its models may do', () => {
    const budget = (reasoning: TextRequest['reasoning']): JsonObject => write('gemini', reasoning ? { reasoning } : {});
    for (const wish of [{ effort: 'max' as const }, { budgetTokens: 31_999 }])
      expect(budget({ ...wish, visible: true })).toMatchObject({
        generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } },
      });
  });
});

it('A budget of tokens becomes no word that only some models know', () => {
  const effort = (budgetTokens: number): unknown => write('chat', { reasoning: { budgetTokens, visible: true } });
  expect([1_024, 8_000, 31_999].map(effort)).toMatchObject(
    ['low', 'medium', 'high'].map((word) => ({ reasoning_effort: word })),
  );
});

describe('A messages upstream', () => {
  const said = (...parts: UserPart[]): JsonObject => write('messages', { turns: [{ role: 'user', parts }] });
  const file = (mediaType: string): UserPart => ({
    type: 'file',
    source: { kind: 'inline', mediaType, base64: Buffer.from('a,b').toString('base64') },
  });

  it('gets text files as text, since only PDF may be base64', () => {
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

  it('gets no cache marker for a single question, or where an operator says so', () => {
    expect(JSON.stringify(write('messages', {}))).not.toContain('cache_control');
    const body = PROTOCOL_CODECS.messages.write({ ...PLAIN, ...RICH }, 'm', { marksPromptCache: false });
    expect(JSON.stringify(body)).not.toContain('cache_control');
  });
});
