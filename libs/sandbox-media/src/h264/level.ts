/** What a decoder of each level must cope with (ITU-T H.264, table A-1): macroblocks in a second and in a frame. */
const LEVELS = [
  { level: 10, macroblocksPerSecond: 1_485, macroblocksPerFrame: 99 },
  { level: 11, macroblocksPerSecond: 3_000, macroblocksPerFrame: 396 },
  { level: 12, macroblocksPerSecond: 6_000, macroblocksPerFrame: 396 },
  { level: 13, macroblocksPerSecond: 11_880, macroblocksPerFrame: 396 },
  { level: 21, macroblocksPerSecond: 19_800, macroblocksPerFrame: 792 },
  { level: 22, macroblocksPerSecond: 20_250, macroblocksPerFrame: 1_620 },
  { level: 30, macroblocksPerSecond: 40_500, macroblocksPerFrame: 1_620 },
  { level: 31, macroblocksPerSecond: 108_000, macroblocksPerFrame: 3_600 },
  { level: 32, macroblocksPerSecond: 216_000, macroblocksPerFrame: 5_120 },
  { level: 40, macroblocksPerSecond: 245_760, macroblocksPerFrame: 8_192 },
  { level: 42, macroblocksPerSecond: 522_240, macroblocksPerFrame: 8_704 },
  { level: 50, macroblocksPerSecond: 589_824, macroblocksPerFrame: 22_080 },
  { level: 51, macroblocksPerSecond: 983_040, macroblocksPerFrame: 36_864 },
  { level: 52, macroblocksPerSecond: 2_073_600, macroblocksPerFrame: 36_864 },
] as const;

/**
 * The lowest level (times ten, as it is written into the stream) that allows a video of this size and speed.
 * A side may be as long as the square root of eight times the frame's macroblocks.
 *
 * @throws RangeError when not even level 5.2 (4096x2304 at 56 frames a second) allows it.
 */
export function lowestLevel(macroblocksWide: number, macroblocksHigh: number, framesPerSecond: number): number {
  const macroblocks = macroblocksWide * macroblocksHigh;
  const found = LEVELS.find(
    (candidate) =>
      macroblocks <= candidate.macroblocksPerFrame &&
      macroblocks * framesPerSecond <= candidate.macroblocksPerSecond &&
      Math.max(macroblocksWide, macroblocksHigh) <= Math.sqrt(8 * candidate.macroblocksPerFrame),
  );
  if (!found) {
    const size = `${macroblocksWide * 16}x${macroblocksHigh * 16}`;
    throw new RangeError(`${size} at ${framesPerSecond} frames a second is beyond H.264 level 5.2`);
  }
  return found.level;
}
