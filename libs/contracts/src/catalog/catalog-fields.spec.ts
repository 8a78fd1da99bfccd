import { familyOf } from './catalog.js';
import type { JsonValue } from '../json.js';
import { readModelRequest } from './read-model-request.js';

/** The fields of every family, written by hand a second time from what was specified, so that a slip in a family file shows here. */
interface Table {
  /** A legal body to vary one field of at a time. */
  readonly base: Record<string, JsonValue> & { readonly model: string };
  readonly defaults: Record<string, JsonValue>;
  readonly choices: Record<string, readonly JsonValue[]>;
  readonly whole?: Record<string, readonly [min: number, max: number]>;
  readonly flags?: readonly string[];
  readonly texts: Record<string, number>;
  readonly lists?: Record<string, readonly [min: number, max: number]>;
}

const URL = 'https://example.com/file';
const SAFE = Number.MAX_SAFE_INTEGER;
const UINT32 = 4_294_967_295;
const prompt = 'A heron lands.';
const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4'];
const IMAGES = ['1:1', '4:3', '3:4', '16:9', '9:16', '3:2', '2:3'];

const TABLES: readonly Table[] = [
  {
    base: { model: 'alpha-2.0-face', prompt, image_urls: [URL] },
    defaults: { duration: 5, size: '16:9', resolution: '480p', generate_audio: false, return_last_frame: false },
    choices: { size: [...RATIOS, '21:9', 'adaptive'], resolution: ['480p', '720p', '1080p'] },
    whole: { duration: [4, 15], seed: [-1, UINT32] },
    flags: ['generate_audio', 'return_last_frame'],
    texts: { prompt: 32_768 },
    lists: { image_urls: [0, 9], video_urls: [0, 3], audio_urls: [0, 3] },
  },
  {
    base: { model: 'beta-2.7', prompt },
    defaults: { resolution: '1080P', duration: 5, size: '16:9', prompt_extend: true, watermark: false },
    choices: { resolution: ['720P', '1080P'], size: RATIOS },
    whole: { duration: [2, 15], seed: [0, SAFE] },
    flags: ['prompt_extend', 'watermark'],
    texts: { prompt: 5000, negative_prompt: 500 },
    lists: { image_urls: [0, 2], video_urls: [0, 32] },
  },
  {
    base: { model: 'beta-2.7-r2v', prompt, image_with_roles: [{ url: URL }] },
    defaults: { resolution: '1080P', duration: 5, size: '16:9', prompt_extend: true, watermark: false },
    choices: { resolution: ['720P', '1080P'], size: RATIOS },
    whole: { duration: [2, 15], seed: [0, SAFE] },
    flags: ['prompt_extend', 'watermark'],
    texts: { prompt: 5000, negative_prompt: 500 },
    lists: { video_urls: [1, 4] },
  },
  {
    base: { model: 'gamma-3.1-quality-official', prompt, first_frame_image: URL },
    defaults: {
      duration: 8,
      aspect_ratio: '16:9',
      resolution: '720p',
      sample_count: 1,
      generate_audio: false,
      person_generation: 'allow_adult',
      resize_mode: 'pad',
      enhance_prompt: true,
    },
    choices: {
      aspect_ratio: ['16:9', '9:16'],
      resolution: ['720p', '1080p', '4K'],
      person_generation: ['allow_adult', 'disallow'],
      resize_mode: ['pad', 'crop'],
      enhance_prompt: [true],
    },
    whole: { duration: [4, 8], seed: [0, UINT32], sample_count: [1, 4] },
    flags: ['generate_audio'],
    texts: { prompt: 32_768, negative_prompt: 32_768 },
  },
  {
    base: { model: 'beta-2.5-preview', prompt },
    defaults: { resolution: '720p', duration: 5, size: '16:9', prompt_extend: true, audio: true, watermark: false },
    choices: { resolution: ['480p', '720p', '1080p'], duration: [5, 10], size: RATIOS, audio: [true] },
    whole: { seed: [0, SAFE] },
    flags: ['prompt_extend', 'watermark'],
    texts: { prompt: 32_768, negative_prompt: 500 },
  },
  {
    base: { model: 'beta-2.6', prompt },
    defaults: { aspect_ratio: '16:9', resolution: '720p', duration: 5 },
    choices: {
      aspect_ratio: RATIOS,
      resolution: ['720p', '1080p'],
      duration: [5, 10, 15],
      shot_type: ['single', 'multi'],
    },
    whole: { seed: [-1, UINT32] },
    flags: ['prompt_extend', 'audio', 'watermark'],
    texts: { prompt: 32_768, negative_prompt: 32_768 },
  },
  {
    base: { model: 'delta-v2-6', prompt, mode: 'pro' },
    defaults: { duration: 5, aspect_ratio: '16:9', audio: false },
    choices: { mode: ['std', 'pro'], duration: [5, 10], aspect_ratio: ['16:9', '9:16', '1:1'] },
    flags: ['audio', 'watermark'],
    texts: { prompt: 2500, negative_prompt: 32_768 },
    lists: { image_urls: [0, 2] },
  },
  {
    base: { model: 'epsilon-2.3', prompt },
    defaults: {
      duration: 6,
      resolution: '768p',
      prompt_optimizer: true,
      fast_pretreatment: false,
      watermark: false,
    },
    choices: { duration: [6, 10], resolution: ['768p', '1080p'] },
    flags: ['prompt_optimizer', 'fast_pretreatment', 'watermark'],
    texts: { prompt: 2000 },
  },
  {
    base: { model: 'epsilon-02', prompt },
    defaults: {
      duration: 5,
      resolution: '768p',
      prompt_optimizer: true,
      fast_pretreatment: false,
      watermark: false,
    },
    choices: { duration: [5, 10], resolution: ['512p', '768p', '1080p'] },
    flags: ['prompt_optimizer', 'fast_pretreatment', 'watermark'],
    texts: { prompt: 32_768 },
  },
  {
    base: { model: 'zeta-q3-turbo', prompt },
    defaults: { duration: 5, resolution: '720p', audio: true },
    choices: { resolution: ['540p', '720p', '1080p'], aspect_ratio: RATIOS },
    whole: { duration: [1, 16], seed: [-1, UINT32] },
    flags: ['audio'],
    texts: { prompt: 2000 },
    lists: { image_urls: [0, 2] },
  },
  {
    base: { model: 'zeta-q3', prompt, image_urls: [URL] },
    defaults: { duration: 5, resolution: '720p', aspect_ratio: '16:9' },
    choices: { resolution: ['540p', '720p', '1080p'], aspect_ratio: RATIOS },
    whole: { duration: [3, 16], seed: [-1, UINT32] },
    texts: { prompt: 5000 },
    lists: { image_urls: [1, 7] },
  },
  {
    base: { model: 'zeta-q3-mix', prompt, image_urls: [URL] },
    defaults: { duration: 5, resolution: '720p', aspect_ratio: '16:9' },
    choices: { resolution: ['720p', '1080p'], aspect_ratio: RATIOS },
    whole: { duration: [1, 16], seed: [-1, UINT32] },
    texts: { prompt: 5000 },
    lists: { image_urls: [1, 7] },
  },
  {
    base: { model: 'eta-image-2.0-pro', prompt },
    defaults: { size: '1:1', resolution: '1K', n: 1 },
    choices: { size: IMAGES, resolution: ['1K', '2K'] },
    whole: { n: [1, 6] },
    texts: { prompt: 800, negative_prompt: 500 },
    lists: { image_urls: [0, 32] },
  },
  {
    base: { model: 'theta-image-turbo', prompt },
    defaults: { size: '1:1', resolution: '1K', prompt_extend: false },
    choices: { size: IMAGES, resolution: ['1K', '2K'], n: [1] },
    flags: ['prompt_extend'],
    texts: { prompt: 800 },
  },
  {
    base: { model: 'iota-1.0-reseller', prompt },
    defaults: { size: '1:1', n: 1 },
    choices: { size: ['1:1', '16:9', '9:16', '3:2', '2:3'] },
    whole: { n: [1, 10] },
    texts: { prompt: 32_768 },
  },
  {
    base: { model: 'iota-1.0-edit-reseller', prompt, image_urls: [URL] },
    defaults: { n: 1 },
    choices: {},
    whole: { n: [1, 10] },
    texts: { prompt: 32_768 },
    lists: { image_urls: [1, 32] },
  },
  {
    base: { model: 'Kappa-B-4.0', prompt, image_urls: [URL] },
    defaults: {
      size: '1:1',
      resolution: '2K',
      n: 1,
      optimize_prompt_options: 'standard',
      sequential_image_generation: 'disabled',
      watermark: false,
    },
    choices: {
      size: [...IMAGES, '21:9', '9:21', 'auto'],
      resolution: ['1K', '2K', '4K'],
      optimize_prompt_options: ['standard', 'fast'],
      sequential_image_generation: ['disabled', 'auto'],
    },
    whole: { n: [1, 14] },
    flags: ['watermark'],
    texts: { prompt: 1000 },
    lists: { image_urls: [0, 10] },
  },
];

