import type { JsonObject, TextRequest } from '#contracts';
import { PLAIN } from '../testing/text-requests.js';
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
