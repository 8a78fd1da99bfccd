import type { ByteSource } from './byte-source.js';
import { type Box, BoxFields, childBoxes, findBox, readBoxHeader, requireBox } from './iso-boxes.js';
import type { VideoHeader } from './media-header.js';
import { cutOff, malformed, MediaUnreadable } from './media-unreadable.js';

/** A movie header of an hour-long video has some hundred kilobytes. */
const MAX_MOVIE_HEADER_BYTES = 2 * 1024 * 1024;

/** Headers of fragments and indexes are far smaller; larger ones are not worth reading. */
const MAX_FRAGMENT_HEADER_BYTES = 1024 * 1024;

const MAX_TOP_LEVEL_BOXES = 600;

/** Tracks may end in different fragments, so the last few are looked at. */
const LAST_FRAGMENTS = 4;

const FIRST_BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);

const QUICKTIME_BRAND = 'qt  ';
const MP4_BRANDS = /^(?:isom|iso[2-9a]|mp4[12]|avc1|M4V |MSNV|dash|f4v |hvc1|av01|cmfc)$/;

/** Brands of sound, still images and phone formats that share the container. */
const OTHER_BRANDS = /^(?:M4A |M4B |heic|heix|mif1|msf1|avif|avis|3g)/;

export const isIsoMedia = (beginning: Buffer): boolean => FIRST_BOXES.has(beginning.toString('latin1', 4, 8));

/** What a walk over the top-level boxes found. */
interface Layout {
  /** Files from before brands existed are QuickTime. */
  format: VideoHeader['format'];
  movie: Buffer | undefined;
  fragmented: boolean;
  /** The contents of the `moof` boxes that no index covers. */
  readonly fragments: Box[];
  /** The time that indexes of the fragments (`sidx`) cover; empty without one. */
  indexed: TimeSpan;
}

/**
 * Reads an MP4 or QuickTime video: a walk over the top-level boxes, wherever the movie header is, then the header itself,
 * and for fragmented videos the index or the last fragments. Compressed movie headers are refused.
 */
export async function readIsoMedia(source: ByteSource): Promise<VideoHeader> {
  const layout = await walk(source);
  if (!layout.movie) throw malformed('it has no movie header');
  const movie = readMovieHeader(layout.movie);
  const image = movie.tracks.find(({ kind }) => kind === 'vide');
  if (!image) throw new MediaUnreadable('unsupported', 'has no image track');
  const durationSeconds = Math.max(trackSeconds(movie.tracks), await fragmentSeconds(source, layout, movie));
  return {
    medium: 'video',
    format: layout.format,
    ...shownSize(image),
    durationSeconds,
    hasAudio: movie.tracks.some(({ kind }) => kind === 'soun'),
  };
}

/** Visits every top-level box up to the end, so that a missing end is noticed; what an index covers is passed over. */
async function walk(source: ByteSource): Promise<Layout> {
  const layout: Layout = { format: 'mov', movie: undefined, fragmented: false, fragments: [], indexed: NO_TIME };
  let position = 0;
  for (let count = 0; position < source.size; count += 1) {
    if (count === MAX_TOP_LEVEL_BOXES) throw new MediaUnreadable('budget', 'consists of too many boxes');
    const header = await source.read(position, position + 16);
    // Fewer bytes than a box header are padding.
    if (header.length < 8) break;
    const { type, size, headerBytes } = readBoxHeader(header, 0, source.size - position);
    if (position + size > source.size) throw cutOff();
    position = await visit(source, layout, { type, start: position + headerBytes, end: position + size });
  }
  return layout;
}

