import { buffer } from 'node:stream/consumers';
import { withinTime } from '#platform';
import { BlockSource, type ByteSource } from '../inspect/byte-source.js';
import { inspectMedia } from '../inspect/inspect-media.js';
import { MediaUnreadable } from '../inspect/media-unreadable.js';
import type { MediaHeader } from '../inspect/media-header.js';
import { type MediaStore, MediaStoreError, type StoredFile } from './media-store.js';

/** The longest that reading a file back may take, in milliseconds: a store that drips is a store that is away. */
const LIMIT_MS = 60_000;

class StoredSource extends BlockSource {
  constructor(
    private readonly store: Pick<MediaStore, 'open'>,
    private readonly file: Pick<StoredFile, 'key' | 'bytes'>,
    private readonly signal: AbortSignal,
  ) {
    super(file.bytes);
  }

  async *stream(start: number): AsyncIterable<Buffer> {
    yield* await this.store.open(this.file.key, { start, end: this.file.bytes }, this.signal);
  }

  protected async load(start: number, end: number): Promise<Buffer> {
    return buffer(await this.store.open(this.file.key, { start, end }, this.signal));
  }
}

/** What reading files of our own needs of the store. */
export type OwnFiles = Pick<MediaStore, 'keyOf' | 'size' | 'open'>;

/**
 * Opens a file that a link to this gateway leads to, past the network, which may not reach the gateway by that address.
 *
 * @throws MediaUnreadable `too_large`, or `bad_answer` when it was removed; MediaStoreError when it cannot be read.
 */
export async function openOwnFile(
  store: Pick<OwnFiles, 'size' | 'open'>,
  key: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<ByteSource> {
  const bytes = await store.size(key).catch((error: unknown) => {
    if (!(error instanceof MediaStoreError) || error.code !== 'not_found') throw error;
    throw new MediaUnreadable('bad_answer', 'is no longer kept by this gateway', { cause: error });
  });
  if (bytes > maxBytes) throw new MediaUnreadable('too_large', `has ${bytes} bytes`);
  return new StoredSource(store, { key, bytes }, signal);
}

/**
 * Reads the header of a file back from the store: the proof that it is there, whole enough to open, and what it is.
 *
 * @throws MediaUnreadable when it is not an image, video or sound; MediaStoreError when it cannot be read.
 */
export async function inspectStoredFile(
  store: MediaStore,
  file: StoredFile,
  signal?: AbortSignal,
): Promise<MediaHeader> {
  let limit: AbortSignal | undefined;
  try {
    return await withinTime(LIMIT_MS, signal, (limited) => {
      limit = limited;
      return inspectMedia(new StoredSource(store, file, limited));
    });
  } catch (error) {
    if (!limit?.aborted || signal?.aborted) throw error;
    throw new MediaStoreError('unavailable', `the file could not be read within ${LIMIT_MS} ms`, { cause: error });
  }
}
