import type { MediaSource, TextRequest } from '#contracts';
import { atBest, jpegSample, pngSample } from '#testing';
import { loadTokenCounter, type TokenCounter } from './token-counter.js';

/** Text that a tokenizer takes quadratic time for when it is given whole: one long run of a kind, and no mercy. */
const RUNS: readonly (readonly [string, string])[] = [
  ['one letter', 'a'],
  ['letters of a language without spaces', '你好世界'],
  ['blanks', ' '],
  ['line ends', '\n'],
  ['marks', '!?=-'],
];

const asking = (text: string): TextRequest => ({
  model: 'm',
  stream: false,
  system: [],
  turns: [{ role: 'user', parts: [{ type: 'text', text }] }],
  tools: [],
  hostedTools: [],
  toolChoice: { mode: 'auto' },
  parallelToolCalls: true,
  format: { type: 'text' },
  stopSequences: [],
});

describe('The token counter', () => {
  let counter: TokenCounter;
  beforeAll(async () => {
    counter = await loadTokenCounter();
    await counter.count('Loads its tables.');
  });

  it('counts ordinary text as the vendor does', async () => {
    expect(await counter.count('Hello, world! Count me, please.')).toBe(9);
    expect(await counter.count('<|endoftext|>')).toBeGreaterThan(1);
  });

  it.each(RUNS)('takes time linear in the length of a run of %s', async (_kind, piece) => {
    const run = piece.repeat(64_000 / piece.length);
    expect(await counter.count(run)).toBeGreaterThan(0);
    // Milliseconds. In quadratic time each of them takes five seconds and more.
    expect(await atBest(5_000, () => counter.count(run))).toBeLessThan(5_000);
  });

  it('overcounts a run it had to cut by a token per cut at most', async () => {
    const words = 'international'.repeat(300);
    expect(await counter.count(words)).toBeLessThan(300 * 2 + words.length / 100);
  });

  it('lets other work run while it counts a long request', async () => {
    let turns = 0;
    const other = setInterval(() => (turns += 1), 0);
    await counter.countRequest(asking('Many words make a long prompt. '.repeat(20_000)));
    clearInterval(other);
    expect(turns).toBeGreaterThan(3);
  });

  const showing = (...sources: MediaSource[]): TextRequest => ({
    ...asking('x'),
    turns: [{ role: 'user', parts: sources.map((source) => ({ type: 'image', source })) }],
  });
  const inline = (file: Buffer, mediaType = 'image/png'): MediaSource => ({
    kind: 'inline',
    mediaType,
    base64: file.toString('base64'),
  });
  const url: MediaSource = { kind: 'url', url: 'https://a.example/b.png' };

  it('counts the images of a request apart', async () => {
    expect((await counter.countRequest(showing(url, url))).imageTokens).toBe(1_530);
  });

  it.each([
    ['a small one', 64, 64, 255],
    ['one of 1024 x 1024', 1_024, 1_024, 765],
    ['a tall one', 1_024, 3_000, 1_445],
    ['a large one, as it is once made smaller', 6_000, 6_000, 765],
    ['a strip', 8_000, 100, 765],
  ])('counts an inline image by its resolution: %s', async (_case, width, height, tokens) => {
    const large = Buffer.concat([pngSample({ width, height }), Buffer.alloc(400_000)]);
    const images = showing(inline(jpegSample({ width, height }), 'image/jpeg'), inline(large));
    expect((await counter.countRequest(images)).imageTokens).toBe(2 * tokens);
  });

  it('counts an image that it cannot read as one of 1024 x 1024', async () => {
    expect((await counter.countRequest(showing(inline(Buffer.from('no image'))))).imageTokens).toBe(765);
  });
});
