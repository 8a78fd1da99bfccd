import type { ByteSource } from './byte-source.js';
import type { SoundHeader } from './media-header.js';
import { cutOff, malformed } from './media-unreadable.js';

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
