import { readdirSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  atBest,
  videoSample,
  gifSample,
  id3Sample,
  jpegSample,
  mp3Sample,
  pngSample,
  wavSample,
  webpSample,
} from '#testing';
import { BufferSource } from './byte-source.js';
import { inspectMedia } from './inspect-media.js';
import { MediaUnreadable } from './media-unreadable.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** `MUTATED_FILES=100000` for the long form. */
const INPUTS = Number(process.env['MUTATED_FILES'] ?? 30_000);
const SLOWEST_MS = 2_000;
const MOST_MEMORY_BYTES = 50 * 1024 * 1024;

/** A generator of pseudo-random numbers from 0 up to but without 1 (mulberry32), so that a failure can be repeated. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Numbers at which readers break: zero, one, signs, the ends of each width. */
const EDGES = [0, 1, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_ffff];

const folder = new URL('fixtures/', import.meta.url);
const SEEDS: readonly Buffer[] = [
  ...readdirSync(folder).map((name) => readFileSync(new URL(name, folder))),
  pngSample({ width: 10, height: 10 }),
  gifSample({ width: 10, height: 10 }),
  webpSample({ width: 10, height: 10 }),
  jpegSample({ width: 10, height: 10, orientation: 6 }),
  videoSample(),
  wavSample({ soundBytes: 100 }),
  mp3Sample([32, 64, 32, 320]),
  Buffer.concat([id3Sample(50), mp3Sample([32, 32])]),
];

/** A seed with a few bytes changed, numbers replaced by edges, parts repeated or its end cut off. */
function mutated(random: () => number): Buffer {
  const pick = (count: number): number => Math.floor(random() * count);
  const file = Buffer.from(SEEDS[pick(SEEDS.length)] ?? Buffer.alloc(0));
  // Most structure is at the front, and for videos at the end.
  const place = (): number => (random() < 0.7 ? pick(Math.min(file.length, 1_500)) : pick(file.length));
  for (let changes = 1 + pick(6); changes > 0; changes -= 1) {
    const offset = place();
    const kind = pick(4);
    if (kind === 0) file[offset] = pick(256);
    else if (kind === 1) file.writeUInt32BE(EDGES[pick(EDGES.length)] ?? 0, Math.min(offset, file.length - 4));
    else if (kind === 2) file.writeUInt16LE(pick(65_536), Math.min(offset, file.length - 2));
    else file.copy(file, place(), offset, offset + pick(64));
  }
  return random() < 0.2 ? file.subarray(0, 1 + pick(file.length)) : file;
}

/** Whether one file was measured; anything but a measurement or a refusal is thrown on. */
async function isMeasured(file: Buffer): Promise<boolean> {
  return inspectMedia(new BufferSource(file)).then(
    () => true,
    (error: unknown) => {
      if (error instanceof MediaUnreadable) return false;
      throw new Error(`unexpected failure on ${file.toString('base64')}`, { cause: error });
    },
  );
}

/** What is left after the garbage is collected, in bytes: how much waits for that depends on the machine. */
function memoryInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('the header reader under mutated files', () => {
  it(`takes ${INPUTS} of them without a crash, a hang or growing memory`, async () => {
    const random = randomNumbers(20_261_120);
    const before = memoryInUse();
    let [measured, slowestMs] = [0, 0];
    for (let input = 0; input < INPUTS; input += 1) {
      const file = mutated(random);
      let wasMeasured = false;
      const elapsedMs = await atBest(SLOWEST_MS, async () => {
        wasMeasured = await isMeasured(file);
      });
      if (wasMeasured) measured += 1;
      slowestMs = Math.max(slowestMs, elapsedMs);
    }
    expect(slowestMs).toBeLessThan(SLOWEST_MS);
    expect(memoryInUse() - before).toBeLessThan(MOST_MEMORY_BYTES);
    // Both outcomes must be common, or the mutations would test nothing.
    expect(measured).toBeGreaterThan(INPUTS * 0.1);
    expect(measured).toBeLessThan(INPUTS * 0.9);
  });
});
