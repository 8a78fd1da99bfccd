import { type Box, BoxFields, childBoxes, findBox, requireBox } from './iso-boxes.js';
import { malformed } from './media-unreadable.js';

/** Real videos have a handful. */
const MAX_TRACKS = 32;

/** One track of a video. */
export interface Track {
  readonly id: number;
  /** `vide` for images, `soun` for sound; anything else does not matter here. */
  readonly kind: string;
  /** Units of its clock in one second. */
  readonly timescale: number;
  /** Length after edits, from the header alone; 0 when the header does not say. */
  readonly seconds: number;
  /** Stored image size in pixels; 0 for other tracks. */
  readonly width: number;
  readonly height: number;
  /** Whether it is shown turned by a quarter. */
  readonly sideways: boolean;
}

/** What the movie header (`moov`) says. */
export interface MovieHeader {
  readonly tracks: readonly Track[];
  /** Length that the header of a fragmented video claims; 0 when it does not. */
  readonly fragmentedSeconds: number;
  /** Default sample length of each track in fragments, in units of the track's clock. */
  readonly defaultSampleDurations: ReadonlyMap<number, number>;
}

/** Whether samples follow in fragments behind the movie header. */
export const isFragmented = (movie: Buffer): boolean => findBox(movie, wholeOf(movie), 'mvex') !== undefined;

/**
 * Reads the content of a `moov` box. Tables are summed by entry and never expanded, and never beyond the bytes that are
 * there, so a count that lies costs nothing.
 *
 * @throws MediaUnreadable `malformed`; errors of out-of-range reads.
 */
export function readMovieHeader(movie: Buffer): MovieHeader {
  const whole = wholeOf(movie);
  const movieFields = new BoxFields(movie, requireBox(movie, whole, 'mvhd'));
  const movieTimescale = movieFields.long(movieFields.version === 1 ? 20 : 12);
  const tracks: Track[] = [];
  for (const box of childBoxes(movie, whole)) {
    if (box.type !== 'trak') continue;
    if (tracks.length === MAX_TRACKS) throw malformed('it has too many tracks');
    tracks.push(readTrack(movie, box, movieTimescale));
  }
  return { tracks, ...readExtends(movie, movieTimescale) };
}

const wholeOf = (movie: Buffer): Pick<Box, 'start' | 'end'> => ({ start: 0, end: movie.length });

function readTrack(movie: Buffer, track: Box, movieTimescale: number): Track {
  const media = requireBox(movie, track, 'mdia');
  const header = new BoxFields(movie, requireBox(movie, track, 'tkhd'));
  const mediaHeader = new BoxFields(movie, requireBox(movie, media, 'mdhd'));
  const kind = new BoxFields(movie, requireBox(movie, media, 'hdlr')).letters(8);
  const samples = findBox(movie, media, 'minf', 'stbl');
  const timescale = mediaHeader.long(mediaHeader.version === 1 ? 20 : 12);
  const mediaSeconds = timescale > 0 ? sampleTime(movie, samples) / timescale : 0;
  return {
    id: header.long(header.version === 1 ? 20 : 12),
    kind,
    timescale,
    seconds: mediaSeconds > 0 ? editedSeconds(movie, track, movieTimescale) || mediaSeconds : 0,
    ...(kind === 'vide' ? imageSize(movie, samples) : { width: 0, height: 0 }),
    sideways: isSideways(header),
  };
}

/** Sum of the sample lengths (`stts`): a list of runs, each a count and a length. */
function sampleTime(movie: Buffer, samples: Box | undefined): number {
  const table = samples && findBox(movie, samples, 'stts');
  if (!table) return 0;
  const fields = new BoxFields(movie, table);
  const runs = fields.entries(fields.long(4), 8, 8);
  let time = 0;
  for (let run = 0; run < runs; run += 1) time += fields.long(8 + run * 8) * fields.long(12 + run * 8);
  return time;
}

/** Sum of the edit list, which says how much of the track is shown; 0 without one. */
function editedSeconds(movie: Buffer, track: Box, movieTimescale: number): number {
  const list = findBox(movie, track, 'edts', 'elst');
  if (!list || movieTimescale === 0) return 0;
  const fields = new BoxFields(movie, list);
  const long = fields.version === 1;
  const entryBytes = long ? 20 : 12;
  const edits = fields.entries(fields.long(4), 8, entryBytes);
  let time = 0;
  for (let edit = 0; edit < edits; edit += 1) {
    const offset = 8 + edit * entryBytes;
    time += long ? fields.longLong(offset) : fields.long(offset);
  }
  return time / movieTimescale;
}

/** Stored size from the first sample description. */
function imageSize(movie: Buffer, samples: Box | undefined): { width: number; height: number } {
  const fields = new BoxFields(movie, requireBox(movie, samples ?? { start: 0, end: 0 }, 'stsd'));
  return { width: fields.short(40), height: fields.short(42) };
}

/** The first row of the track's matrix is where the image's right side points: up or down when it is turned. */
function isSideways(header: BoxFields): boolean {
  const matrix = header.version === 1 ? 52 : 40;
  return Math.abs(header.signedLong(matrix + 4)) > Math.abs(header.signedLong(matrix));
}

function readExtends(movie: Buffer, movieTimescale: number): Omit<MovieHeader, 'tracks'> {
  const defaultSampleDurations = new Map<number, number>();
  const box = findBox(movie, wholeOf(movie), 'mvex');
  if (!box) return { fragmentedSeconds: 0, defaultSampleDurations };
  for (const child of childBoxes(movie, box)) {
    if (child.type !== 'trex') continue;
    const fields = new BoxFields(movie, child);
    defaultSampleDurations.set(fields.long(4), fields.long(12));
  }
  const header = findBox(movie, box, 'mehd');
  if (!header || movieTimescale === 0) return { fragmentedSeconds: 0, defaultSampleDurations };
  const fields = new BoxFields(movie, header);
  const time = fields.version === 1 ? fields.longLong(4) : fields.long(4);
  return { fragmentedSeconds: time / movieTimescale, defaultSampleDurations };
}
