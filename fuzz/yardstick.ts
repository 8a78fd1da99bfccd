import { busySoFarMs } from './event-loop-stops.js';

const OBJECTS = '[' + '{"a":1},'.repeat((4 * 1024 * 1024) / 8) + '0]';
const TIMES = 3;

/**
 * What this machine takes at the moment to parse 4 MiB of small objects at once, in milliseconds of work: some 100 on the
 * machine that the bar of 50 ms is for. Stops that are set against it mean the same on a slow machine with busy neighbours.
 */
export const yardstickMs = (): number => quickestMs(() => JSON.parse(OBJECTS));

/**
 * The same for a body of `bytes` that is a single text. The text is put together in memory that is used for the first time, all
 * at once, which some virtual machines take longer for than for parsing.
 */
export const longTextYardstickMs = (bytes: number): number =>
  Math.max(
    yardstickMs(),
    quickestMs(() => Buffer.allocUnsafeSlow(bytes).fill(1)),
  );

function quickestMs(work: () => unknown): number {
  const took = Array.from({ length: TIMES }, () => {
    const from = busySoFarMs();
    work();
    return busySoFarMs() - from;
  });
  return Math.min(...took);
}
