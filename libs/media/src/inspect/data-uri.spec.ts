import { randomBytes } from 'node:crypto';
import { decodeDataUri, isDataUri } from './data-uri.js';

const RULES = { formats: ['png', 'jpeg'], maxBytes: 300 } as const;
const dataUri = (bytes: Buffer, type = 'image/png'): string => `data:${type};base64,${bytes.toString('base64')}`;

describe('decoding a data URI', () => {
  it.each([1, 2, 3, 299, 300])('gives back exactly the %d bytes that were encoded', async (length) => {
    const bytes = Buffer.alloc(length, 0xa7);
    expect(await decodeDataUri(dataUri(bytes), RULES)).toEqual({ format: 'png', bytes });
  });

  it.each([
    ['image/jpeg', 'jpeg'],
    ['image/jpg', 'jpeg'],
    ['IMAGE/PNG', 'png'],
  ])('takes the type %s as %s', async (type, format) => {
    expect(await decodeDataUri(dataUri(Buffer.from('x'), type), RULES)).toMatchObject({ format });
  });

  it('refuses more bytes than allowed before it decodes them', async () => {
    await expect(decodeDataUri(dataUri(Buffer.alloc(301)), RULES)).rejects.toThrow(
      expect.objectContaining({ code: 'too_large', message: 'has 301 bytes' }),
    );
  });

  it.each([
    ['image/gif', 'unsupported'],
    ['image/svg+xml', 'unsupported'],
    ['text/html', 'unsupported'],
    ['constructor/x', 'unsupported'],
  ])('refuses the type %s', async (type, code) => {
    await expect(decodeDataUri(dataUri(Buffer.from('x'), type), RULES)).rejects.toThrow(
      expect.objectContaining({ code }),
    );
  });

  it.each([
    ['no base64', 'data:image/png,abcd'],
    ['parameters', 'data:image/png;charset=utf-8;base64,AAAA'],
    ['no comma', 'data:image/png;base64'],
    ['no data', 'data:image/png;base64,'],
    ['no padding', 'data:image/png;base64,AAA'],
    ['padding in the middle', 'data:image/png;base64,AA==AAAA'],
    ['a space', 'data:image/png;base64,AAAA AAA'],
    ['a line break', 'data:image/png;base64,AAAA\nAAA'],
    ['a stray character', 'data:image/png;base64,AA*A'],
    ['the URL alphabet', 'data:image/png;base64,A-_A'],
    ['nothing at all', ''],
    ['only padding', 'data:image/png;base64,===='],
  ])('refuses %s', async (_case, text) => {
    await expect(decodeDataUri(text, RULES)).rejects.toThrow(expect.objectContaining({ code: 'bad_data_uri' }));
  });

  it('decodes a long one in pieces to the same bytes', async () => {
    const bytes = randomBytes(1_000_001);
    const decoded = await decodeDataUri(dataUri(bytes), { ...RULES, maxBytes: bytes.length });
    expect(decoded.bytes.equals(bytes)).toBe(true);
  });

  it('is offered for every text that claims to be one', () => {
    expect(['data:x', 'DATA:x', 'https://x', '', 'dat'].map(isDataUri)).toEqual([true, true, false, false, false]);
  });
});
