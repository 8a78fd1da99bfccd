import type { MediaLimits, MediaReference } from '#contracts';
import { pngSample } from '#testing';
import { checkInlineReferences } from './check-references.js';

const MEBIBYTE = 1024 * 1024;
const IMAGE: MediaLimits = { formats: ['png', 'jpeg'], maxBytes: MEBIBYTE, minSidePixels: 128 };
const GOOD_IMAGE = pngSample({ width: 640, height: 480 });

const inline = (bytes: Buffer, type = 'image/png'): string => `data:${type};base64,${bytes.toString('base64')}`;

const reference = (source: string, limits = IMAGE, param = 'image_urls[0]'): MediaReference => ({
  param,
  medium: 'image',
  role: 'reference',
  source,
  limits,
});

const refusal = (rule: string) => ({
  code: 'invalid_media',
  param: 'image_urls[0]',
  publicMessage: `image_urls[0]: ${rule}`,
});

describe('checking inline references', () => {
  it('measures data URIs and leaves remote files alone', async () => {
    const references = [reference(inline(GOOD_IMAGE)), reference('http://127.0.0.1/never.png', IMAGE, 'image_urls[1]')];
    expect(await checkInlineReferences(references)).toMatchObject([
      { param: 'image_urls[0]', bytes: GOOD_IMAGE.length },
    ]);
  });

  it.each([
    [
      'declared as another type',
      inline(GOOD_IMAGE, 'image/jpeg'),
      'the data URI is declared as jpeg, but its bytes are png.',
    ],
    [
      'of a type that is not allowed',
      inline(GOOD_IMAGE, 'image/gif'),
      'the file is declared as image/gif; it must be an image (png or jpeg).',
    ],
    [
      'of no known type',
      inline(Buffer.from('just words, not an image')),
      'the file is of a type that is not known; it must be an image (png or jpeg).',
    ],
    [
      'too small',
      inline(pngSample({ width: 100, height: 700 })),
      'the image is 100x700 pixels; each side must be at least 128.',
    ],
    ['too large', inline(Buffer.alloc(MEBIBYTE + 1)), 'the file has 1048577 bytes; at most 1 MB are allowed.'],
    ['not base64', 'data:image/png;base64,@@@@', 'the file is not valid base64 after the comma.'],
  ])('refuses one %s', async (_case, source, rule) => {
    await expect(checkInlineReferences([reference(source)])).rejects.toMatchObject(refusal(rule));
  });

  it('takes an image of exactly the largest size, and refuses one byte more', async () => {
    const large = Buffer.concat([GOOD_IMAGE, Buffer.alloc(20 * MEBIBYTE - GOOD_IMAGE.length)]);
    const source = inline(large);
    const limited = (maxBytes: number) => [{ ...reference(source), limits: { ...IMAGE, maxBytes } }];
    await expect(checkInlineReferences(limited(20 * MEBIBYTE))).resolves.toMatchObject([{ bytes: 20 * MEBIBYTE }]);
    await expect(checkInlineReferences(limited(20 * MEBIBYTE - 1))).rejects.toThrow('image_urls');
  });
});

describe('several broken data URIs', () => {
  it('are all listed, the first one in the message', async () => {
    const references = [
      reference('data:x'),
      reference(inline(GOOD_IMAGE)),
      reference('data:y', IMAGE, 'image_urls[2]'),
    ];
    await expect(checkInlineReferences(references)).rejects.toMatchObject({
      param: 'image_urls[0]',
      details: [{ param: 'image_urls[0]' }, { param: 'image_urls[2]', code: 'invalid_media' }],
    });
  });
});
