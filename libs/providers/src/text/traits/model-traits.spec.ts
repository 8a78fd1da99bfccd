import { GatewayError, type JsonObject, type ModelTraits, type TextRequest, TRAIT_LIMITS, TRAITS } from '#contracts';
import { atBest } from '#testing';
import { PLAIN, saying } from '../testing/text-requests.js';
import { PROTOCOL_CODECS } from '../open-text-upstreams.js';
import { refusedByModel } from '../upstream/refused-by-model.js';
import { type AskedProtocol, KNOWN_TRAITS } from './known-traits.js';
import { mistakesInTraits, traitsOf, upstreamTraits } from './model-traits.js';

const known = (protocol: AskedProtocol, model: string): ModelTraits => traitsOf({}, protocol, model);

/** One model as its maker and those who resell it call it. */
const OPUS_5_5 = [
  'claude-opus-5-5',
  'claude-opus-5.5',
  'claude-opus-5-5-20260922',
  'anthropic/claude-opus-5.5',
  'us.anthropic.claude-opus-5-5-20260922-v1:0',
  'anthropic.claude-opus-5-5',
  'claude-opus-5-5@20260922',
  'Claude-Opus-5.5:thinking',
  'openrouter/anthropic/claude-opus-5.5:beta',
  'anthropic/opus-5.5',
  'claude-opus5.5',
  'Claude Opus 5.5',
  'claude-opus-5-5[1m]',
  '~anthropic/claude-opus-latest',
];

/** Other names of the same model, by the name that its maker gave it. */
const SAME: readonly (readonly [AskedProtocol, string, readonly string[]])[] = [
  ['chat', 'o3', ['o3:free', 'o3@2025-04-16', 'openai/o3', 'openai-o3', 'azure/o3-2025-04-16', 'O3']],
  ['responses', 'gpt-5.6', ['gpt5.6', 'gpt_5_6', 'GPT 5.6', 'openai/gpt-5.6:free', 'gpt-5-6', 'GPT-5.6@2026-08-01']],
  ['gemini', 'gemini-4-neon', ['Gemini 4 Neon', 'gemini_4_neon', 'google/gemini-4-neon:free', 'gemini-4.0-neon']],
];

