import { type ListedModel, listedModels, type ListSource, UnreadList } from './listed-models.js';

/** USD for a million, or for one fee, so that cases can be read. */
const said = ({ prices }: ListedModel): Record<string, number> =>
  Object.fromEntries(
    prices.map(({ unit, tier, fromInputTokens: from, amount: { digits, places } }) => [
      `${unit}${tier === 'default' ? '' : ` ${tier}`}${from === 0 ? '' : ` from ${from}`}`,
      Number(`${digits}e${(unit.endsWith('token') ? 6 : 0) - places}`),
    ]),
  );

async function read(source: ListSource, list: unknown): Promise<ListedModel> {
  const [model] = await listedModels(source, JSON.stringify(list, null, 1));
  if (!model) throw new Error('no model was read');
  return model;
}

const litellm = (entry: object, vendor = 'openai'): Promise<ListedModel> =>
  read('litellm', {
    sample_spec: { input_cost_per_token: 1, litellm_provider: 'one of' },
    one: { litellm_provider: vendor, input_cost_per_token: 1e-7, output_cost_per_token: 5e-7, ...entry },
  });
const modelsDev = (cost: object, vendor = 'openai', more: object = {}): Promise<ListedModel> =>
  read('models.dev', {
    [vendor]: { id: vendor, models: { one: { id: 'one', cost: { input: 2, output: 10, ...cost }, ...more } } },
  });
const openrouter = (pricing: object, id = 'openai/one'): Promise<ListedModel> =>
  read('openrouter', { data: [{ id, pricing: { prompt: '0.000002', completion: '0.00001', ...pricing } }] });

