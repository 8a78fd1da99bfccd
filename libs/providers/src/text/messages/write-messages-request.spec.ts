import type { JsonObject, TextRequest } from '#contracts';
import { PROTOCOL_CODECS } from '../open-text-upstreams.js';
import { PLAIN, saying } from '../testing/text-requests.js';
import { traitsOf } from '../traits/model-traits.js';
import type { ProtocolOptions } from '../upstream/protocol-codec.js';

const write = (model: string, change: Partial<TextRequest>, options: ProtocolOptions = {}): JsonObject =>
  PROTOCOL_CODECS.messages.write({ ...PLAIN, ...change }, model, { marksPromptCache: false, ...options });

const NEW = 'claude-opus-4-7';
const HARD = { effort: 'high', visible: true } as const;

describe('What is known of a model of the messages interface by its name', () => {
  it.each([
    ['claude-3-7-sonnet-20250219', 'budget', 'all'],
    ['claude-sonnet-4-20250514', 'budget', 'all'],
    ['claude-haiku-4-5-20251001', 'budget', 'one'],
    ['anthropic/claude-sonnet-4.6', 'effort', 'one'],
    ['us.anthropic.claude-opus-4-6-v1', 'effort', 'one'],
    ['claude-opus-4-7', 'effort', 'none'],
    ['claude-opus-4-8@20260601', 'effort', 'none'],
    ['claude-sonnet-5', 'effort', 'none'],
    ['claude-fable-5-1', 'effort', 'none'],
    ['claude-mythos-preview', 'effort', 'none'],
    ['kimi-k2', 'budget', 'all'],
  ])('%s thinks by %s, and takes of sampling: %s', (model, thinking, sampling) => {
    expect(traitsOf({}, 'messages', model)).toMatchObject({ thinking, sampling });
  });
});

describe('A newer model of the messages interface', () => {
  it.each<[NonNullable<TextRequest['reasoning']>, JsonObject, string | undefined]>([
    [HARD, { type: 'adaptive', display: 'summarized' }, 'high'],
    [{ effort: 'minimal', visible: false }, { type: 'adaptive' }, 'low'],
    [{ effort: 'xhigh', visible: false }, { type: 'adaptive' }, 'xhigh'],
    [{ effort: 'max', visible: false }, { type: 'adaptive' }, 'max'],
    [{ budgetTokens: 2_000, visible: true }, { type: 'adaptive', display: 'summarized' }, 'low'],
    [{ visible: true }, { type: 'adaptive', display: 'summarized' }, undefined],
  ])('is asked to think by an effort: %j', (reasoning, thinking, effort) => {
    const body = write(NEW, { reasoning });
    expect(body['thinking']).toEqual(thinking);
    expect(body['output_config']).toEqual(effort === undefined ? undefined : { effort });
  });

  it('has the effort beside the form of the answer', () => {
    const schema = { type: 'object', properties: {} };
    const body = write(NEW, { reasoning: HARD, format: { type: 'json-schema', name: 'n', schema } });
    expect(body['output_config']).toMatchObject({ effort: 'high', format: { type: 'json_schema' } });
  });

  it('thinks on after calls of another model, which nothing was thought before', () => {
    const turns: TextRequest['turns'] = [
      ...PLAIN.turns,
      { role: 'assistant', parts: [{ type: 'call', id: 'c', name: 'f', arguments: '{}' }] },
      { role: 'user', parts: [{ type: 'result', callId: 'c', name: 'f', content: [], isError: false }] },
    ];
    expect(write(NEW, { turns, reasoning: HARD })['thinking']).toMatchObject({ type: 'adaptive' });
    expect(write('claude-opus-4-5', { turns, reasoning: HARD })).not.toHaveProperty('thinking');
  });

  it('is sent no sampling, and older ones what they take', () => {
    const sampling = { temperature: 0.5, topP: 0.9, topK: 5 };
    expect(write(NEW, sampling)).not.toMatchObject({ temperature: expect.anything() });
    expect(JSON.stringify(write(NEW, sampling))).not.toMatch(/top_p|top_k/);
    expect(write('claude-sonnet-4-5', sampling)).toMatchObject({ temperature: 0.5, top_k: 5 });
    expect(write('claude-sonnet-4-5', sampling)).not.toHaveProperty('top_p');
    expect(write('claude-sonnet-4-5', { topP: 0.9 })).toMatchObject({ top_p: 0.9 });
    expect(write('other', sampling)).toMatchObject({ temperature: 0.5, top_p: 0.9, top_k: 5 });
  });

  it('is asked as its operator says', () => {
    expect(write(NEW, { reasoning: HARD }, saying('messages', { thinking: 'budget' }))['thinking']).toMatchObject({
      type: 'enabled',
    });
    expect(write('other', { reasoning: HARD }, saying('messages', { thinking: 'effort' }))['thinking']).toMatchObject({
      type: 'adaptive',
    });
    expect(write(NEW, { temperature: 0.5 }, saying('messages', { sampling: 'all' }))).toHaveProperty('temperature');
    expect(write('other', { temperature: 0.5 }, saying('messages', { sampling: 'none' }))).not.toHaveProperty(
      'temperature',
    );
    const none = { reasoning: { effort: 'none', visible: false } } as const;
    expect(write(NEW, none)).not.toHaveProperty('thinking');
    expect(write(NEW, none, { disablesReasoning: true })['thinking']).toEqual({ type: 'disabled' });
  });
});

describe.each(['chat', 'responses'] as const)('A reasoning model over %s', (protocol) => {
  const sampled = (model: string, options: ProtocolOptions = {}): string =>
    JSON.stringify(PROTOCOL_CODECS[protocol].write({ ...PLAIN, temperature: 0.5, topP: 0.9 }, model, options));

  it.each([
    ['o3-mini', false],
    ['openai/o4-mini-2025-04-16', false],
    ['gpt-5', false],
    ['gpt-5-mini', false],
    ['gpt-5-2025-08-07', false],
    ['gpt-5-chat-latest', true],
    ['gpt-5.1', true],
    ['gpt-5.6-sol', false],
    ['openai/gpt-6-astra', false],
    ['gpt-6.1-terra', false],
    ['gpt-4o', true],
    ['foo3-large', true],
  ])('%s is sent temperature and top_p: %s', (model, isSent) => {
    expect(/temperature|top_p/.test(sampled(model))).toBe(isSent);
    expect(/temperature|top_p/.test(sampled(model, saying(protocol, { sampling: isSent ? 'none' : 'all' })))).toBe(
      !isSent,
    );
  });
});
