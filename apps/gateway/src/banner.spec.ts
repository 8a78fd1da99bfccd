import { banner, type BannerFacts } from './banner.js';

const shown = (facts: Partial<BannerFacts>): string =>
  banner({
    baseUrl: 'http://127.0.0.1:3000',
    console: 'http://127.0.0.1:3000/console/',
    firstKey: { key: 'sk-gw-1', prefix: 'sk-gw-1', isChosen: false },
    newAdminToken: null,
    embedded: false,
    dataDirectory: '.data',
    textUpstreams: ['sandbox'],
    mediaUpstreams: ['sandbox'],
    ...facts,
  });

describe('The banner', () => {
  it('shows example commands for an image and a video while the sandbox makes them', () => {
    expect(shown({})).toContain('Models     made by the built-in sandbox: real files, not real models');
    expect(shown({})).toContain('/v1/images/generations');
  });

  it('names the upstreams of images and videos, and shows no example for a model that they may not make', () => {
    const banner = shown({ textUpstreams: ['vendor-a'], mediaUpstreams: ['ark-sg', 'fal'] });
    expect(banner).toContain('Models     texts by vendor-a; images and videos by ark-sg, fal');
    expect(banner).not.toContain('sandbox');
    expect(banner).not.toContain('generations');
    expect(banner).toContain('/v1/models -H "Authorization: Bearer sk-gw-1"');
  });

  it('says that nothing is for sale where the sandbox may not sell and no upstream is configured', () => {
    const banner = shown({ textUpstreams: [], mediaUpstreams: [] });
    expect(banner).toContain('Models     none yet: ');
    expect(banner).toContain('UPSTREAMS_FILE');
    expect(banner).toContain('SANDBOX_BILLING_ENABLED=true');
    expect(banner).not.toContain('generations');
  });

  it('lists the vendors of texts apart from those of images and videos', () => {
    expect(shown({ textUpstreams: ['vendor-a'] })).toContain(
      'texts by vendor-a; images and videos by the built-in sandbox: real files, not real models',
    );
    expect(shown({ textUpstreams: ['vendor-a'], mediaUpstreams: [] })).toContain(
      'texts by vendor-a; images and videos by no vendor yet',
    );
  });
});
