import { dashscopeVideoCodec } from '../dashscope/dashscope-video.codec.js';
import { falCodec } from '../fal/fal.codec.js';
import { klingCodec } from '../kling/kling.codec.js';
import { minimaxCodec } from '../minimax/minimax.codec.js';
import { orderOfBody } from '../testing/sample-requests.js';

describe('the longest text that a vendor takes', () => {
  const DELTA = { model: 'delta-v2-6', prompt: 'x' };
  it.each([
    ['Wan 2.5', dashscopeVideoCodec, { model: 'beta-2.5-preview' }, 'prompt', 1_500],
    ['Wan 2.5', dashscopeVideoCodec, { model: 'beta-2.5-preview', prompt: 'x' }, 'negative_prompt', 500],
    ['Kling', klingCodec, DELTA, 'negative_prompt', 2_500],
    ['Hailuo', minimaxCodec, { model: 'epsilon-2.3' }, 'prompt', 2_000],
    ['Wan 2.5 at fal', falCodec, { model: 'beta-2.5-preview' }, 'prompt', 1_500],
    ['Wan 2.7 at fal', falCodec, { model: 'beta-2.7', prompt: 'x' }, 'negative_prompt', 500],
  ] as const)('is counted in characters as callers count them: %s', (_, codec, body, field, most) => {
    const write = (characters: number) => {
      const order = orderOfBody({ ...body, [field]: '🎬'.repeat(characters) });
      return codec.writeStart(order, { upstream: 'u', model: codec.models.get(body.model) ?? '', taskId: 't' }, String);
    };
    expect(JSON.stringify(write(most))).toContain('🎬');
    expect(() => write(most + 1)).toThrow();
  });
});
