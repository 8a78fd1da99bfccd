import { buffer } from 'node:stream/consumers';
import { BlockSource } from '../media-inspect/byte-source.js';
import { inspectMedia } from '../media-inspect/inspect-media.js';
import type { MediaHeader } from '../media-inspect/media-header.js';
import type { MediaStore, StoredFile } from './media-store.js';

/** A file of the store, readable at any place. */
class StoredSource extends BlockSource {
  constructor(
    private readonly store: MediaStore,
    private readonly file: StoredFile,
  ) {
    super(file.bytes);
  }

  async *stream(start: number): AsyncIterable<Buffer> {
    yield* await this.store.open(this.file.key, { start, end: this.file.bytes });
  }

  async close(): Promise<void> {
    // Each read opens and closes the file by itself.
  }

  protected async load(start: number, end: number): Promise<Buffer> {
    return buffer(await this.store.open(this.file.key, { start, end }));
  }
}

/**
 * Reads the header of a file back from the store: the proof that it is there, whole enough to open, and what it is.
 *
 * @throws MediaUnreadable when it is no picture, film or sound; MediaStoreError when it cannot be read.
 */
export const inspectStoredFile = (store: MediaStore, file: StoredFile): Promise<MediaHeader> =>
  inspectMedia(new StoredSource(store, file));
