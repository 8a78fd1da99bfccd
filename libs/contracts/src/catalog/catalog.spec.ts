import { CATALOG, familiesAt, familyOf, IMAGE_FAMILIES, MODEL_IDS, VIDEO_FAMILIES } from './catalog.js';
import type { ModelFamily } from './model-family.js';
import { readModelRequest } from './read-model-request.js';

/** The models of a document that the catalogue has, in its order; others may be between them. */
const known = (listed: readonly string[]): string[] => MODEL_IDS.filter((id) => listed.includes(id));

describe('the catalogue', () => {
  it('holds every video model, in order', () => {
    const listed = [
      'alpha-2.0',
      'alpha-2.0-fast',
      'alpha-2.0-face',
      'alpha-2.0-fast-face',
      'beta-2.7',
      'beta-2.7-r2v',
      'gamma-3.1-fast-official',
      'gamma-3.1-quality-official',
      'beta-2.5-preview',
      'beta-2.6',
      'delta-v2-6',
      'epsilon-2.3',
      'epsilon-2.3-Fast',
      'epsilon-02',
      'zeta-q3-pro',
      'zeta-q3-turbo',
      'zeta-q3',
      'zeta-q3-mix',
    ];
    expect(known(listed)).toEqual(listed);
  });

  it('holds every image model, in order', () => {
    const listed = [
      'eta-image-2.0',
      'eta-image-2.0-pro',
      'theta-image-turbo',
      'iota-1.0-reseller',
      'iota-1.0-edit-reseller',
      'kappa-a-4-0',
      'kappa-b-4.0',
      'kappa-b-4-0',
      'Kappa-B-4.0',
    ];
    expect(known(listed)).toEqual(listed);
  });

  it('knows each model and each family once', () => {
    expect(new Set(MODEL_IDS).size).toBe(MODEL_IDS.length);
    expect(new Set(CATALOG.map(({ id }) => id)).size).toBe(CATALOG.length);
    for (const model of MODEL_IDS) expect(familyOf(model)?.models).toContain(model);
    expect(familyOf('no-such-model')).toBeUndefined();
  });

  it('serves edits by one family and the other paths by many', () => {
    expect(familiesAt('/v1/images/edits').map(({ id }) => id)).toEqual(['iota-edit']);
    expect(familiesAt('/v1/images/generations')).toEqual(IMAGE_FAMILIES.filter(({ id }) => id !== 'iota-edit'));
    expect(familiesAt('/v1/videos/generations')).toEqual(VIDEO_FAMILIES);
  });

  it('keeps all results but those of iota and kappa, whose links live for a day', () => {
    const mortal = CATALOG.filter(({ resultTtlSeconds }) => resultTtlSeconds !== null);
    expect(mortal.map(({ id, resultTtlSeconds }) => [id, resultTtlSeconds])).toEqual([
      ['iota', 86_400],
      ['iota-edit', 86_400],
      ['kappa', 86_400],
    ]);
  });

  it.each(CATALOG.map((family: ModelFamily) => [family.id, family] as const))(
    'shows an example of %s that it accepts without a notice',
    (_id, family) => {
      expect(readModelRequest(family.path, family.example)).toMatchObject({ family: family.id, notices: [] });
    },
  );
});
