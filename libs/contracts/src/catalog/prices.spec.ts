import { CATALOG, MODEL_IDS } from './catalog.js';
import type { ModelFamily } from './model-family.js';
import { EXAMPLE_PRICES } from './prices.js';

const BOOK: Readonly<Record<string, Readonly<Record<string, bigint>>>> = EXAMPLE_PRICES;

describe('the example price book', () => {
  it('prices every model', () => {
    expect(Object.keys(BOOK).sort()).toEqual([...MODEL_IDS].sort());
  });

  it.each(CATALOG.flatMap((family: ModelFamily) => family.models.map((model) => [model, family] as const)))(
    'prices exactly the variants %s is sold in',
    (model, family) => {
      expect(Object.keys(BOOK[model] ?? {}).sort()).toEqual([...(family.variants[model] ?? [])].sort());
      expect(Object.values(BOOK[model] ?? {}).every((amount) => amount > 0n)).toBe(true);
    },
  );

  it('charges more for beta-2.5-preview the higher its resolution', () => {
    const price = EXAMPLE_PRICES['beta-2.5-preview'];
    expect(price['1080p'] > price['720p'] && price['720p'] > price['480p']).toBe(true);
  });

  it('charges more for a rewritten theta prompt', () => {
    const price = EXAMPLE_PRICES['theta-image-turbo'];
    expect(price.prompt_extend > price.default).toBe(true);
  });
});