const read = ({ base }: Table, change: Record<string, JsonValue> = {}) => {
  const path = familyOf(base.model)?.path ?? '/v1/videos/generations';
  return readModelRequest(path, { ...base, ...change }).parameters;
};
const expectRefused = (table: Table, field: string, value: JsonValue) =>
  expect(() => read(table, { [field]: value })).toThrow(expect.objectContaining({ status: 400, param: field }));

describe.each(TABLES.map((table) => [table.base.model, table] as const))('the field table of %s', (_model, table) => {
  const choices = Object.entries(table.choices);
  const whole = Object.entries(table.whole ?? {});
  const lists = Object.entries(table.lists ?? {});

  it('fills in exactly the documented defaults', () => {
    expect(read(table)).toEqual({ ...table.defaults, ...table.base, ...filledRoles(table) });
  });

  it('accepts each documented choice and no other', () => {
    for (const [field, values] of choices) {
      for (const value of values) expect(read(table, { [field]: value })).toMatchObject({ [field]: value });
      for (const value of ['', 'other', 0, 999, false, {}, [values[0] ?? null]]) expectRefused(table, field, value);
      for (const value of values) if (typeof value !== 'string') expectRefused(table, field, JSON.stringify(value));
    }
  });

  it('says to leave out the quotes where the value fits without them, and nowhere else', () => {
    const advice = /Send it without quotes/;
    const typed = choices.filter(([, values]) => typeof values[0] !== 'string');
    const fitting = [
      ...typed.flatMap(([field, values]) => values.map((value) => [field, JSON.stringify(value)] as const)),
      ...whole.map(([field, [min]]) => [field, String(min)] as const),
      ...(table.flags ?? []).map((field) => [field, 'true'] as const),
    ];
    for (const [field, value] of fitting) expect(() => read(table, { [field]: value })).toThrow(advice);
    for (const field of [...choices, ...whole].map(([name]) => name))
      for (const value of ['', ' ', 'other']) expect(() => read(table, { [field]: value })).not.toThrow(advice);
  });

  it('keeps whole numbers within their bounds, both allowed', () => {
    for (const [field, [min, max]] of whole) {
      for (const value of [min, max]) expect(read(table, { [field]: value })).toMatchObject({ [field]: value });
      for (const value of [min - 1, max + 1, min + 0.5, String(min), true, [min], {}])
        expectRefused(table, field, value);
    }
  });

  it('takes flags as JSON booleans only', () => {
    for (const field of table.flags ?? []) {
      for (const value of [true, false]) expect(read(table, { [field]: value })).toMatchObject({ [field]: value });
      for (const value of ['true', 'false', 0, 1, '']) expectRefused(table, field, value);
    }
  });

  it('counts the characters of texts, whatever their script', () => {
    for (const [field, max] of Object.entries(table.texts)) {
      for (const letter of ['a', '水', '𠮷']) {
        expect(read(table, { [field]: letter.repeat(max) })).toHaveProperty(field);
        expectRefused(table, field, letter.repeat(max + 1));
      }
      for (const value of [1, true, ['text'], 'nul \0', 'half \ud800']) expectRefused(table, field, value);
    }
  });

  it('bounds the entries of lists', () => {
    const urls = (count: number) => Array.from({ length: count }, (_, index) => `${URL}-${index}`);
    for (const [field, [min, max]] of lists) {
      for (const count of [Math.max(min, 1), max]) {
        expect(read(table, { [field]: urls(count) })).toMatchObject({ [field]: urls(count) });
      }
      if (min > 0) expectRefused(table, field, []);
      for (const value of [URL, {}, 1]) expectRefused(table, field, value);
      expect(() => read(table, { [field]: urls(max + 1) })).toThrow(expect.objectContaining({ status: 400 }));
      expect(() => read(table, { [field]: ['no url'] })).toThrow(expect.objectContaining({ param: `${field}[0]` }));
    }
  });

  it('takes null for an optional field as absent', () => {
    const nulls = Object.fromEntries(Object.keys(table.defaults).map((field) => [field, null]));
    expect(read(table, nulls)).toEqual(read(table));
  });
});

const filledRoles = ({ base }: Table) =>
  base['image_with_roles'] === undefined ? {} : { image_with_roles: [{ url: URL, role: 'reference_image' }] };
