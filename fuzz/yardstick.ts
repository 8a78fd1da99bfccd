import { busySoFarMs } from '#testing';

const OBJECTS = '[' + '{"a":1},'.repeat((4 * 1024 * 1024) / 8) + '0]';
const TIMES = 3;

/**
 * What this machine takes at the moment to parse 4 MiB of small objects at once, in milliseconds of work: some 100 on the
 * machine that the bar of 50 ms is for. Stops that are set against it mean the same on a slow machine with busy neighbours.
 */
export const yardstickMs = (): number => quickestMs(() => JSON.parse(OBJECTS));

/**
 * The same for a body of `bytes` that is a single text: what the machine takes to decode so long a text in one piece, or to put it
 * together in memory that is used for the first time, which some virtual machines take longer for.
 */
export const longTextYardstickMs = (bytes: number): number => {
  const text = Buffer.alloc(bytes, '中文');
  return Math.max(
    yardstickMs(),
    quickestMs(() => text.toString('utf8')),
    quickestMs(() => Buffer.allocUnsafeSlow(bytes).fill(1)),
  );
};

function quickestMs(work: () => unknown): number {
  const took = Array.from({ length: TIMES }, () => {
    const from = busySoFarMs();
    work();
    return busySoFarMs() - from;
  });
  return Math.min(...took);
}
