import { SAMPLES_PER_AUDIO_FRAME, SAMPLES_PER_SECOND, type Sound } from '../tones.js';
import { box, fixedPoint16, fullBox, latin1, uint16, uint32, utf8, zeros } from './box.js';
import { aacSampleEntry, avcSample, avcSampleEntry } from './sample-entries.js';
import { handlerBox, IDENTITY_MATRIX, MOVIE_TIMESCALE, type Track, trackBox } from './track.js';

/** A coded video: parameter sets and frames are NAL units, the first frame is the only key frame. */
export interface CodedVideo {
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
