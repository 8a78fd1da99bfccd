import type { JsonObject, TextStyle } from '#contracts';
import { accountMark } from '#providers';
import { lastProofName, type ReadableProofs, withoutForeignReasoning } from './gateway-signatures.js';

const [A, B] = [accountMark('a'), accountMark('b')];

/** What an upstream gets of a body. */
function sent(style: TextStyle, body: JsonObject, readable: ReadableProofs): JsonObject {
  const bytes = Buffer.from(JSON.stringify(body));
  const native = withoutForeignReasoning(style, { kind: 'bytes', bytes, parsed: () => body }, readable);
  return native.kind === 'bytes' ? body : native.body;
}

const user = { role: 'user', content: 'x' };
const thought = (signature: string, thinking = 'deep'): JsonObject => ({ type: 'thinking', thinking, signature });
const call = { type: 'tool_use', id: 'c', name: 'f', input: {} };
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'y' }] };
const turn = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content });

/** Three turns with a proof each, in a style. */
function turns(style: TextStyle): JsonObject {
  const proofs = ['P1', 'P2', 'P3'];
  if (style === 'responses')
    return {
      input: proofs.flatMap((proof) => [
        { role: 'user', content: `said ${proof}` },
        { type: 'reasoning', id: `rs_${proof}`, summary: [], encrypted_content: proof },
        { type: 'message', role: 'assistant', id: `msg_${proof}`, content: [{ type: 'output_text', text: 'ok' }] },
        { type: 'function_call', id: `fc_${proof}`, call_id: `call_${proof}`, name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: `call_${proof}`, output: 'y' },
      ]),
    };
  if (style === 'messages')
    return {
      messages: proofs.flatMap((proof) => [user, turn(thought(proof), { type: 'text', text: `said ${proof}` })]),
    };
  if (style === 'gemini')
    return {
      contents: proofs.flatMap((proof) => [
        { role: 'user', parts: [{ text: 'x' }] },
        {
          role: 'model',
          parts: [
            { text: 'deep', thought: true },
            { text: `said ${proof}`, thoughtSignature: proof },
          ],
        },
      ]),
    };
  return {
    messages: proofs.flatMap((proof) => [
      user,
      {
        role: 'assistant',
        content: `said ${proof}`,
        reasoning_content: 'deep',
        reasoning_details: [{ type: 'reasoning.encrypted', data: proof }],
      },
    ]),
  };
}

describe.each(['responses', 'messages', 'gemini', 'chat'] as const)(
  'Proofs that do not say whose they are, in the %s style',
  (style) => {
    const body = turns(style);
    const upTo = (count: number): string | undefined => {
      const [field = ''] = Object.keys(body);
      const items = body[field] as JsonObject[];
      return lastProofName(style, { [field]: items.slice(0, (items.length / 3) * count) });
    };
    const proofsIn = (value: JsonObject): string[] =>
      [...JSON.stringify(value).matchAll(/"(P\d)"/g)].map(([, proof]) => proof ?? '');

    it('are left out up to the last one that another account made, and kept behind it, the same in every turn', () => {
      expect(proofsIn(sent(style, body, { account: A, provenFrom: upTo(2) }))).toEqual(['P3']);
      expect(proofsIn(sent(style, body, { account: A, provenFrom: upTo(3) }))).toEqual([]);
      expect(sent(style, body, { account: A })).toBe(body);
      const cut = JSON.stringify(sent(style, body, { account: A, provenFrom: upTo(2) }));
      for (const proof of ['P1', 'P2', 'P3']) expect(cut).toContain(`said ${proof}`);
    });

    it('are kept where the last one that another account made is not there any more', () => {
      expect(sent(style, body, { account: A, provenFrom: 'forgotten' })).toBe(body);
    });

    it('have short names, which tell nothing of them', () => {
      expect(upTo(1)).toMatch(/^[\w-]{12}$/);
      expect(new Set([upTo(1), upTo(2), upTo(3)]).size).toBe(3);
      expect(lastProofName(style, {})).toBeUndefined();
    });
  },
);

describe('Proofs with marks', () => {
  it('reach their own account alone, wherever a conversation moved, and those without an account as before', () => {
    const body = { messages: ['messages@' + A, 'messages@' + B, 'messages'].map((mark) => turn(thought(`${mark}:P`))) };
    expect(sent('messages', body, { account: A })['messages']).toEqual([turn(thought('P')), turn(thought('P'))]);
    expect(sent('messages', body, { account: undefined })['messages']).toEqual([]);
  });
});

describe('What goes with a proof', () => {
  it('is the whole reasoning item of responses and the ids behind it; words, calls and results stay', () => {
    const body = turns('responses');
    const input = body['input'] as JsonObject[];
    const provenFrom = lastProofName('responses', { input: input.slice(0, 5) });
    const kept = sent('responses', body, { account: A, provenFrom })['input'] as JsonObject[];
    expect(kept.filter(({ type }) => type === 'reasoning').map(({ id }) => id)).toEqual(['rs_P2', 'rs_P3']);
    expect(kept.flatMap(({ id }) => id ?? [])).toEqual(['rs_P2', 'msg_P2', 'fc_P2', 'rs_P3', 'msg_P3', 'fc_P3']);
    expect(kept.filter(({ type }) => type === 'function_call').map(({ call_id: id }) => id)).toEqual([
      'call_P1',
      'call_P2',
      'call_P3',
    ]);
  });

  it('is every thought of a messages turn, of which the vendor takes all or none', () => {
    const body = {
      thinking: { type: 'adaptive' },
      messages: [
        user,
        turn(thought('P1'), call, thought('', ''), { type: 'connector_text', text: 't' }, call),
        result,
        turn(thought('P2'), call),
      ],
    };
    const kept = sent('messages', body, { account: A });
    expect(kept['messages']).toEqual([user, turn(call, call), result, turn(thought('P2'), call)]);
    expect(kept['thinking']).toEqual({ type: 'adaptive' });
  });

  it('is the budget to think with and the edits that clear thinking, where the last turn calls and lost its thoughts', () => {
    const edits = [{ type: 'clear_thinking_20251015' }, { type: 'clear_tool_uses_20250919' }];
    const ask = (thinking: JsonObject) => {
      const body = { thinking, context_management: { edits }, messages: [user, turn(thought('P1'), call), result] };
      return sent('messages', body, { account: A, provenFrom: lastProofName('messages', body) });
    };
    const budget = ask({ type: 'enabled', budget_tokens: 2_048 });
    expect([budget['thinking'], budget['context_management']]).toEqual([undefined, { edits: [edits[1]] }]);
    expect(ask({ type: 'adaptive' })).toMatchObject({ thinking: { type: 'adaptive' }, context_management: { edits } });
  });
});

it('A proof at a call goes back under the name that its vendor gave it, and to its own account alone', () => {
  const called = (beside: JsonObject): JsonObject => ({
    messages: [user, { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', ...beside }] }],
  });
  const under = (holder: string, proof: string): JsonObject =>
    called({ extra_content: { [holder]: { thought_signature: proof } } });
  const marked = under('google', `chat@${A}:at_call:vertex:P`);
  expect(sent('chat', marked, { account: A })).toEqual(under('vertex', 'P'));
  expect(sent('chat', marked, { account: B })).toEqual(called({}));
  for (const holder of ['google', 'vertex']) {
    expect(sent('chat', under(holder, 'P'), { account: A })).toEqual(under(holder, 'P'));
    expect(sent('chat', under(holder, 'P'), { account: undefined })).toEqual(called({}));
  }
});
