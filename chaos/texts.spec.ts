import { tmpdir } from 'node:os';
import { sharedBundle } from '#testing';
import { PROGRAM } from './fleet.js';
import { logFileOf } from './open-ground.js';
import { endUnderTexts, openTexts, type TextGround } from './texts.js';

/** Each style and form twice at each API; the long form is `npm run chaos -- texts`. */
const TEXTS = 32;

describe('An API that ends in the middle of streams and whole replies in each style', () => {
  let ground: TextGround;
  beforeAll(async () => {
    ground = await openTexts(logFileOf(tmpdir(), 'texts'), await sharedBundle(PROGRAM));
  });
  afterAll(() => ground.close(), 30_000);

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'by %s charges what was delivered once, and leaves nothing held',
    async (signal) => {
      const { failures } = await endUnderTexts(ground, signal, TEXTS);
      expect(failures).toEqual([]);
    },
    200_000,
  );
});
