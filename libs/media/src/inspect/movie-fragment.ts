import { type Box, BoxFields, childBoxes, findBox } from './iso-boxes.js';
import type { MovieHeader } from './movie-header.js';
import { joined, NO_TIME, type TimeSpan } from './time-span.js';

/** Flags of `tfhd`: which optional fields come before the default sample length, and whether that is there. */
const HEADER_HAS_DATA_OFFSET = 0x01;
const HEADER_HAS_DESCRIPTION = 0x02;
const HEADER_HAS_DURATION = 0x08;

/** Flags of `trun`: which optional fields it and each of its samples have. */
const RUN_HAS_DATA_OFFSET = 0x001;
const RUN_HAS_FIRST_FLAGS = 0x004;
const RUN_HAS_DURATIONS = 0x100;
const RUN_SAMPLE_FIELDS = [RUN_HAS_DURATIONS, 0x200, 0x400, 0x800];

/** The time that the samples of a fragment cover: the content of a `moof` box. */
export function fragmentTime(fragment: Buffer, movie: MovieHeader): TimeSpan {
  let time = NO_TIME;
  for (const box of childBoxes(fragment, { start: 0, end: fragment.length }))
    if (box.type === 'traf') time = joined(time, trackFragmentTime(fragment, box, movie));
  return time;
}

function trackFragmentTime(fragment: Buffer, box: Box, movie: MovieHeader): TimeSpan {
  const headerBox = findBox(fragment, box, 'tfhd');
  if (!headerBox) return NO_TIME;
  const header = new BoxFields(fragment, headerBox);
  const trackId = header.long(4);
  const track = movie.tracks.find(({ id }) => id === trackId);
  if (!track || track.timescale === 0) return NO_TIME;
  const defaultDuration = headerDuration(header) ?? movie.defaultSampleDurations.get(trackId) ?? 0;
  const start = startTime(fragment, box);
  let end = start;
  for (const child of childBoxes(fragment, box))
    if (child.type === 'trun') end += runDuration(new BoxFields(fragment, child), defaultDuration);
  return { start: start / track.timescale, end: end / track.timescale };
}

function headerDuration(header: BoxFields): number | undefined {
  if ((header.flags & HEADER_HAS_DURATION) === 0) return undefined;
  const offset = 8 + (header.flags & HEADER_HAS_DATA_OFFSET ? 8 : 0) + (header.flags & HEADER_HAS_DESCRIPTION ? 4 : 0);
  return header.long(offset);
}

function startTime(fragment: Buffer, box: Box): number {
  const timeBox = findBox(fragment, box, 'tfdt');
  if (!timeBox) return 0;
  const fields = new BoxFields(fragment, timeBox);
  return fields.version === 1 ? fields.longLong(4) : fields.long(4);
}

/** Sum of the sample lengths of a run: each sample's own, or one length for all, which needs no loop. */
function runDuration(run: BoxFields, defaultDuration: number): number {
  const claimed = run.long(4);
  if ((run.flags & RUN_HAS_DURATIONS) === 0) return claimed * defaultDuration;
  const table = 8 + (run.flags & RUN_HAS_DATA_OFFSET ? 4 : 0) + (run.flags & RUN_HAS_FIRST_FLAGS ? 4 : 0);
  const sampleBytes = 4 * RUN_SAMPLE_FIELDS.filter((flag) => (run.flags & flag) !== 0).length;
  const samples = run.entries(claimed, table, sampleBytes);
  let time = 0;
  for (let sample = 0; sample < samples; sample += 1) time += run.long(table + sample * sampleBytes);
  return time;
}
