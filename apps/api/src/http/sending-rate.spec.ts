import { MOST_BYTES_PER_SECOND, SharedPace } from './sending-rate.js';

const MIB = 1024 * 1024;

/** How long an account takes that sends so many mebibytes, each when it may, in milliseconds. */
function timeToSend(mebibytes: number, accountOf: (nth: number) => string): number {
  let now = 5_000;
  const pace = new SharedPace(() => now);
  const began = now;
  for (let nth = 0; nth < mebibytes; nth += 1) now += pace.delayMs(accountOf(nth), MIB);
  return now - began;
}

describe('The pace of uploads', () => {
  it('lets those of an account come at a rate, after what comes at once', () => {
    expect(timeToSend(64, () => 'ann')).toBe(0);
    expect(timeToSend(64 + 320, () => 'ann')).toBeCloseTo((320 * MIB * 1_000) / MOST_BYTES_PER_SECOND, 0);
  });

  it('is counted for each account apart, also where there are thousands', () => {
    expect(timeToSend(1_200, (nth) => `account ${nth % 24}`)).toBe(0);
    expect(timeToSend(3_000, (nth) => `account ${nth}`)).toBe(0);
  });
});
