import { AUDIO_CONFIGURATION, SAMPLES_PER_AUDIO_FRAME, SAMPLES_PER_SECOND, type Sound } from './tones.js';

/** A coded video: parameter sets and frames are NAL units, the first frame is the only key frame. */
interface CodedVideo {
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
  readonly sequenceParameterSet: Uint8Array;
  readonly pictureParameterSet: Uint8Array;
  readonly samples: readonly Uint8Array[];
}

/** Ticks of one frame on the video track's clock, which runs at `framesPerSecond` times this. */
const TICKS_PER_FRAME = 1_000;

/** Metadata keywords and the atoms that players read them from; 0xA9 is the copyright sign of the type's first letter. */
const METADATA_ATOMS: Readonly<Record<string, string>> = {
  Title: '\u00a9nam',
  Software: '\u00a9too',
  Description: 'desc',
  Comment: '\u00a9cmt',
};
const METADATA_TEXT = 1;

/**
 * Writes an MP4 file whose index is before its data, so that players start while the rest arrives
 * (ISO/IEC 14496-12). The video's length is exactly that of its frames; longer sound is cut there.
 *
 * @param metadata texts under `Title`, `Software`, `Description` and `Comment`.
 * @throws RangeError on any other metadata keyword.
 */
export function writeMovie(
  video: CodedVideo,
  sound: Sound | undefined,
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  const tracks = [videoTrack(video), ...(sound ? [audioTrack(sound, movieDuration(video))] : [])];
  const fileType = box('ftyp', latin1('isom'), uint32(512), latin1('isomiso2avc1mp41'));
  const index = (dataStart: number): Uint8Array => movieBox(tracks, metadata, movieDuration(video), dataStart);
  const dataStart = fileType.length + index(0).length + 8;
  const samples = tracks.flatMap((track) => track.samples);
  return Buffer.concat([fileType, index(dataStart), box('mdat', ...samples)]);
}

const movieDuration = ({ samples, framesPerSecond }: CodedVideo): number =>
  Math.round((samples.length / framesPerSecond) * MOVIE_TIMESCALE);

function videoTrack(video: CodedVideo): Track {
  return {
    id: 1,
    kind: 'video',
    movieDuration: movieDuration(video),
    timescale: video.framesPerSecond * TICKS_PER_FRAME,
    sampleDuration: TICKS_PER_FRAME,
    skippedTicks: 0,
    width: video.width,
    height: video.height,
    samples: video.samples.map(avcSample),
    sampleEntry: avcSampleEntry(video),
  };
}

function audioTrack({ frames, primingSamples }: Sound, movieDuration: number): Track {
  return {
    id: 2,
    kind: 'audio',
    movieDuration,
    timescale: SAMPLES_PER_SECOND,
    sampleDuration: SAMPLES_PER_AUDIO_FRAME,
    skippedTicks: primingSamples,
    width: 0,
    height: 0,
    samples: frames,
    sampleEntry: aacSampleEntry(),
  };
}

function movieBox(
  tracks: readonly Track[],
  metadata: Readonly<Record<string, string>>,
  duration: number,
  dataStart: number,
): Uint8Array {
  const header = fullBox(
    'mvhd',
    0,
    uint32(0, 0, MOVIE_TIMESCALE, duration, fixedPoint16(1)),
    uint16(0x100), // full volume
    zeros(10),
    IDENTITY_MATRIX,
    zeros(24),
    uint32(tracks.length + 1), // next track id
  );
  let offset = dataStart;
  const boxes = tracks.map((track) => {
    const trackStart = offset;
    offset += track.samples.reduce((sum, sample) => sum + sample.length, 0);
    return trackBox(track, trackStart);
  });
  return box('moov', header, ...boxes, metadataBox(metadata));
}

/** The `udta` box with texts as players and file managers read them. */
function metadataBox(metadata: Readonly<Record<string, string>>): Uint8Array {
  const items = Object.entries(metadata).map(([keyword, text]) => {
    const type = METADATA_ATOMS[keyword];
    if (!type) throw new RangeError(`"${keyword}" is no metadata keyword: ${Object.keys(METADATA_ATOMS).join(', ')}`);
    return box(type, box('data', uint32(METADATA_TEXT, 0), utf8(text)));
  });
  return box('udta', fullBox('meta', 0, handlerBox('mdir', ''), box('ilst', ...items)));
}

/** Ticks a second of the movie's own clock. */
const MOVIE_TIMESCALE = 90_000;

/** Shows images as they are: no rotation, no scaling. The last column has thirty bits after the point. */
const IDENTITY_MATRIX = uint32(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000);

const UNDETERMINED_LANGUAGE = 0x55c4;
const ENABLED_IN_MOVIE_AND_PREVIEW = 7;
const SAME_FILE = 1;
const FULL_VOLUME = 0x100;

