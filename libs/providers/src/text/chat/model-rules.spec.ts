import type { JsonObject, TextRequest } from '#contracts';
import { PLAIN } from '../testing/text-requests.js';
import { upstreamTraits } from '../traits/model-traits.js';
import { markSignature } from '../upstream/signatures.js';
import { chatCodec } from './chat-codec.js';
import { proofOfCall } from './chat-proofs.js';
import { writeChatRequest } from './write-chat-request.js';

const call = (id: string) => ({ type: 'call', id, name: 'f', arguments: '{}' }) as const;
const result = (callId: string) =>
  ({ type: 'result', callId, name: 'f', content: [{ type: 'text', text: 'x' }], isError: false }) as const;
const said = (text: string) => ({ type: 'text', text }) as const;

const TURNS: TextRequest['turns'] = [
  { role: 'user', parts: [said('Hello')] },
  { role: 'assistant', parts: [call('toolu_01A09q90qw90lq917835lq9'), call('a1B2c3D4e')] },
  { role: 'user', parts: [result('toolu_01A09q90qw90lq917835lq9'), result('a1B2c3D4e'), said('Go on.')] },
];

const written = (model: string, turns = TURNS): readonly JsonObject[] =>
  writeChatRequest({ ...PLAIN, turns }, model, {})['messages'] as readonly JsonObject[];

const longTurns = (id: string): TextRequest['turns'] => [
  { role: 'user', parts: [said('Hello')] },
  { role: 'assistant', parts: [call(id)] },
  { role: 'user', parts: [result(id)] },
];

const ROLES = ['user', 'assistant', 'tool', 'tool', 'user'];
const idsIn = (messages: readonly JsonObject[]): unknown[] => [
  ...messages.flatMap(({ tool_calls: calls = [] }) => calls as readonly JsonObject[]).map(({ id }) => id),
  ...messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id])),
];

describe('A conversation that another vendor began', () => {
  it.each(['mistral-large-latest', 'mistralai/Ministral-8B', 'devstral-medium-2512', 'open-mixtral-8x7b'])(
    'goes on at %s, which takes calls by ids of nine letters and no user behind a result',
    (model) => {
      const messages = written(model);
      expect(messages.map(({ role }) => role)).toEqual(ROLES.toSpliced(-1, 0, 'assistant'));
      expect(messages.at(-2)).toEqual({ role: 'assistant', content: 'OK.' });
      const [made, own, answered, answeredOwn] = idsIn(messages);
      expect([made, own]).toEqual([expect.stringMatching(/^[a-zA-Z0-9]{9}$/), 'a1B2c3D4e']);
      expect([answered, answeredOwn]).toEqual([made, own]);
    },
  );

  it('goes to every other model as it is', () => {
    const messages = written('gpt-4.1');
    expect(messages.map(({ role }) => role)).toEqual(ROLES);
    expect(idsIn(messages).slice(0, 2)).toEqual(['toolu_01A09q90qw90lq917835lq9', 'a1B2c3D4e']);
  });

  // vLLM, servers that write `call_` before a UUID, and Kimi with long names of tools.
  it.each([
    'chatcmpl-tool-0123456789abcdef0123456789abcdef',
    'call_01234567-89ab-cdef-0123-456789abcdef',
    'functions.mcp__documents__search_by_meaning:0',
  ])('goes on with a short id in place of %s, which is longer than the vendor of the protocol takes', (id) => {
    const turns = longTurns(id);
    const [made, answered] = idsIn(written('gpt-4.1', turns));
    expect(made).toEqual(expect.stringMatching(/^call_[0-9a-f]{24}$/));
    expect(answered).toBe(made);
    expect(idsIn(written('gpt-4.1', turns))).toEqual([made, made]);
  });

  it.each(['kimi-k2-0905-preview', 'Qwen/Qwen3-32B'])('goes to %s with every id as it is', (model) => {
    const id = 'functions.mcp__documents__search_by_meaning:0';
    expect(idsIn(written(model, longTurns(id)))).toEqual([id, id]);
  });
});

describe('Calls without a proof, at a server that refuses them', () => {
  const SKIP = { google: { thought_signature: 'skip_thought_signature_validator' } };
  const at = (server: string) => ({
    traits: upstreamTraits({ protocol: 'chat', server, models: {}, ofAll: () => ({}), said: {} }),
  });
  const GOOGLE = at('generativelanguage.googleapis.com');
  const signature = markSignature('chat', proofOfCall('proof', false));
  const own = { type: 'reasoning', text: '', signature } as const;
  const turns: TextRequest['turns'] = [
    { role: 'user', parts: [said('Hello')] },
    { role: 'assistant', parts: [call('a'), call('b')] },
    { role: 'user', parts: [result('a'), result('b')] },
    { role: 'assistant', parts: [own, call('c'), call('d')] },
    { role: 'user', parts: [result('c'), result('d')] },
  ];
  const extras = (messages: unknown): unknown[] =>
    (messages as readonly JsonObject[]).flatMap(({ tool_calls: calls = [] }) =>
      (calls as readonly JsonObject[]).map(({ extra_content: extra }) => extra ?? null),
    );

  it.each([
    ['gemini-3-flash-preview', GOOGLE],
    ['models/gemini-3.8-flash', GOOGLE],
    ['google/gemini-4-argon', at('aiplatform.googleapis.com')],
  ])('have the word that its maker documents, the first of a turn alone: %s', (model, options) => {
    const { messages } = writeChatRequest({ ...PLAIN, turns }, model, options);
    expect(extras(messages)).toEqual([SKIP, null, { google: { thought_signature: 'proof' } }, null]);
  });

  it.each([
    ['gemini-2.5-flash', GOOGLE],
    ['google/gemini-3-flash-preview', at('openrouter.ai')],
    ['gpt-4.1', GOOGLE],
  ])('have none where nobody asks for one: %s', (model, options) => {
    const { messages } = writeChatRequest({ ...PLAIN, turns }, model, options);
    expect(extras(messages)).toEqual([null, null, { google: { thought_signature: 'proof' } }, null]);
  });

  it('have it too in a body that passes through, of which nothing else changes', () => {
    const { messages } = writeChatRequest({ ...PLAIN, turns }, 'm', {});
    const body: JsonObject = { model: 'm', seed: 7, messages: messages as JsonObject[] };
    const bytes = Buffer.from(JSON.stringify(body));
    const sent = { kind: 'bytes', bytes, front: { user: 'u' }, parsed: () => body } as const;
    const native = chatCodec.native?.(sent, GOOGLE, 'gemini-3-flash');
    const { messages: proven, ...rest } = (native as { body: JsonObject }).body;
    expect([extras(proven), rest]).toEqual([
      [SKIP, null, { google: { thought_signature: 'proof' } }, null],
      { user: 'u', model: 'm', seed: 7 },
    ]);
    expect(chatCodec.native?.(sent, GOOGLE, 'gemini-2.5-flash')).toBe(sent);
    const unproven = { ...sent, parsed: () => ({ ...body, messages: [{ role: 'user', content: 'Hi' }] }) };
    expect(chatCodec.native?.(unproven, GOOGLE, 'gemini-3-flash')).toBe(unproven);
  });
});
