import { BLOCK_BYTES, type ByteSource } from './byte-source.js';
import type { SoundHeader } from './media-header.js';
import { cutOff, malformed, MediaUnreadable } from './media-unreadable.js';

/** What the 4-byte header of an MPEG audio frame of layer III says. */
interface Mp3Frame {
  readonly kilobitsPerSecond: number;
  readonly samplesPerSecond: number;
  readonly samples: number;
  /** Length of the whole frame in bytes; at least 24. */
  readonly bytes: number;
  /** Where an encoder's own index would begin inside the frame. */
  readonly indexOffset: number;
}

const BITRATES_MPEG1 = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BITRATES_MPEG2 = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const SAMPLE_RATES = [44_100, 48_000, 32_000];

const VERSION_MPEG1 = 3;
const VERSION_MPEG2 = 2;
const VERSION_RESERVED = 1;
const LAYER_III = 1;
const MONO = 3;

/** Reads the frame header at an offset; nothing when there is none. */
function readMp3Frame(bytes: Buffer, offset: number): Mp3Frame | undefined {
  if (offset + 4 > bytes.length) return undefined;
  const header = bytes.readUInt32BE(offset);
  // Eleven set bits mark a frame.
  if (header >>> 21 !== 0x7ff) return undefined;
  const version = (header >>> 19) & 3;
  const baseRate = SAMPLE_RATES[(header >>> 10) & 3];
  const kilobitsPerSecond = (version === VERSION_MPEG1 ? BITRATES_MPEG1 : BITRATES_MPEG2)[((header >>> 12) & 15) - 1];
  if (version === VERSION_RESERVED || ((header >>> 17) & 3) !== LAYER_III) return undefined;
  if (baseRate === undefined || kilobitsPerSecond === undefined) return undefined;
  const samplesPerSecond = baseRate / (version === VERSION_MPEG1 ? 1 : version === VERSION_MPEG2 ? 2 : 4);
  const samples = version === VERSION_MPEG1 ? 1_152 : 576;
  const padding = (header >>> 9) & 1;
  return {
    kilobitsPerSecond,
    samplesPerSecond,
    samples,
    bytes: Math.floor(((samples / 8) * kilobitsPerSecond * 1_000) / samplesPerSecond) + padding,
    indexOffset: 4 + sideInformationBytes(version === VERSION_MPEG1, ((header >>> 6) & 3) === MONO),
  };
}

function sideInformationBytes(mpeg1: boolean, mono: boolean): number {
  if (mpeg1) return mono ? 17 : 32;
  return mono ? 9 : 17;
}

/** Tags in front of the sound: more than a few are no music. */
const MAX_TAGS = 4;

/** How far behind the tags the first frame may begin. */
const SEARCH_BYTES = 8_192;

/** The VBRI index of some encoders is at this place of the first frame, whatever the frame's own layout. */
const VBRI_OFFSET = 36;

interface FirstFrame {
  readonly frame: Mp3Frame;
  /** Where it begins in the file. */
  readonly position: number;
  /** The bytes from its beginning on, some kilobytes. */
  readonly bytes: Buffer;
}

/**
 * Reads the length of an MP3: from the index of its encoder, else from its bitrate when that never changes in the first
 * 64 KiB, else by walking every frame header in one pass. The pass is bounded by the file's own size limit.
 *
 * @throws MediaUnreadable `unsupported` when no two frames follow each other.
 */
export async function readMp3(source: ByteSource): Promise<SoundHeader> {
  const first = await findFirstFrame(source, await skipTags(source));
  const durationSeconds =
    indexedSeconds(first, source.size) ??
    (await constantSeconds(first, source)) ??
    (await walkedSeconds(first, source));
  return { medium: 'audio', format: 'mp3', durationSeconds };
}

/** Where the sound begins behind ID3v2 tags; their lengths have 7 bits in each byte. */
async function skipTags(source: ByteSource): Promise<number> {
  let position = 0;
  for (let count = 0; count < MAX_TAGS; count += 1) {
    const tag = await source.read(position, position + 10);
    if (tag.length < 10 || tag.toString('latin1', 0, 3) !== 'ID3') break;
    const sizes = [...tag.subarray(6, 10)];
    if (sizes.some((byte) => byte >= 0x80)) break;
    const hasFooter = ((tag[5] ?? 0) & 0x10) !== 0;
    position += 10 + sizes.reduce((sum, byte) => sum * 128 + byte, 0) + (hasFooter ? 10 : 0);
  }
  if (position >= source.size) throw malformed('its ID3 tag is larger than the file');
  return position;
}

/** The first frame header that is followed by another one of the same rate, or by the end of a very short file. */
async function findFirstFrame(source: ByteSource, start: number): Promise<FirstFrame> {
  const window = await source.read(start, start + SEARCH_BYTES);
  const atEnd = start + window.length >= source.size;
  for (let offset = 0; offset + 4 <= window.length; offset += 1) {
    const frame = readMp3Frame(window, offset);
    if (!frame) continue;
    const following = readMp3Frame(window, offset + frame.bytes);
    const lastOfFile = atEnd && offset + frame.bytes >= window.length;
    if (following ? following.samplesPerSecond === frame.samplesPerSecond : lastOfFile)
      return { frame, position: start + offset, bytes: window.subarray(offset) };
  }
  throw new MediaUnreadable('unsupported', 'is of a type that is not known');
}

