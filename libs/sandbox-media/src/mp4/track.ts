import { box, bytes, fixedPoint16, fullBox, latin1, uint16, uint32, zeros } from './box.js';

/** Ticks a second of the movie's own clock. */
export const MOVIE_TIMESCALE = 90_000;

/** Shows images as they are: no rotation, no scaling. The last column has thirty bits after the point. */
export const IDENTITY_MATRIX = uint32(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000);

const UNDETERMINED_LANGUAGE = 0x55c4;
const ENABLED_IN_MOVIE_AND_PREVIEW = 7;
const SAME_FILE = 1;
const FULL_VOLUME = 0x100;

/** A track whose samples all last equally long and lie in one piece of the file. */
export interface Track {
  readonly id: number;
  readonly kind: 'video' | 'audio';
  /** The length of the movie in ticks of its clock. */
  readonly movieDuration: number;
  /** Ticks a second of the track's clock, and how many a sample lasts. */
  readonly timescale: number;
  readonly sampleDuration: number;
  /** How many of the first ticks a player leaves out. */
  readonly skippedTicks: number;
  /** Pixels; 0 for audio. */
  readonly width: number;
  readonly height: number;
  readonly samples: readonly Uint8Array[];
  /** The codec's entry for the `stsd` box. */
  readonly sampleEntry: Uint8Array;
}

/** The `trak` box. `dataOffset` is where the first sample begins in the file. */
export function trackBox(track: Track, dataOffset: number): Uint8Array {
  const { id, movieDuration, width, height } = track;
  const header = fullBox(
    'tkhd',
    ENABLED_IN_MOVIE_AND_PREVIEW,
    uint32(0, 0, id, 0, movieDuration, 0, 0),
    uint16(0, 0, track.kind === 'audio' ? FULL_VOLUME : 0, 0),
    IDENTITY_MATRIX,
    uint32(fixedPoint16(width), fixedPoint16(height)),
  );
  const edits = box('edts', fullBox('elst', 0, uint32(1, movieDuration, track.skippedTicks, fixedPoint16(1))));
  return box('trak', header, edits, mediaBox(track, dataOffset));
}

function mediaBox(track: Track, dataOffset: number): Uint8Array {
  const video = track.kind === 'video';
  const duration = track.samples.length * track.sampleDuration;
  return box(
    'mdia',
    fullBox('mdhd', 0, uint32(0, 0, track.timescale, duration), uint16(UNDETERMINED_LANGUAGE, 0)),
    handlerBox(video ? 'vide' : 'soun', video ? 'Sandbox video' : 'Sandbox audio'),
    box(
      'minf',
      video ? fullBox('vmhd', 1, zeros(8)) : fullBox('smhd', 0, zeros(4)),
      box('dinf', fullBox('dref', 0, uint32(1), fullBox('url ', SAME_FILE))),
      sampleTable(track, dataOffset),
    ),
  );
}

function sampleTable(track: Track, dataOffset: number): Uint8Array {
  const count = track.samples.length;
  const sizes = track.samples.map((sample) => sample.length);
  const keySamples = track.kind === 'video' ? [fullBox('stss', 0, uint32(1, 1))] : [];
  return box(
    'stbl',
    fullBox('stsd', 0, uint32(1), track.sampleEntry),
    fullBox('stts', 0, uint32(1, count, track.sampleDuration)),
    ...keySamples,
    fullBox('stsc', 0, uint32(1, 1, count, 1)),
    fullBox('stsz', 0, uint32(0, count, ...sizes)),
    fullBox('stco', 0, uint32(1, dataOffset)),
  );
}

/** The `hdlr` box: what kind of data its surroundings hold. */
export function handlerBox(type: string, name: string): Uint8Array {
  return fullBox('hdlr', 0, zeros(4), latin1(type), zeros(12), latin1(name), bytes(0));
}
