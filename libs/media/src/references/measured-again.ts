import type { MeasuredReference } from '#contracts';
import { BufferSource } from '../inspect/byte-source.js';
import { inspectMedia } from '../inspect/inspect-media.js';
import { MediaUnreadable } from '../inspect/media-unreadable.js';

/**
 * Holds the bytes of a file, read whole, against what was measured of it when its order was checked. A host may answer twice
 * with two files, and only the first of them is known to keep within the limits.
 *
 * @throws MediaUnreadable when they are no such file, or one of another format, size or length.
 */
export async function measuredAgain(bytes: Buffer, measured: MeasuredReference): Promise<Buffer> {
  const header = await inspectMedia(new BufferSource(bytes));
  const { width, height, durationSeconds } = {
    width: undefined,
    height: undefined,
    durationSeconds: undefined,
    ...header,
  };
  const isSame =
    header.format === measured.format &&
    bytes.length <= measured.bytes &&
    width === measured.width &&
    height === measured.height &&
    durationSeconds === measured.durationSeconds;
  if (!isSame) throw new MediaUnreadable('changed', 'is another file than the one that was checked');
  return bytes;
}