/** Records the content of a box and returns where the walk continues. */
async function visit(source: ByteSource, layout: Layout, box: Box): Promise<number> {
  if (box.type === 'ftyp') layout.format = formatOf(await source.read(box.start, Math.min(box.end, box.start + 256)));
  else if (box.type === 'moov' && !layout.movie) {
    layout.movie = await readWhole(source, box, MAX_MOVIE_HEADER_BYTES);
    layout.fragmented = isFragmented(layout.movie);
  } else if (box.type === 'sidx' && layout.fragmented) {
    const index = readIndex(await readWhole(source, box, MAX_FRAGMENT_HEADER_BYTES));
    const coveredTo = box.end + index.bytes;
    if (coveredTo > source.size) throw cutOff();
    layout.indexed = joined(layout.indexed, index.time);
    return coveredTo;
  } else if (box.type === 'moof' && layout.fragmented) layout.fragments.push(box);
  return box.end;
}

async function readWhole(source: ByteSource, box: Box, maxBytes: number): Promise<Buffer> {
  if (box.end - box.start > maxBytes) throw new MediaUnreadable('budget', 'has a header that is too large to be read');
  return source.read(box.start, box.end);
}

function formatOf(brands: Buffer): VideoHeader['format'] {
  const major = brands.toString('latin1', 0, 4);
  if (major === QUICKTIME_BRAND) return 'mov';
  // Compatible brands stand behind the major brand and its version.
  const all = Array.from({ length: Math.floor(brands.length / 4) }, (_, index) =>
    brands.toString('latin1', index * 4, index * 4 + 4),
  );
  if (!OTHER_BRANDS.test(major) && all.some((brand) => MP4_BRANDS.test(brand))) return 'mp4';
  throw new MediaUnreadable(
    'unsupported',
    `is neither an MP4 nor a QuickTime video (its brand is ${JSON.stringify(major)})`,
  );
}

/** How much an index covers: bytes behind it, and time in seconds. */
function readIndex(content: Buffer): { bytes: number; time: TimeSpan } {
  const fields = new BoxFields(content, { type: 'sidx', start: 0, end: content.length });
  const long = fields.version !== 0;
  const timescale = fields.long(8);
  const start = long ? fields.longLong(12) : fields.long(12);
  const table = long ? 32 : 24;
  const entries = fields.entries(fields.short(table - 2), table, 12);
  let end = start;
  let bytes = long ? fields.longLong(20) : fields.long(16);
  for (let entry = 0; entry < entries; entry += 1) {
    bytes += fields.long(table + entry * 12) & 0x7fff_ffff;
    end += fields.long(table + entry * 12 + 4);
  }
  return { bytes, time: timescale > 0 ? { start: start / timescale, end: end / timescale } : NO_TIME };
}

const trackSeconds = (tracks: readonly Track[]): number =>
  Math.max(0, ...tracks.filter(({ kind }) => kind === 'vide' || kind === 'soun').map(({ seconds }) => seconds));

/** The time from the first fragment to the last, which live recordings do not begin at 0. */
async function fragmentSeconds(source: ByteSource, layout: Layout, movie: MovieHeader): Promise<number> {
  if (!layout.fragmented) return 0;
  let time = layout.indexed;
  const { fragments } = layout;
  for (const box of new Set([...fragments.slice(0, 1), ...fragments.slice(-LAST_FRAGMENTS)]))
    time = joined(time, fragmentTime(await readWhole(source, box, MAX_FRAGMENT_HEADER_BYTES), movie));
  return Math.max(movie.fragmentedSeconds, lengthOf(time));
}

const shownSize = ({ width, height, sideways }: Track): { width: number; height: number } =>
  sideways ? { width: height, height: width } : { width, height };

/** Real videos have a handful. */
const MAX_TRACKS = 32;

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

/** A stretch of time in seconds; empty when it ends before it starts. */
export interface TimeSpan {
  readonly start: number;
  readonly end: number;
}

/** The empty span, which joins with any other without a trace. */
export const NO_TIME: TimeSpan = { start: Number.POSITIVE_INFINITY, end: Number.NEGATIVE_INFINITY };

/** The shortest span that holds both. */
export const joined = (one: TimeSpan, other: TimeSpan): TimeSpan => ({
  start: Math.min(one.start, other.start),
  end: Math.max(one.end, other.end),
});

/** Length in seconds; 0 for an empty span. */
export const lengthOf = ({ start, end }: TimeSpan): number => Math.max(0, end - start);
