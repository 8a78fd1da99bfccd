import type { TextRequest } from '#contracts';
import { atBest } from '#testing';
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
    counter.count('Loads its tables.');
  });

  it('counts ordinary text as the vendor does', () => {
    expect(counter.count('Hello, world! Count me, please.')).toBe(9);
    expect(counter.count('<|endoftext|>')).toBeGreaterThan(1);
  });

  it.each(RUNS)('takes time linear in the length of a run of %s', async (_kind, piece) => {
    const run = piece.repeat(64_000 / piece.length);
    expect(counter.count(run)).toBeGreaterThan(0);
    // Milliseconds. In quadratic time each of them takes five seconds and more.
    expect(await atBest(5_000, () => counter.count(run))).toBeLessThan(5_000);
  });

  it('overcounts a run it had to cut by a token per cut at most', () => {
    const words = 'international'.repeat(300);
    expect(counter.count(words)).toBeLessThan(300 * 2 + words.length / 100);
  });

  it('lets other work run while it counts a long request', async () => {
    let turns = 0;
    const other = setInterval(() => (turns += 1), 0);
    await counter.countRequest(asking('Many words make a long prompt. '.repeat(20_000)));
    clearInterval(other);
    expect(turns).toBeGreaterThan(3);
  });

  it('counts the images of a request apart', async () => {
    const image = { type: 'image', source: { kind: 'url', url: 'https://a.example/b.png' } } as const;
    const request = { ...asking('x'), turns: [{ role: 'user' as const, parts: [image, image] }] };
    expect((await counter.countRequest(request)).imageTokens).toBe(1_530);
  });
});