describe('What a name tells of a model', () => {
  it.each(OPUS_5_5)('is the same whoever resells it: %s', (name) => {
    expect(known('messages', name)).toEqual(known('messages', 'claude-opus-5-5'));
    expect(known('messages', name)).toMatchObject({
      forced_tools: 'refused',
      thinking_off: 'refused',
      thinking_bound: 'conversation',
      system_messages: 'in_place',
      text_between_tools: 'thought',
      thinks_unasked: 'yes',
      sampling: 'none',
    });
  });

  it.each(SAME.flatMap(([protocol, maker, others]) => others.map((name) => [name, maker, protocol] as const)))(
    'is of %s what it is of %s',
    (name, maker, protocol) => {
      expect(known(protocol, name)).toEqual(known(protocol, maker));
      expect(known(protocol, maker)).not.toEqual(known(protocol, 'nobody-knows'));
    },
  );

  it.each<[AskedProtocol, string, Partial<ModelTraits>]>([
    ['chat', 'marco-o1', { sampling: 'all', output_limit_field: 'max_tokens' }],
    ['messages', 'claude-opus-5-20260601', { forced_tools: 'taken', thinking_off: 'taken', thinks_unasked: 'yes' }],
    ['messages', 'claude-sonnet-5-5', { forced_tools: 'refused', thinking_off: 'between_tools' }],
    ['messages', 'claude-haiku-5-5', { forced_tools: 'taken', thinking_off: 'taken', thinking_bound: 'conversation' }],
    ['messages', 'claude-fable-5-1', { forced_tools: 'refused', thinking_off: 'refused', system_messages: 'in_place' }],
    ['messages', 'claude-sonnet-5', { system_messages: 'in_front', forced_tools: 'taken' }],
    ['messages', 'claude-opus-6', { forced_tools: 'refused', thinking: 'effort' }],
    ['messages', 'claude-3-5-sonnet-20241022', { thinking: 'budget', sampling: 'all', thinks_unasked: 'no' }],
    ['chat', 'anthropic/claude-opus-5.5', { forced_tools: 'refused', sampling: 'none' }],
    ['chat', 'gpt-4-0613', { call_ids: 'forty_characters', output_limit_field: 'max_tokens', sampling: 'all' }],
    [
      'chat',
      'gpt-35-turbo-16k',
      {
        output_limit_field: 'max_tokens',
        sampling: 'all',
        efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
      },
    ],
    ['messages', 'claude-37-sonnet', { thinking: 'budget', sampling: 'all', forced_tools: 'taken' }],
    ['gemini', 'gemini-25-flash', { thinking: 'budget', penalties: 'taken', call_proofs: 'unneeded' }],
    ['chat', 'gpt-4-32k', { sampling: 'all', tools_over_chat: 'taken' }],
    ['chat', 'gpt-5-mini-2025-08-07', { output_limit_field: 'max_completion_tokens', sampling: 'none' }],
    ['chat', 'gpt-5-chat-latest', { output_limit_field: 'max_tokens', sampling: 'all' }],
    ['chat', 'gpt-oss-120b', { output_limit_field: 'max_tokens', sampling: 'all' }],
    [
      'responses',
      'openai/gpt-6.1-sol',
      { sampling: 'at_no_effort', efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
    ],
    ['gemini', 'gemini-2.5-flash', { thinking: 'budget', thinking_off: 'taken', call_proofs: 'unneeded' }],
    ['gemini', 'models/gemini-2.5-pro', { thinking: 'budget', thinking_off: 'refused' }],
    ['gemini', 'gemini-flash-latest', { thinking: 'effort', call_proofs: 'needed' }],
    ['gemini', 'google/gemini-4-argon', { penalties: 'refused', unstreamed_output_tokens: 32_768 }],
    ['gemini', 'gemini-4-neon', { thinking: 'effort', efforts: ['low', 'medium', 'high'], several_replies: 'refused' }],
    ['chat', 'mistral-large-latest', { call_ids: 'nine_letters', user_after_result: 'refused' }],
  ])('over %s, of %s', (protocol, name, traits) => {
    expect(known(protocol, name)).toMatchObject(traits);
  });

  it('holds for the servers of its maker alone where a reseller may lift it', () => {
    const at = (server: string): ModelTraits =>
      upstreamTraits({ protocol: 'chat', server, models: {}, ofAll: () => ({}), said: {} })('gpt-6-sol');
    expect(at('api.openai.com').tools_over_chat).toBe('refused');
    expect(at('eu.api.openai.com').tools_over_chat).toBe('refused');
    expect(at('myopenai.com').tools_over_chat).toBe('taken');
    expect(at('openrouter.ai').tools_over_chat).toBe('taken');
  });

  it('names its source and day in every row, and nothing that is no trait', () => {
    for (const { source, asOf, traits } of KNOWN_TRAITS) {
      expect(source).toMatch(/^https:\/\//);
      expect(asOf).toMatch(/^20\d\d-\d\d-\d\d$/);
      expect(mistakesInTraits({ '*': traits }, [])).toEqual([]);
    }
  });
});

/** The age at which a fact about a model is to be read again, in days. */
const OLDEST_DAYS = 274;

it('Every row was read within nine months', () => {
  const oldest = KNOWN_TRAITS.map(({ asOf }) => asOf).toSorted()[0] ?? '';
  const days = (Date.now() - Date.parse(oldest)) / 86_400_000;
  expect({ oldest, isOld: days > OLDEST_DAYS }).toEqual({ oldest, isOld: false });
});

describe('What an operator says of models', () => {
  const lookup = upstreamTraits({
    protocol: 'messages',
    models: { best: 'claude-opus-5-5', deployed: 'deployment-17' },
    ofAll: () => ({}),
    said: {
      deployed: { forced_tools: 'refused', efforts: ['low'] },
      'CLAUDE-*-5*': { forced_tools: 'in_words', sampling: 'all' },
      best: { sampling: 'one' },
    },
  });

  it('takes the place of the table, field by field, names before patterns', () => {
    expect(lookup('claude-opus-5-5')).toMatchObject({
      forced_tools: 'in_words',
      sampling: 'one',
      thinking_off: 'refused',
    });
    expect(lookup('claude-opus-4-6')).toMatchObject({ forced_tools: 'taken', sampling: 'one', thinking: 'effort' });
  });

  it('is found by the public name where that of the upstream tells nothing', () => {
    expect(lookup('deployment-17')).toMatchObject({ forced_tools: 'refused', efforts: ['low'], thinking: 'budget' });
  });

  it.each<[JsonObject, string, RegExp]>([
    [{ 'gpt-*': { forced_tools: 'never' } }, 'gpt-*.forced_tools', /taken, in_words, refused/],
    [{ 'gpt-*': { forced_tool: 'taken' } }, 'gpt-*.forced_tool', /forced_tools/],
    [{ 'gpt-*': { efforts: [] } }, 'gpt-*.efforts', /none, minimal, low/],
    [{ 'gpt-*': { efforts: ['low', 'extreme'] } }, 'gpt-*.efforts', /none, minimal, low/],
    [{ 'gpt-*': { max_output_tokens: 1.5 } }, 'gpt-*.max_output_tokens', /whole number/],
    [{ 'gpt-*': { max_output_tokens: '2000' } }, 'gpt-*.max_output_tokens', /whole number/],
    [{ 'gpt-*': { context_tokens: 0 } }, 'gpt-*.context_tokens', /whole number/],
    [{ 'gpt-*': ['taken'] }, 'gpt-*', /an object/],
    [{ 'gpt-6': {} }, 'gpt-6', /one of the models of this upstream/],
    [{ '(a+)+': {} }, '(a+)+', /name of a model/],
  ])('is refused by field where it is wrong: %j', (said, path, rule) => {
    const mistakes = mistakesInTraits(said, ['gpt-5']);
    expect(mistakes).toEqual([expect.objectContaining({ rule: expect.stringMatching(rule) as string })]);
    expect(mistakes[0]?.path.join('.')).toBe(path);
  });

  it('may be any value of any trait', () => {
    for (const [name, { values }] of Object.entries(TRAITS))
      for (const value of values) expect(mistakesInTraits({ '*': { [name]: value } }, [])).toEqual([]);
    for (const name of Object.keys(TRAIT_LIMITS)) expect(mistakesInTraits({ '*': { [name]: 1 } }, [])).toEqual([]);
  });

  it('is found in time whatever the pattern', async () => {
    const said = { [`${'a*'.repeat(60)}b`]: { sampling: 'none' as const } };
    const find = upstreamTraits({ protocol: 'chat', models: {}, ofAll: () => ({}), said });
    expect(await atBest(500, () => expect(find('a'.repeat(10_000)).sampling).toBe('all'))).toBeLessThan(500);
  });
});

const FUNCTION = { name: 'get_weather' };
const REQUIRED = { mode: 'required', names: [], param: 'tool_choice' } as const;
const refused = (
  style: 'chat' | 'responses',
  protocol: AskedProtocol,
  change: Partial<TextRequest>,
  traits: Partial<ModelTraits>,
): string | undefined =>
  refusedByModel({ style, request: () => ({ ...PLAIN, ...change }) }, protocol, {
    ...known(protocol, 'm'),
    ...traits,
  })?.param;

describe('What a model does not take', () => {
  it('is refused by name: a demand for a call, in translation', () => {
    const asked = { tools: [FUNCTION], toolChoice: REQUIRED };
    expect(refused('responses', 'messages', asked, { forced_tools: 'refused' })).toBe('tool_choice');
    expect(refused('responses', 'messages', { tools: [FUNCTION] }, { forced_tools: 'refused' })).toBeUndefined();
    expect(refused('responses', 'messages', asked, { forced_tools: 'in_words' })).toBeUndefined();
    expect(refused('responses', 'responses', asked, { forced_tools: 'refused' })).toBeUndefined();
  });

  it('is refused by name: functions over chat, unless it is kept from thinking', () => {
    const tools = { tools: [FUNCTION] };
    const traits = { tools_over_chat: 'refused' } as const;
    const none = { ...tools, reasoning: { effort: 'none', visible: false } } as const;
    for (const style of ['chat', 'responses'] as const) {
      expect(refused(style, 'chat', tools, traits)).toBe('tools');
      expect(refused(style, 'chat', {}, traits)).toBeUndefined();
      expect(refused(style, 'chat', none, traits)).toBeUndefined();
      expect(refused(style, 'chat', none, { ...traits, efforts: ['low'] })).toBe('tools');
      expect(refused(style, 'responses', tools, traits)).toBeUndefined();
    }
  });

  it('passes through where only its own vendor can read the request', () => {
    const request = (): never => {
      throw new GatewayError('unsupported_parameter', 'logprobs: no.', { param: 'logprobs' });
    };
    const traits = { ...known('chat', 'm'), tools_over_chat: 'refused' } as const;
    expect(refusedByModel({ style: 'chat', request }, 'chat', traits)).toBeUndefined();
  });
});

const written = (protocol: AskedProtocol, model: string, change: Partial<TextRequest>): JsonObject =>
  PROTOCOL_CODECS[protocol].write({ ...PLAIN, ...change }, model, { marksPromptCache: false });
const effort = (word: NonNullable<TextRequest['reasoning']>['effort'] & string): Partial<TextRequest> => ({
  reasoning: { effort: word, visible: false },
});

describe('An effort', () => {
  it.each([
    ['gpt-5.6-sol', 'max', 'max'],
    ['gpt-5.4', 'max', 'xhigh'],
    ['gpt-6.1-sol', 'none', 'low'],
    ['gpt-6-astra', 'minimal', 'low'],
    ['gpt-6-luna', 'none', 'none'],
    ['unknown', 'minimal', 'minimal'],
  ] as const)('of %s is sent over responses as far as the model has it: %s as %s', (model, asked, sent) => {
    expect(written('responses', model, effort(asked))['reasoning']).toMatchObject({ effort: sent });
  });

  it.each([
    ['gemini-4-argon', 'xhigh', { thinkingLevel: 'high' }],
    ['gemini-4-argon', 'minimal', { thinkingLevel: 'low' }],
    ['gemini-4-neon', 'none', { thinkingLevel: 'low' }],
    ['gemini-3-flash', 'none', { thinkingLevel: 'minimal' }],
    ['gemini-3-pro-preview', 'medium', { thinkingLevel: 'low' }],
    ['gemini-2.5-flash', 'low', { thinkingBudget: 2_048 }],
  ] as const)('of %s is sent over gemini in the form that the model takes: %s', (model, asked, sent) => {
    const { generationConfig } = written('gemini', model, effort(asked)) as { generationConfig: JsonObject };
    expect(generationConfig['thinkingConfig']).toEqual({ includeThoughts: false, ...sent });
  });

  it('of a budget is a level for models that take no budget', () => {
    const { generationConfig } = written('gemini', 'gemini-4-argon', {
      reasoning: { budgetTokens: 2_000, visible: true },
    }) as { generationConfig: JsonObject };
    expect(generationConfig['thinkingConfig']).toEqual({ includeThoughts: true, thinkingLevel: 'low' });
  });
});

describe('Words for how to sample', () => {
  const sampling = { temperature: 0.5, topP: 0.9, presencePenalty: 1, frequencyPenalty: 1 };

  it.each([
    ['gpt-6-sol', {}, false],
    ['gpt-6-sol', effort('low'), false],
    ['gpt-6-luna', effort('none'), true],
    ['gpt-6-astra', effort('none'), false],
    ['gpt-5.2', {}, true],
    ['gpt-5.2', effort('high'), false],
  ] as const)('reach %s with %j: %s', (model, asked, isSent) => {
    expect('temperature' in written('responses', model, { ...sampling, ...asked })).toBe(isSent);
  });

  it('reach a gemini model without the penalties that it refuses', () => {
    expect(written('gemini', 'gemini-4-neon', sampling)['generationConfig']).toEqual({ temperature: 0.5, topP: 0.9 });
    expect(written('gemini', 'gemini-3-pro', sampling)['generationConfig']).toMatchObject({ presencePenalty: 1 });
  });
});

describe('Thinking of a messages model', () => {
  it.each([
    ['claude-opus-5', { type: 'disabled' }, undefined],
    ['claude-haiku-5-5', { type: 'disabled' }, undefined],
    ['claude-sonnet-5-5', { type: 'between_tools' }, undefined],
    ['claude-opus-5-5', undefined, { effort: 'low' }],
    ['claude-fable-5-1', undefined, { effort: 'low' }],
    ['claude-opus-4-7', undefined, undefined],
  ])('of %s is kept off in the form that it takes', (model, thinking, output) => {
    const body = written('messages', model, effort('none'));
    expect([body['thinking'], body['output_config']]).toEqual([thinking, output]);
  });

  it('is shown where what it says between two calls is part of it', () => {
    const shown = { type: 'adaptive', display: 'summarized' };
    const tools = { tools: [FUNCTION] };
    expect(written('messages', 'claude-opus-5-5', tools)['thinking']).toEqual(shown);
    expect(written('messages', 'claude-opus-5-5', { ...tools, ...effort('high') })['thinking']).toEqual(shown);
    expect(written('messages', 'claude-opus-5-5', {})).not.toHaveProperty('thinking');
    expect(written('messages', 'claude-opus-5', tools)).not.toHaveProperty('thinking');
  });
});

describe('A system message in mid-conversation', () => {
  const said = (role: 'user' | 'system', text: string) => ({ role, parts: [{ type: 'text', text }] }) as const;
  const called = { role: 'assistant', parts: [{ type: 'call', id: 'c', name: 'f', arguments: '{}' }] } as const;
  const result = {
    role: 'user',
    parts: [{ type: 'result', callId: 'c', name: 'f', content: [{ type: 'text', text: 'r' }], isError: false }],
  } as const;
  const answered = { role: 'assistant', parts: [{ type: 'text', text: 'a' }] } as const;

  const sent = (turns: TextRequest['turns'], model = 'claude-opus-5-5'): unknown => {
    const body = written('messages', model, { system: ['S'], turns });
    const messages = body['messages'] as readonly {
      role: string;
      content: readonly { text?: string; type: string }[];
    }[];
    return [
      body['system'],
      ...messages.map(({ role, content }) => `${role}: ${content.map(({ text, type }) => text ?? type).join()}`),
    ];
  };

  it('stays where it is for a model that takes it, behind what the user says', () => {
    const turns = [
      said('system', 'T'),
      said('user', 'u1'),
      called,
      said('system', 'L'),
      result,
      answered,
      said('user', 'u2'),
    ];
    expect(sent(turns)).toEqual([
      'S\n\nT',
      'user: u1',
      'assistant: tool_use',
      'user: tool_result',
      'system: L',
      'assistant: a',
      'user: u2',
    ]);
    expect(sent(turns, 'claude-opus-4-7')).toEqual(expect.arrayContaining(['S\n\nT\n\nL']));
  });

  it('leaves everything in front of it as it was in the turn before', () => {
    const before = [said('user', 'u1'), said('system', 'L'), answered];
    const first = sent(before.slice(0, 2)) as readonly string[];
    const second = sent([...before, said('user', 'u2'), said('system', 'M')]) as readonly string[];
    expect(second.slice(0, first.length)).toEqual(first);
    expect(second.slice(first.length)).toEqual(['assistant: a', 'user: u2', 'system: M']);
  });

  it('is the words of a user where no user speaks beside it', () => {
    expect(sent([said('user', 'u'), answered, said('system', 'L')])).toEqual([
      'S',
      'user: u',
      'assistant: a',
      'user: L',
    ]);
    expect(sent([said('system', 'L')])).toEqual(['S', 'user: L']);
  });

  it('has the role that the model takes over responses', () => {
    const turns = [said('user', 'u'), said('system', 'L')];
    const roles = (options: object): unknown =>
      (PROTOCOL_CODECS.responses.write({ ...PLAIN, turns }, 'm', options)['input'] as JsonObject[]).map(
        ({ role }) => role,
      );
    expect(roles({})).toEqual(['user', 'developer']);
    expect(roles(saying('responses', { system_role: 'system' }))).toEqual(['user', 'system']);
  });
});
