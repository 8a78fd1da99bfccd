import { nearestName, nearestNames } from './nearest-name.js';

const FIELDS = ['model', 'prompt', 'negative_prompt', 'aspect_ratio', 'image_urls', 'seed'];

describe('nearestName', () => {
  it.each([
    ['promt', 'prompt'],
    ['imageUrls', 'image_urls'],
    ['aspectRatio', 'aspect_ratio'],
    ['negative-prompt', 'negative_prompt'],
    ['Seed', 'seed'],
    ['image', 'image_urls'],
  ])('takes %s for %s', (name, expected) => {
    expect(nearestName(name, FIELDS)).toBe(expected);
  });

  it.each([['webhook_url'], ['x'], ['p'.repeat(1_000_000)]])('suggests nothing for %.20s', (name) => {
    expect(nearestName(name, FIELDS)).toBeNull();
  });

  it('puts the nearest first', () => {
    expect(nearestNames('zeta-q3-turb', ['zeta-q3-pro', 'zeta-q3', 'zeta-q3-turbo'], 2)[0]).toBe('zeta-q3-turbo');
  });

  it('puts a name that was not written to its end before those with another letter', () => {
    const [nearest] = nearestNames('beta-2.5', ['beta-2.7', 'beta-2.6', 'beta-2.5-preview'], 3);
    expect(nearest).toBe('beta-2.5-preview');
  });
});