/** A track whose samples all last equally long and lie in one piece of the file. */
interface Track {
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
function trackBox(track: Track, dataOffset: number): Uint8Array {
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
function handlerBox(type: string, name: string): Uint8Array {
  return fullBox('hdlr', 0, zeros(4), latin1(type), zeros(12), latin1(name), bytes(0));
}

const BT_709 = 1;
const DOTS_PER_INCH = 72;
const COLOUR_DEPTH_BITS = 24;
const NO_COLOUR_TABLE = 0xffff;
const NAL_LENGTH_BYTES = 4;

/** Tags of MPEG-4 descriptors (ISO/IEC 14496-1, 7.2.2.1). */
const DESCRIPTORS = { elementaryStream: 3, decoderConfiguration: 4, decoderSpecific: 5, syncLayer: 6 } as const;
const AAC = 0x40;
const AUDIO_STREAM = 0x15;

/** The `avc1` entry: image size and the parameter sets a decoder starts with (ISO/IEC 14496-15, 5.4.2). */
function avcSampleEntry(video: {
  readonly width: number;
  readonly height: number;
  readonly sequenceParameterSet: Uint8Array;
  readonly pictureParameterSet: Uint8Array;
}): Uint8Array {
  const { sequenceParameterSet, pictureParameterSet } = video;
  const configuration = box(
    'avcC',
    bytes(1),
    sequenceParameterSet.subarray(1, 4), // profile, compatibility, level
    bytes(0b1111_1100 | (NAL_LENGTH_BYTES - 1), 0b1110_0001),
    uint16(sequenceParameterSet.length),
    sequenceParameterSet,
    bytes(1),
    uint16(pictureParameterSet.length),
    pictureParameterSet,
  );
  const colours = box('colr', latin1('nclx'), uint16(BT_709, BT_709, BT_709), bytes(0));
  return box(
    'avc1',
    zeros(6),
    uint16(1), // data reference
    zeros(16),
    uint16(video.width, video.height),
    uint32(fixedPoint16(DOTS_PER_INCH), fixedPoint16(DOTS_PER_INCH), 0),
    uint16(1), // frames in a sample
    zeros(32), // compressor name
    uint16(COLOUR_DEPTH_BITS, NO_COLOUR_TABLE),
    configuration,
    colours,
  );
}

/** An AVC sample as files hold it: each NAL unit after its length instead of after a start code. */
const avcSample = (nalUnit: Uint8Array): Uint8Array => Buffer.concat([uint32(nalUnit.length), nalUnit]);

/** The `mp4a` entry: mono AAC at 48 kHz, described once more inside an `esds` box. */
function aacSampleEntry(): Uint8Array {
  const decoder = descriptor(
    DESCRIPTORS.decoderConfiguration,
    bytes(AAC, AUDIO_STREAM, 0, 0, 0),
    uint32(64_000, 64_000), // most and mean bits a second
    descriptor(DESCRIPTORS.decoderSpecific, AUDIO_CONFIGURATION),
  );
  const stream = descriptor(
    DESCRIPTORS.elementaryStream,
    uint16(0),
    bytes(0),
    decoder,
    descriptor(DESCRIPTORS.syncLayer, bytes(2)),
  );
  return box(
    'mp4a',
    zeros(6),
    uint16(1), // data reference
    zeros(8),
    uint16(1, 16, 0, 0), // channels, bits a sample
    uint32(fixedPoint16(SAMPLES_PER_SECOND)),
    fullBox('esds', 0, stream),
  );
}

/** Tag, length in four groups of seven bits, content; ours are shorter than 128 bytes. */
function descriptor(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([bytes(tag, 0x80, 0x80, 0x80, length), ...content]);
}

/** The file format's unit: length (with these eight bytes), four-letter type, content (ISO/IEC 14496-12, 4.2). */
function box(type: string, ...content: readonly Uint8Array[]): Uint8Array {
  const length = content.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([uint32(length), latin1(type), ...content]);
}

/** A box that begins with a version (0 here) and 24 bits of flags. */
function fullBox(type: string, flags: number, ...content: readonly Uint8Array[]): Uint8Array {
  return box(type, uint32(flags), ...content);
}

/** Single bytes. */
const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);

/** Zero bytes, for reserved fields. */
const zeros = (count: number): Uint8Array => new Uint8Array(count);

/** Big-endian 16-bit numbers. */
function uint16(...values: readonly number[]): Uint8Array {
  const encoded = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) encoded.writeUInt16BE(value, index * 2);
  return encoded;
}

/** Big-endian 32-bit numbers. */
function uint32(...values: readonly number[]): Uint8Array {
  const encoded = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) encoded.writeUInt32BE(value, index * 4);
  return encoded;
}

/** One byte for each character. */
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');

const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');

/** A number with sixteen bits after the point. */
const fixedPoint16 = (value: number): number => value * 0x1_0000;
