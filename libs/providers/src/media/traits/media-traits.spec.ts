import type { JsonObject } from '#contracts';
import { checkMediaUpstream } from '../check-media-upstreams.js';
import { MediaUpstreamEntry } from '../media-upstream-entry.js';
import { MEDIA_CODECS } from '../media-protocols.js';
import { openMediaUpstreams } from '../open-media-upstreams.js';
import { catalogFamily, orderOfBody } from '../testing/sample-requests.js';
import { TextConfig } from '../../text/text.config.js';
import { MEDIA_TRAITS, mediaTraitsOf, traitMistakes, type TraitSettings } from './media-traits.js';

const VEO = { model: 'gamma-3.1-fast-official', prompt: 'A boat.', resize_mode: 'crop' };

describe('Traits of media models', () => {
  const media = openMediaUpstreams({ text: new TextConfig() }, {});
  afterAll(() => media.close());

  /** What an upstream of an entry says of an order: undefined when it makes it. */
  function refusal(entry: JsonObject, body: JsonObject): { cannot: string; param?: string } | undefined {
    const { checked, mistakes } = checkMediaUpstream(MediaUpstreamEntry, {
      id: 'u',
      key: 'k-123',
      models: 'all',
      ...entry,
    });
    expect(mistakes).toEqual([]);
    const { upstream } = media.open(checked);
    const plan = upstream.plan(orderOfBody(body));
    void upstream.close();
    return 'cannot' in plan ? plan : undefined;
  }

  const fal = (traits?: JsonObject) => ({ protocol: 'fal', ...(traits && { model_traits: traits }) });

  it('refuse what the table forbids, by the name of the field, before anything is sent', () => {
    expect(refusal(fal(), { ...VEO, duration: 5 })).toEqual({
      param: 'duration',
      cannot: 'duration must be 4, 6 or 8 here.',
    });
    const wan = { model: 'beta-2.6', prompt: 'A heron.' };
    expect(refusal(fal(), { ...wan, prompt: 'a'.repeat(1_501) })).toMatchObject({ param: 'prompt' });
    expect(
      refusal(fal(), { ...wan, template: 'flying', image_urls: ['https://media.example.com/a.png'] }),
    ).toMatchObject({
      cannot: 'template is not taken here.',
    });
  });

  const DELTA = { model: 'delta-v2-6', prompt: 'x' };
  it.each([
    ['Wan 2.5', 'dashscope-video', { model: 'beta-2.5-preview' }, 'prompt', 1_500],
    ['Wan 2.5', 'dashscope-video', { model: 'beta-2.5-preview', prompt: 'x' }, 'negative_prompt', 500],
    ['Kling', 'kling', DELTA, 'negative_prompt', 2_500],
    ['Hailuo', 'minimax', { model: 'epsilon-2.3' }, 'prompt', 2_000],
    ['Wan 2.5 at fal', 'fal', { model: 'beta-2.5-preview' }, 'prompt', 1_500],
    ['Wan 2.7 at fal', 'fal', { model: 'beta-2.7', prompt: 'x' }, 'negative_prompt', 500],
  ] as const)('count texts in characters as callers count them: %s', (_, protocol, body, field, most) => {
    const ask = (characters: number) => refusal({ protocol }, { ...body, [field]: '🎬'.repeat(characters) });
    expect(ask(most)).toBeUndefined();
    // By the vendor's limit, or by the catalogue's where that is the same.
    const refused: unknown = (() => {
      try {
        return ask(most + 1);
      } catch (error) {
        return error;
      }
    })();
    expect(refused).toMatchObject({ param: field });
  });

  it.each<[string, string, JsonObject]>([
    [
      'the name of the model',
      'gamma-3.1-fast-official',
      { duration: { one_of: [8], with: { resolution: ['1080p', '4K'] } } },
    ],
    [
      'a pattern',
      'gamma-*',
      { duration: [{ one_of: [4, 6, 8] }, { one_of: [8], with: { resolution: ['1080p', '4K'] } }] },
    ],
    ["the vendor's name", 'fal-ai/veo3.1*', { duration: { one_of: [8], with: { resolution: ['1080p'] } } }],
  ])('are added to by an entry, by %s', (_, pattern, fields) => {
    const order = { ...VEO, duration: 6, resolution: '1080p' };
    expect(refusal(fal(), order)).toBeUndefined();
    expect(refusal(fal({ [pattern]: fields }), order)).toMatchObject({
      param: 'duration',
      cannot: expect.stringMatching(/^duration must be 8 with resolution 1080p/),
    });
    expect(refusal(fal({ [pattern]: fields }), { ...order, resolution: '720p' })).toBeUndefined();
  });

  it('of the table are lifted by an entry, so that what the vendor takes by now is made without a release', () => {
    const order = { model: 'iota-1.0-reseller', prompt: 'A heron.', n: 8 };
    expect(refusal(fal(), order)).toMatchObject({ param: 'n' });
    expect(refusal(fal({ 'iota-*': { n: [] } }), order)).toBeUndefined();
    const flash = { protocol: 'dashscope-video', model_traits: { 'beta-2.6': { audio: [] } } };
    const silent = {
      model: 'beta-2.6',
      prompt: 'A heron.',
      audio: false,
      image_urls: ['https://media.example.com/a.png'],
    };
    expect(refusal({ protocol: 'dashscope-video' }, silent)).toMatchObject({ param: 'audio' });
    expect(refusal(flash, silent)).toBeUndefined();
  });

  it('differ by region where the vendor says so', () => {
    const order = { model: 'beta-2.6', template: 'flying', image_urls: ['https://media.example.com/a.png'] };
    expect(refusal({ protocol: 'dashscope-video' }, order)).toMatchObject({ param: 'template' });
    const beijing = { protocol: 'dashscope-video', base_url: 'https://dashscope.aliyuncs.com' };
    expect(refusal(beijing, order)).toBeUndefined();
  });

  it('hold what no source is sure of as settings: today all of these are sent', () => {
    const seedance = { model: 'alpha-2.0', prompt: 'A heron.' };
    const cases: [JsonObject, JsonObject, string][] = [
      [{ protocol: 'ark-video' }, { ...seedance, seed: 7 }, 'seed'],
      [
        { protocol: 'ark-video' },
        { ...seedance, tools: [{ type: 'web_search' }], image_urls: ['https://media.example.com/a.png'] },
        'tools',
      ],
      [
        { protocol: 'vidu' },
        { model: 'zeta-q3-mix', prompt: 'A heron.', duration: 2, image_urls: ['https://media.example.com/a.png'] },
        'duration',
      ],
      [fal(), { model: 'eta-image-2.0', prompt: 'A heron.', n: 6 }, 'n'],
    ];
    const said: Readonly<Record<string, JsonObject>> = {
      seed: { 'alpha-*': { seed: { one_of: [-1] } } },
      tools: { 'alpha-*': { tools: { most: 0, modes: ['image-to-video', 'first-last-frame', 'reference-to-video'] } } },
      duration: { 'zeta-q3-mix': { duration: { least: 3 } } },
      n: { 'eta-*': { n: { most: 4 } } },
    };
    for (const [entry, order, field] of cases) {
      expect([field, refusal(entry, order)]).toEqual([field, undefined]);
      expect(refusal({ ...entry, model_traits: said[field] ?? {} }, order)).toMatchObject({ param: field });
    }
  });

  it('are said in words, with their source and its date, or that the entry has them', () => {
    const { checked } = checkMediaUpstream(MediaUpstreamEntry, {
      id: 'u',
      key: 'k-123',
      models: 'all',
      ...fal({ 'iota-*': { n: { most: 2 } } }),
    });
    const { upstream } = media.open(checked);
    expect(upstream.traitsOf?.('iota-1.0-reseller')).toEqual([
      { field: 'n', rules: ['n is at most 2 here.'], by: 'entry', source: null, checked: null },
    ]);
    expect(upstream.traitsOf?.('beta-2.6')).toContainEqual(
      expect.objectContaining({ rules: ['prompt has at most 1500 characters and is required here.'], by: 'table' }),
    );
    void upstream.close();
  });

  it.each<[string, JsonObject, string]>([
    ['a model that it does not have', { 'delta-*': { mode: { one_of: ['pro'] } } }, 'is no model of this entry'],
    ['a field that there is not', { 'gamma-*': { durations: { most: 8 } } }, 'did you mean duration?'],
    ['a rule that there is not', { 'gamma-*': { duration: { max: 8 } } }, 'is no rule'],
    [
      'a value that the field does not have',
      { 'gamma-*': { resolution: { one_of: ['8K'] } } },
      'it takes 720p, 1080p or 4K',
    ],
    ['a value of another kind', { 'gamma-*': { duration: { one_of: ['8'] } } }, 'no value of duration'],
    ['a bound of what has none', { 'gamma-*': { resolution: { most: 3 } } }, 'send one_of'],
    ['a bound that is no number', { 'gamma-*': { duration: { most: '8' } } }, 'must be a whole number'],
    ['bounds that leave nothing', { 'gamma-*': { duration: { least: 8, most: 4 } } }, 'must not be above most'],
    ['a condition on no field', { 'gamma-*': { duration: { one_of: [8], with: { size: ['4K'] } } } }, 'is no field'],
    [
      'a condition without a value',
      { 'gamma-*': { duration: { one_of: [8], with: { resolution: [] } } } },
      'at least one',
    ],
    ['a mode that there is not', { 'gamma-*': { duration: { one_of: [8], modes: ['video'] } } }, 'it may have'],
    ['no rules', { 'gamma-*': { duration: 8 } }, 'must be an object'],
    ['no fields', { 'gamma-*': [] }, 'must name fields'],
  ])('of an entry are refused by their place: %s', (_, traits, words) => {
    const entry = { id: 'u', protocol: 'vertex-veo', models: 'all', key: 'k', model_traits: traits };
    const family = catalogFamily('gamma-3.1-fast-official');
    const found = traitMistakes(traits, [['gamma-3.1-fast-official', 'veo-3.1-fast-generate-001', family]]);
    expect(found.map(([, rule]) => rule)).toEqual([expect.stringContaining(words)]);
    const { mistakes } = checkMediaUpstream(MediaUpstreamEntry, entry);
    expect(mistakes.filter(({ path }) => path[0] === 'model_traits')).toHaveLength(1);
  });

  it('of the table name models, fields, modes and values that there are', () => {
    const wrong = MEDIA_TRAITS.flatMap(({ protocol, models, field, rules }) => {
      const codec = MEDIA_CODECS[protocol as keyof typeof MEDIA_CODECS];
      const served = [...codec.models].map(
        ([model, name]) => [model, `${name.replace('*', 'i2v')}-flash`, catalogFamily(model)] as const,
      );
      return models.flatMap((pattern) =>
        // A pattern for all models has a field that some of them have.
        traitMistakes({ [pattern]: { [field]: rules } as unknown as JsonObject }, served),
      );
    });
    expect(wrong).toEqual([]);
  });

  it('of an entry are looked at beside a model whose name is none, which is the mistake that is reported', () => {
    const entry = {
      id: 'u',
      protocol: 'kling',
      key: 'k',
      models: { 'delta-v2-6': { name: 7 } },
      model_traits: { '*': {} },
    };
    const { mistakes } = checkMediaUpstream(MediaUpstreamEntry, entry);
    expect(mistakes.map(({ path }) => path.join('.'))).toContain('models.delta-v2-6.name');
  });

  it('of a name take the place of those of a pattern, wherever they stand', () => {
    const subject = { protocol: 'fal', model: 'iota-1.0-reseller', name: 'x' };
    const settings = { 'iota-1.0-reseller': { n: { most: 2 } }, '*': { n: { most: 8 } } };
    for (const order of [Object.entries(settings), Object.entries(settings).toReversed()])
      expect(mediaTraitsOf(MEDIA_TRAITS, subject, Object.fromEntries(order))).toMatchObject([{ rules: [{ most: 2 }] }]);
  });

  it.each(['a', 'b*c', '**', '*a*b*'])('match names by patterns in time that grows with the name: %s', (pattern) => {
    const settings: TraitSettings = { [pattern]: { n: { most: 1 } } };
    const name = 'a'.repeat(200_000);
    const held = mediaTraitsOf([], { protocol: 'fal', model: name, name }, settings);
    expect(held.length).toBe(pattern === '**' ? 1 : 0);
  });
});
