import { BLACK, LIGHT_GREY, WHITE, YELLOW } from './canvas.js';
import { readLabel, readPng } from './testing/read-png.js';
import render from './render.js';
import { SANDBOX_LABEL, type SceneDescription } from './render-request.js';

const SCENE: SceneDescription = {
  model: 'eta-image-2.0',
  prompt: 'A lighthouse',
  seed: 42,
  index: 0,
  count: 1,
  width: 1024,
  height: 1024,
  watermark: false,
  facts: ['text-to-image', 'resolution: 1K'],
};
const image = (change: Partial<SceneDescription> = {}) =>
  readPng(render({ kind: 'image', scene: { ...SCENE, ...change } }));

/** The sizes of eta and theta, and of kappa. */
const SIZES = `
  1024x1024 1152x864 864x1152 1280x720 720x1280 1248x832 832x1248
  2048x2048 2048x1536 1536x2048 2048x1152 1152x2048 2048x1360 1360x2048
  2560x1440 4096x4096 5404x3040
`
  .trim()
  .split(/\s+/);

describe('a sandbox image', () => {
  it.each(SIZES)('is a valid PNG of exactly %s pixels', (size) => {
    const [width = 0, height = 0] = size.split('x').map(Number);
    const decoded = image({ width, height });
    expect([decoded.width, decoded.height]).toEqual([width, height]);
    expect(decoded.indexes).toHaveLength(width * height);
  });

  it.each([
    { width: 480, height: 832, scale: 1 },
    { width: 1024, height: 1024, scale: 2 },
    { width: 2048, height: 1152, scale: 4 },
  ])(
    'says in its pixels and its metadata that it is no model’s work ($width x $height)',
    ({ width, height, scale }) => {
      const decoded = image({ width, height });
      expect(readLabel(decoded, { x: 16 * scale, y: 8 * scale, scale, colour: YELLOW })).toBe(SANDBOX_LABEL);
      expect(decoded.texts.get('Title')).toBe(SANDBOX_LABEL);
      expect(decoded.texts.get('Comment')).toBe(`${SANDBOX_LABEL}; model eta-image-2.0, seed 42`);
    },
  );

  it('shows the prompt, and what was asked for', () => {
    const decoded = image({ index: 1, count: 3 });
    const line = (y: number, colour: readonly number[]) => readLabel(decoded, { x: 32, y, scale: 2, colour });
    expect(line(96, WHITE)).toBe('A lighthouse');
    expect(line(1024 - 160, LIGHT_GREY)).toBe('eta-image-2.0 1024x1024 seed 42, 2 of 3');
    expect(line(1024 - 128, LIGHT_GREY)).toBe('text-to-image');
    expect(line(1024 - 96, LIGHT_GREY)).toBe('resolution: 1K');
  });

  it('keeps the whole prompt of any script in its metadata', () => {
    expect(image({ prompt: '屋顶上的猫 😀' }).texts.get('Description')).toBe('屋顶上的猫 😀');
  });

  it('has a watermark in the lower right corner only when one was ordered', () => {
    const corner = { x: 1000, y: 935 };
    expect(image({ watermark: true }).colourAt(corner.x, corner.y)).toEqual(BLACK);
    expect(image({ watermark: false }).colourAt(corner.x, corner.y)).not.toEqual(BLACK);
    const label = { x: 1024 - 16 - 32 - 12 * 16 + 16, y: 936, scale: 2, colour: WHITE };
    expect(readLabel(image({ watermark: true }), label)).toBe('AI generated');
  });

  it('is the same for the same request, byte for byte', () => {
    expect(render({ kind: 'image', scene: SCENE })).toEqual(render({ kind: 'image', scene: { ...SCENE } }));
  });

  it.each<[string, Partial<SceneDescription>]>([
    ['prompt', { prompt: 'A windmill' }],
    ['seed', { seed: 43 }],
    ['place among several', { index: 1 }],
    ['model', { model: 'eta-image-2.0-pro' }],
  ])('has another background when the %s differs', (_difference, change) => {
    const background = (decoded: ReturnType<typeof readPng>) =>
      Array.from({ length: 32 }, (_, index) => decoded.colourAt(index * 32, 512));
    expect(background(image(change))).not.toEqual(background(image()));
  });

  it('cuts a prompt that has no room and marks the cut, however long it is', () => {
    const decoded = image({ width: 240, height: 240, prompt: '屋'.repeat(5000) });
    expect([decoded.width, decoded.height]).toEqual([240, 240]);
  });
});
