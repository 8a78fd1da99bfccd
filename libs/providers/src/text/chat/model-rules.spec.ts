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

const written = (model: string): readonly JsonObject[] =>
  writeChatRequest({ ...PLAIN, turns: TURNS }, model, {})['messages'] as readonly JsonObject[];

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
});
