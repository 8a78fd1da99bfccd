import { banner, type BannerFacts } from './banner.js';

const shown = (facts: Partial<BannerFacts>): string =>
  banner({
    baseUrl: 'http://127.0.0.1:3000',
    console: 'http://127.0.0.1:3000/console/',
    firstKey: { key: 'sk-gw-1', prefix: 'sk-gw-1', isChosen: false },
    newAdminToken: null,
    embedded: false,
    dataDirectory: '.data',
    textMakers: ['sandbox'],
    mediaMakers: ['sandbox'],
    ...facts,
  });

describe('The banner', () => {
  it('gives lines to paste for an image and a video while the sandbox makes them', () => {
    expect(shown({})).toContain('Models     made by the built-in sandbox: real files, not real models');
    expect(shown({})).toContain('/v1/images/generations');
  });

  it('names the upstreams of images and videos, and gives no line for a model that they may not make', () => {
    const told = shown({ textMakers: ['vendor-a'], mediaMakers: ['ark-sg', 'fal'] });
    expect(told).toContain('Models     texts by vendor-a; images and videos by ark-sg, fal');
    expect(told).not.toContain('sandbox');
    expect(told).not.toContain('generations');
    expect(told).toContain('/v1/models -H "Authorization: Bearer sk-gw-1"');
  });

  it('says that nothing is for sale where the sandbox may not sell and no upstream is configured', () => {
    const told = shown({ textMakers: [], mediaMakers: [] });
    expect(told).toContain('Models     none yet: ');
    expect(told).toContain('UPSTREAMS_FILE');
    expect(told).toContain('SANDBOX_SELLS=true');
    expect(told).not.toContain('generations');
  });

  it('tells apart who makes texts and who makes images and videos', () => {
    expect(shown({ textMakers: ['vendor-a'] })).toContain(
      'texts by vendor-a; images and videos by the built-in sandbox: real files, not real models',
    );
    expect(shown({ textMakers: ['vendor-a'], mediaMakers: [] })).toContain(
      'texts by vendor-a; images and videos by nobody yet',
    );
  });
});
