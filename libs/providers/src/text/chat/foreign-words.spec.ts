import type { TextEvent } from '#contracts';
import { JsonTexts } from '#platform';
import { asStream, decoded, joined, readWhole } from '../testing/decoded.js';
import { chatCodec } from './chat-codec.js';
import { accountIn } from './chat-proofs.js';

const delta = (fields: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});

const read = (...events: object[]): TextEvent[] => joined(decoded(chatCodec, asStream(events)));

it.each([
  ['model_length', 'length'],
  ['max_output_tokens', 'length'],
  ['max_length', 'length'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content-filter'],
  ['RECITATION', 'content-filter'],
  ['PROHIBITED_CONTENT', 'content-filter'],
  ['content-filter', 'content-filter'],
  ['refusal', 'content-filter'],
  ['tool_use', 'tool-calls'],
  ['STOP', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['sensitive', 'content-filter'],
  ['end_turn', 'stop'],
  ['eos', 'stop'],
])('A chat reply that ends for the reason %s, in the words of one vendor, ends for: %s', (sent, reason) => {
  expect(read(delta({ content: 'Hi' }), delta({}, sent)).at(-1)).toEqual({ type: 'finish', reason });
});

it('Reasoning in a field of one vendor alone is read', () => {
  expect(read(delta({ reasoning_text: 'Hm' }), delta({ content: 'Hi' }), delta({}, 'stop')).slice(0, 2)).toEqual([
    { type: 'reasoning', text: 'Hm' },
    { type: 'text', text: 'Hi' },
  ]);
});

it.each([
  { prompt_cache_hit_tokens: 3, prompt_tokens_details: { cache_creation_tokens: 2 } },
  { cached_tokens: 3, prompt_tokens_details: { cache_creation_input_tokens: 2 } },
  { cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
  { cache_creation_input_tokens: 2, prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 } },
  // This total says that neither is among the input that is named.
  { prompt_tokens: 6, total_tokens: 18, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
])('Tokens read from a cache and written to it are counted in the words of one vendor: %o', (words) => {
  const usage = { prompt_tokens: 11, completion_tokens: 7, ...words };
  expect(read(delta({ content: 'Hi' }), { ...delta({}, 'stop'), usage }).at(-1)).toMatchObject({
    usage: { inputTokens: 11, cachedInputTokens: 3, cacheWriteTokens: 2 },
  });
});

describe('Reasoning that a vendor counts in its total alone', () => {
  const counted = (usage: object): unknown =>
    read(delta({ content: 'Hi' }), { ...delta({}, 'stop'), usage }).flatMap((event) =>
      event.type === 'finish' ? [[event.usage?.outputTokens, event.usage?.reasoningTokens]] : [],
    )[0];

  it('is output', () => {
    const usage = { prompt_tokens: 20, completion_tokens: 424, total_tokens: 1_016 };
    expect(counted(usage)).toEqual([996, 572]);
    expect(counted({ ...usage, prompt_tokens_details: { cached_tokens: 20 } })).toEqual([996, 572]);
  });

  it.each([
    { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
    { prompt_tokens: 20, completion_tokens: 5, total_tokens: 0 },
    { prompt_tokens: 20, completion_tokens: 5, total_tokens: 1_025, prompt_tokens_details: { cached_tokens: 1_000 } },
    { prompt_tokens: 20, completion_tokens: 5, total_tokens: 1_025, cache_creation_input_tokens: 1_000 },
    { prompt_tokens: 20, completion_tokens: 5, total_tokens: 99, completion_tokens_details: { reasoning_tokens: 0 } },
  ])('is none where the total says nothing of it: %j', (usage) => {
    expect(counted(usage)).toEqual([5, 0]);
  });
});

const signed = (proof: string): TextEvent => ({ type: 'signature', signature: `chat:${proof}` });
const called = (id: string): TextEvent[] => [
  { type: 'call', id, name: 'f' },
  { type: 'arguments', json: '{}' },
];
const call = (index: number, id: string, proof?: string): object => ({
  index,
  id,
  function: { name: 'f', arguments: '{}' },
  ...(proof !== undefined && { extra_content: { google: { thought_signature: proof } } }),
});

it('A proof that a vendor puts at a call stands in front of that call', () => {
  const calls = [call(0, 'a', 'S0'), call(1, 'b'), call(2, 'c', 'S2')];
  expect(read(delta({ tool_calls: calls }), delta({}, 'tool_calls')).slice(0, -1)).toEqual([
    signed('at_call:S0'),
    ...called('a'),
    ...called('b'),
    signed('at_call:S2'),
    ...called('c'),
  ]);
});

it('A proof that a vendor writes in front of its call stands in front of that call, whole and streamed', () => {
  const proof = { extra_content: { google: { thought_signature: 'S0' } } };
  const calls = [call(0, 'a'), call(1, 'b')];
  const expected = [signed('at_call:S0'), ...called('a'), ...called('b')];
  expect(read(delta(proof), delta({ tool_calls: calls }), delta({}, 'tool_calls')).slice(0, -1)).toEqual(expected);
  const choices = [{ message: { ...proof, tool_calls: calls }, finish_reason: 'tool_calls' }];
  expect(joined(readWhole(chatCodec, { choices })).slice(0, -1)).toEqual(expected);
});

it('A proof that comes when its call has gone out follows the call, and goes back at it', () => {
  const late = { index: 0, extra_content: { google: { thought_signature: 'S0' } } };
  const deltas = [[call(0, 'a')], [late], [call(1, 'b')]].map((calls) => delta({ tool_calls: calls }));
  expect(read(...deltas, delta({}, 'tool_calls')).slice(0, -1)).toEqual([
    ...called('a'),
    signed('behind_call:S0'),
    ...called('b'),
  ]);
});

it('A vendor’s account of its reasoning becomes one proof, its pieces put together, and cuts no text in two', () => {
  const text = (fields: object): object => ({ reasoning_details: [{ type: 'reasoning.text', index: 0, ...fields }] });
  const sealed = { type: 'reasoning.encrypted', index: 1, data: 'D' };
  const events = read(
    delta({ reasoning: 'Hm', ...text({ text: 'Hm', signature: null }) }),
    delta({ reasoning: ', well', ...text({ text: ', well' }) }),
    delta(text({ signature: 'S' })),
    delta({ content: 'It is' }),
    delta({ reasoning_details: [sealed] }),
    delta({ content: ' so.' }),
    delta({}, 'stop'),
  );
  const proofs = events.flatMap((event) => (event.type === 'signature' ? [event.signature] : []));
  const accounts = proofs.map((proof) => accountIn(proof.slice('chat:'.length), new JsonTexts()));
  const whole = { type: 'reasoning.text', index: 0, text: 'Hm, well', signature: 'S' };
  expect(accounts).toEqual([{ field: 'reasoning', details: [whole] }, { details: [sealed] }]);
  expect(events.flatMap((event) => (event.type === 'text' ? [event.text] : []))).toEqual(['It is so.']);
});

it('Images that a vendor puts beside the words of a reply follow them as Markdown, whole and streamed', () => {
  const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }];
  const said = [{ type: 'text', text: 'Here:![image](data:image/png;base64,QUJD)' }];
  expect(read(delta({ content: 'Here:' }), delta({ images }), delta({}, 'stop')).slice(0, -1)).toEqual(said);
  const choices = [{ message: { content: 'Here:', images }, finish_reason: 'stop' }];
  expect(joined(readWhole(chatCodec, { choices })).slice(0, -1)).toEqual(said);
});

describe('A chat reply that its server lost', () => {
  it.each<[string, object[], string]>([
    ...['error', 'network_error', 'insufficient_system_resource', 'abort'].map((reason): [string, object[], string] => [
      `ends for the reason ${reason}`,
      [delta({ content: 'Hi' }), delta({}, reason)],
      'upstream_error',
    ]),
    [
      'ends well for one server and not for the one behind it',
      [
        delta({ content: 'Hi' }),
        { choices: [{ delta: {}, finish_reason: 'stop', native_finish_reason: 'network_error' }] },
      ],
      'upstream_error',
    ],
    [
      'reports an overload beside its choice',
      [{ choices: [{ delta: { content: '' }, error: { code: 503, message: 'Overloaded' }, finish_reason: 'error' }] }],
      'overloaded',
    ],
  ])('is no good one when it %s', (_what, events, code) => {
    expect(() => read(...events)).toThrow(expect.objectContaining({ code }));
  });
});

it('A whole chat completion with its call in the legacy form reads as a call', () => {
  const message = { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } };
  expect(readWhole(chatCodec, { choices: [{ index: 0, message, finish_reason: 'function_call' }] })).toEqual([
    { type: 'call', id: expect.stringMatching(/^call_[0-9a-f]{24}$/) as string, name: 'f' },
    { type: 'arguments', json: '{"a":1}' },
    { type: 'finish', reason: 'tool-calls' },
  ]);
});

describe('A stream that ends with the whole message', () => {
  const said = { role: 'assistant', content: 'Hi', reasoning_content: 'Hm', tool_calls: [call(0, 'a')] };
  const whole = { choices: [{ index: 0, message: said, finish_reason: 'tool_calls' }], object: 'chat.completion' };
  const expected = [
    { type: 'reasoning', text: 'Hm' },
    signed('reasoning_content'),
    { type: 'text', text: 'Hi' },
    ...called('a'),
    { type: 'finish', reason: 'tool-calls' },
  ];

  it('says nothing of it twice that came in pieces', () => {
    const pieces = [delta({ reasoning_content: 'Hm' }), delta({ content: 'H' }), delta({ content: 'i' })];
    expect(read(...pieces, delta({ tool_calls: [call(0, 'a')] }), whole)).toEqual(expected);
  });

  it('says what came in no pieces', () => {
    expect(read(delta({ role: 'assistant', content: '' }), whole)).toEqual(expected);
    expect(read(delta({ reasoning_content: 'Hm' }), delta({ content: 'Hi' }), whole)).toEqual(expected);
  });
});