/** From the frame count that the encoder wrote into the first frame: Xing or Info, else VBRI. */
function indexedSeconds({ frame, position, bytes }: FirstFrame, size: number): number | undefined {
  const perFrame = frame.samples / frame.samplesPerSecond;
  const at = frame.indexOffset;
  if (/^(?:Xing|Info)$/.test(bytes.toString('latin1', at, at + 4)) && bytes.length >= at + 16) {
    const flags = bytes.readUInt32BE(at + 4);
    const [frames, length] = [bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 12)];
    const [hasFrames, hasLength] = [(flags & 1) !== 0 && frames > 0, (flags & 2) !== 0];
    // Encoders count the length a little differently; 4 KiB is not audible.
    if (hasFrames && hasLength && length > size - position + 4_096) throw cutOff();
    if (hasFrames) return frames * perFrame;
  }
  if (bytes.toString('latin1', VBRI_OFFSET, VBRI_OFFSET + 4) === 'VBRI' && bytes.length >= VBRI_OFFSET + 18)
    return bytes.readUInt32BE(VBRI_OFFSET + 14) * perFrame;
  return undefined;
}

/** From size and bitrate, when every frame of the first 64 KiB has the same one. */
async function constantSeconds({ frame, position }: FirstFrame, source: ByteSource): Promise<number | undefined> {
  const window = await source.read(position, position + BLOCK_BYTES);
  for (let offset = 0; offset + 4 <= window.length;) {
    const next = readMp3Frame(window, offset);
    if (!next || next.kilobitsPerSecond !== frame.kilobitsPerSecond) return undefined;
    offset += next.bytes;
  }
  return ((source.size - position) * 8) / (frame.kilobitsPerSecond * 1_000);
}

/** By counting frames to the end of the sound. */
async function walkedSeconds({ frame, position }: FirstFrame, source: ByteSource): Promise<number> {
  let frames = 0;
  let carried = Buffer.alloc(0);
  let skip = 0;
  for await (const chunk of source.stream(position)) {
    const bytes = carried.length > 0 ? Buffer.concat([carried, chunk]) : chunk;
    let offset = skip;
    while (offset + 4 <= bytes.length) {
      const next = readMp3Frame(bytes, offset);
      if (next?.samplesPerSecond !== frame.samplesPerSecond) return (frames * frame.samples) / frame.samplesPerSecond;
      frames += 1;
      offset += next.bytes;
    }
    carried = Buffer.from(bytes.subarray(Math.min(offset, bytes.length)));
    skip = Math.max(0, offset - bytes.length);
  }
  return (frames * frame.samples) / frame.samplesPerSecond;
}

/** Chunks before the sound itself; real files have fewer than ten. */
const MAX_CHUNKS = 64;

/** Recorders that cannot go back write a length of 0 or near the top of the field: the sound then lasts to the end. */
const UNKNOWN_LENGTH = 0x7fff_f000;

/** Format tags whose blocks all hold one sample for each channel: PCM, float, A-law, mu-law, extensible. */
const UNCOMPRESSED = new Set([0x0001, 0x0003, 0x0006, 0x0007, 0xfffe]);

export const isWav = (beginning: Buffer): boolean =>
  /^(?:RIFF|RF64|BW64)$/.test(beginning.toString('latin1', 0, 4)) && beginning.toString('latin1', 8, 12) === 'WAVE';

interface WavFormat {
  readonly tag: number;
  readonly samplesPerSecond: number;
  readonly bytesPerSecond: number;
  readonly bytesPerBlock: number;
}

/** Walks the chunks of a WAV, RF64 or BW64 file to its sound. */
export async function readWav(source: ByteSource): Promise<SoundHeader> {
  let format: WavFormat | undefined;
  let sampleCount = 0;
  let longLength = 0;
  let position = 12;
  for (let count = 0; count < MAX_CHUNKS && position + 8 <= source.size; count += 1) {
    const chunk = await source.read(position, position + 40);
    const [name, length] = [chunk.toString('latin1', 0, 4), chunk.readUInt32LE(4)];
    if (name === 'ds64') longLength = Number(chunk.readBigUInt64LE(16));
    if (name === 'fmt ') format = readFormat(chunk);
    if (name === 'fact') sampleCount = chunk.readUInt32LE(8);
    if (name === 'data') {
      const bytes = soundBytes(length, longLength, source.size - position - 8);
      return { medium: 'audio', format: 'wav', durationSeconds: seconds(format, bytes, sampleCount) };
    }
    // Chunks begin at even positions.
    position += 8 + length + (length % 2);
  }
  throw malformed('it is a WAV file without sound');
}

const readFormat = (chunk: Buffer): WavFormat => ({
  tag: chunk.readUInt16LE(8),
  samplesPerSecond: chunk.readUInt32LE(12),
  bytesPerSecond: chunk.readUInt32LE(16),
  bytesPerBlock: chunk.readUInt16LE(20),
});

function soundBytes(length: number, longLength: number, rest: number): number {
  const known = length >= UNKNOWN_LENGTH ? longLength : length;
  if (known === 0) return rest;
  if (known > rest) throw cutOff();
  return known;
}

function seconds(format: WavFormat | undefined, bytes: number, sampleCount: number): number {
  if (!format) throw malformed('its WAV header does not say how the sound is stored');
  if (UNCOMPRESSED.has(format.tag)) return bytes / (format.bytesPerBlock * format.samplesPerSecond);
  const counted = sampleCount > 0 && sampleCount < 0xffff_ffff && format.samplesPerSecond > 0;
  return counted ? sampleCount / format.samplesPerSecond : bytes / format.bytesPerSecond;
}
