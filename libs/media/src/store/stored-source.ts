import { buffer } from 'node:stream/consumers';
import { withinTime } from '#platform';
import { BlockSource } from '../inspect/byte-source.js';
import { inspectMedia } from '../inspect/inspect-media.js';
import type { MediaHeader } from '../inspect/media-header.js';
import { type MediaStore, MediaStoreError, type StoredFile } from './media-store.js';

/** The longest that reading a file back may take, in milliseconds: a store that drips is a store that is away. */
const LIMIT_MS = 60_000;

/** A file of the store, readable at any place. */
class StoredSource extends BlockSource {
  constructor(
    private readonly store: MediaStore,
    private readonly file: StoredFile,
    private readonly signal: AbortSignal,
  ) {
    super(file.bytes);
  }

  async *stream(start: number): AsyncIterable<Buffer> {
    yield* await this.store.open(this.file.key, { start, end: this.file.bytes }, this.signal);
  }

  async close(): Promise<void> {
    // Each read opens and closes the file by itself.
  }

  protected async load(start: number, end: number): Promise<Buffer> {
    return buffer(await this.store.open(this.file.key, { start, end }, this.signal));
  }
}

/**
 * Reads the header of a file back from the store: the proof that it is there, whole enough to open, and what it is.
 *
 * @throws MediaUnreadable when it is no picture, film or sound; MediaStoreError when it cannot be read.
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