describe('A public list of prices', () => {
  it.each<[string, () => Promise<ListedModel>, Record<string, number>]>([
    [
      'tokens of every kind of litellm',
      () =>
        litellm({
          cache_read_input_token_cost: 1e-8,
          cache_creation_input_token_cost: 1.25e-7,
          cache_creation_input_token_cost_above_1hr: 2e-7,
          output_cost_per_reasoning_token: 6e-7,
          input_cost_per_audio_token: 1e-6,
          output_cost_per_audio_token: 2e-6,
        }),
      {
        input_token: 0.1,
        output_token: 0.5,
        cached_input_token: 0.01,
        cache_write_token: 0.125,
        cache_write_long_token: 0.2,
        reasoning_token: 0.6,
        audio_input_token: 1,
        audio_output_token: 2,
      },
    ],
    [
      'bands of litellm, completed by the base',
      () =>
        litellm({
          cache_read_input_token_cost: 1e-8,
          input_cost_per_token_above_272k_tokens: 2e-7,
          output_cost_per_token_above_272k_tokens: 1e-6,
        }),
      {
        input_token: 0.1,
        output_token: 0.5,
        cached_input_token: 0.01,
        'input_token from 272001': 0.2,
        'output_token from 272001': 1,
        'cached_input_token from 272001': 0.01,
      },
    ],
    [
      'a band of xAI, which begins with the token that is named',
      () =>
        litellm({ input_cost_per_token_above_200k_tokens: 2e-7, output_cost_per_token_above_200k_tokens: 1e-6 }, 'xai'),
      { input_token: 0.1, output_token: 0.5, 'input_token from 200000': 0.2, 'output_token from 200000': 1 },
    ],
    [
      'service tiers of litellm, at the dearer of their own and the band where a band names none',
      () =>
        litellm({
          input_cost_per_token_priority: 2e-7,
          output_cost_per_token_priority: 1e-6,
          input_cost_per_token_batches: 5e-8,
          output_cost_per_token_batches: 2.5e-7,
          input_cost_per_token_above_272k_tokens: 1.5e-7,
        }),
      {
        input_token: 0.1,
        output_token: 0.5,
        'input_token priority': 0.2,
        'output_token priority': 1,
        'input_token batch': 0.05,
        'output_token batch': 0.25,
        'input_token from 272001': 0.15,
        'output_token from 272001': 0.5,
        'input_token priority from 272001': 0.2,
        'output_token priority from 272001': 1,
        'input_token batch from 272001': 0.15,
        'output_token batch from 272001': 0.5,
      },
    ],
    [
      'tiered_pricing of litellm, whose ends are within',
      () =>
        litellm({
          tiered_pricing: [
            { range: [0, 32000], input_cost_per_token: 1e-7, output_cost_per_token: 5e-7 },
            { range: [32000, 128000], input_cost_per_token: 2e-7, output_cost_per_token: 8e-7 },
          ],
        }),
      { input_token: 0.1, output_token: 0.5, 'input_token from 32001': 0.2, 'output_token from 32001': 0.8 },
    ],
    [
      'the dearest search of litellm',
      () =>
        litellm({ search_context_cost_per_query: { search_context_size_low: 0.01, search_context_size_high: 0.014 } }),
      { input_token: 0.1, output_token: 0.5, vendor_web_search_call: 0.014 },
    ],
    [
      'tokens of models.dev',
      () => modelsDev({ reasoning: 11, cache_read: 0.1, cache_write: 2.5, input_audio: 8, output_audio: 16 }),
      {
        input_token: 2,
        output_token: 10,
        reasoning_token: 11,
        cached_input_token: 0.1,
        cache_write_token: 2.5,
        audio_input_token: 8,
        audio_output_token: 16,
      },
    ],
    [
      'tiers of models.dev, not context_over_200k beside them',
      () =>
        modelsDev({
          tiers: [{ tier: { type: 'context', size: 272000 }, input: 4, output: 15 }],
          context_over_200k: { input: 4, output: 15 },
        }),
      { input_token: 2, output_token: 10, 'input_token from 272001': 4, 'output_token from 272001': 15 },
    ],
    [
      'modes of models.dev',
      () => modelsDev({}, 'openai', { experimental: { modes: { fast: { cost: { input: 4, output: 20 } } } } }),
      { input_token: 2, output_token: 10, 'input_token priority': 4, 'output_token priority': 20 },
    ],
    [
      'openrouter, where 0 is no price of its own',
      () => openrouter({ internal_reasoning: '0', input_cache_read: '0.0000001', request: '0', web_search: '0.01' }),
      { input_token: 2, output_token: 10, cached_input_token: 0.1, vendor_web_search_call: 0.01 },
    ],
    [
      'bands of openrouter, later ones key by key',
      () =>
        openrouter({
          overrides: [
            { min_prompt_tokens: 200000, prompt: '0.000004' },
            { min_prompt_tokens: 200000, prompt: '0.000005', completion: '0.00002' },
          ],
        }),
      { input_token: 2, output_token: 10, 'input_token from 200001': 5, 'output_token from 200001': 20 },
    ],
    [
      'prices by the hour at their peak',
      () =>
        openrouter({
          overrides: [
            { utc_start: 1, utc_end: 4, prompt: '0.000004' },
            { utc_start: 18, utc_end: 20, completion: '0.000001' },
          ],
        }),
      { input_token: 4, output_token: 10 },
    ],
    ['what is free', () => openrouter({ prompt: '0', completion: '0' }), { input_token: 0, output_token: 0 }],
  ])('is read: %s', async (_what, model, prices) => {
    expect(said(await model())).toEqual(prices);
  });

  it('tells models apart that several vendors sell under one id', async () => {
    const cost = { input: 1, output: 2 };
    const list = {
      a: { models: { one: { id: 'one', cost }, two: { id: 'two', cost } } },
      b: { models: { one: { id: 'one', cost } } },
    };
    expect((await listedModels('models.dev', JSON.stringify(list))).map(({ id }) => id)).toEqual([
      'a/one',
      'two',
      'b/one',
    ]);
  });

  it('says which of its figures prices cannot say', async () => {
    const { unread } = await litellm({
      output_cost_per_image: 0.04,
      input_cost_per_second: 0,
      cache_read_input_token_cost: 'free',
    });
    expect(unread).toEqual(['output_cost_per_image', 'cache_read_input_token_cost']);
    expect((await openrouter({ image: '0.002', discount: 0 })).unread).toEqual(['pricing.image']);
  });

  it('is sold from the earliest beginning where it does not say a sure one', async () => {
    const model = await modelsDev({ context_over_200k: { input: 4, output: 15 } });
    expect([model.isUnsure, said(model)['input_token from 200001']]).toEqual([true, 4]);
  });

  it('holds neither its own explanation, nor what is not sold by tokens, nor routers', async () => {
    const list = {
      sample_spec: { input_cost_per_token: 1 },
      image: { output_cost_per_image: 0.04 },
      one: { input_cost_per_token: 1e-7, output_cost_per_token: 0 },
    };
    expect((await listedModels('litellm', JSON.stringify(list))).map(({ id }) => id)).toEqual(['one']);
    const routers = { data: [{ id: 'openrouter/auto', pricing: { prompt: '-1', completion: '-1' } }] };
    expect(await listedModels('openrouter', JSON.stringify(routers))).toEqual([]);
  });

  it('of an upstream is also one of names, of which those with `pricing` have prices', async () => {
    const list = {
      object: 'list',
      data: [
        { id: 'a', owned_by: 'x' },
        { id: 'b', pricing: { prompt: '0.000001', completion: '0.000002' } },
      ],
    };
    const models = await listedModels('upstream', JSON.stringify(list));
    expect(models.map((model) => [model.id, said(model)])).toEqual([
      ['a', {}],
      ['b', { input_token: 1, output_token: 2 }],
    ]);
    const google = await listedModels('upstream', JSON.stringify({ models: [{ name: 'models/c' }] }));
    expect(google.map(({ id }) => id)).toEqual(['c']);
  });

  it('that is cut off is refused, and one without models is empty', async () => {
    await expect(listedModels('litellm', '{"one": {"input_cost_per_token": 1')).rejects.toThrow(UnreadList);
    await expect(listedModels('litellm', '{"one": {"input_cost_per_token": 1x}}')).rejects.toThrow(UnreadList);
    for (const text of ['', 'not JSON', '[1,2]']) expect(await listedModels('litellm', text)).toEqual([]);
  });

  it('is read also where a price is something that no text can be made of', async () => {
    const price = { toString: 1 };
    for (const model of [
      openrouter({ image: price }),
      litellm({ input_cost_per_image: price }),
      modelsDev({ input_audio: price }),
    ])
      expect(Object.keys(said(await model))).toEqual(['input_token', 'output_token']);
  });
});
