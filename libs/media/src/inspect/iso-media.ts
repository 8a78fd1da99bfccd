import type { ByteSource } from './byte-source.js';
import { type Box, BoxFields, readBoxHeader } from './iso-boxes.js';
import type { VideoHeader } from './media-header.js';
import { cutOff, malformed, MediaUnreadable } from './media-unreadable.js';
import { fragmentTime } from './movie-fragment.js';
import { joined, lengthOf, NO_TIME, type TimeSpan } from './time-span.js';
import { isFragmented, type MovieHeader, readMovieHeader, type Track } from './movie-header.js';

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
