import { PieceCount } from './stream-limits.js';

const EIGHT_IN_ALL = { leastBytes: 8, withinMs: Number.POSITIVE_INFINITY };

describe('Pieces of a body are too many', () => {
  /** How many of these were taken; undefined where all were. */
  const takenOf = (
    lengths: Iterable<number>,
    ...bounds: ConstructorParameters<typeof PieceCount>
  ): number | undefined => {
    const pieces = new PieceCount(...bounds);
    let count = 0;
    for (const length of lengths) {
      if (pieces.isTooMany(Buffer.alloc(length))) return count;
      count += 1;
    }
    return undefined;
  };
  const times = (count: number, length: number): number[] => Array.from({ length: count }, () => length);

  it('when there are very many, and very short ones on the average', () => {
    expect(takenOf(times(10_000, 1))).toBe(4_096);
    expect(takenOf(times(10_000, 31))).toBe(4_096);
    expect(takenOf(times(10_000, 7), EIGHT_IN_ALL)).toBe(4_096);
  });

  it('not when they are longer on the average, or few', () => {
    expect(takenOf(times(10_000, 32))).toBeUndefined();
    expect(takenOf(times(10_000, 8), EIGHT_IN_ALL)).toBeUndefined();
    expect(takenOf(times(4_096, 1))).toBeUndefined();
    expect(takenOf([200_000, ...times(6_000, 1)])).toBeUndefined();
  });

  it('not when they come one after the other over a long time, but when many come at once after that', () => {
    let nowMs = 0;
    const everyMillisecond = new PieceCount(undefined, () => nowMs);
    for (nowMs = 0; nowMs < 20_000; nowMs += 1) expect(everyMillisecond.isTooMany(Buffer.alloc(1))).toBe(false);
    nowMs = 0;
    const atLast = new PieceCount(undefined, () => nowMs);
    for (let piece = 0; piece < 4_000; piece += 1) atLast.isTooMany(Buffer.alloc(1));
    nowMs = 3_600_000;
    expect(times(10_000, 1).findIndex((length) => atLast.isTooMany(Buffer.alloc(length)))).toBeLessThan(8_192);
    expect(times(10_000, 1).some((length) => atLast.isTooMany(Buffer.alloc(length)))).toBe(true);
  });
});
