import { nearestName, nearestNames } from './nearest-name.js';

const FIELDS = ['model', 'prompt', 'negative_prompt', 'aspect_ratio', 'image_urls', 'seed'];

describe('nearestName', () => {
  it.each([
    ['promt', 'prompt'],
    ['imageUrls', 'image_urls'],
    ['aspectRatio', 'aspect_ratio'],
    ['negative-prompt', 'negative_prompt'],
    ['Seed', 'seed'],
  ])('takes %s for %s', (name, expected) => {
    expect(nearestName(name, FIELDS)).toBe(expected);
  });

  it.each([['webhook_url'], ['x'], ['p'.repeat(1_000_000)]])('suggests nothing for %.20s', (name) => {
    expect(nearestName(name, FIELDS)).toBeNull();
  });

  it('puts the nearest first', () => {
    expect(nearestNames('zeta-q3-turb', ['zeta-q3-pro', 'zeta-q3', 'zeta-q3-turbo'], 2)[0]).toBe('zeta-q3-turbo');
  });
});
