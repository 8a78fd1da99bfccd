import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { mayPass, type SafeFetcher } from '#platform';
import { Download } from './download.js';
import { type MediaStore, MediaStoreError, type StoredFile } from './media-store.js';

/** A file to be fetched from outside. */
export interface RemoteFile {
  readonly fetcher: SafeFetcher;
  readonly url: string;
  /** Longest time for the whole copy, further attempts included, in milliseconds. */
  readonly timeoutMs: number;
  /** Whose file it is; see `SafeGetOptions`. */
  readonly accountId?: string | undefined;
}

/** Where a copy goes and what it may be. */
export interface CopyOptions {
  readonly store: MediaStore;
  readonly key: string;
  /** MIME type of the copy, for example `video/mp4`. */
  readonly contentType: string;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** How often a remote file is begun anew when it cannot be continued. */
const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 250;

/**
 * Streams a file into the store with bounded memory, and answers its length and checksum. A remote file that is cut is
 * continued where it broke off when its host allows that safely, else begun anew. The store keeps the file whole or not
 * at all, so after any failure the same call may simply be made again.
 *
 * @throws MediaStoreError as `MediaStore.put`; `length_mismatch` when the host sends another length than it announced.
 * @throws RemoteStatus, FetchRefused or FetchFailed for a remote file, and the failure of the stream otherwise.
 */
export async function copyToStore(source: Readable | RemoteFile, options: CopyOptions): Promise<StoredFile> {
  const { store, key, ...limits } = options;
  if (source instanceof Readable) return store.put(key, source, limits);
  const deadline = Date.now() + source.timeoutMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await copyRemote(source, deadline, options);
    } catch (error) {
      const pauseMs = FIRST_PAUSE_MS * 2 ** attempt;
      if (!mayHelp(error) || attempt === ATTEMPTS || Date.now() + pauseMs >= deadline) throw error;
      await sleep(pauseMs, undefined, options.signal ? { signal: options.signal } : {});
    }
  }
}

async function copyRemote(source: RemoteFile, deadline: number, options: CopyOptions): Promise<StoredFile> {
  const { store, key, contentType, maxBytes, signal } = options;
  const download = await Download.open({ ...source, deadline, maxBytes, signal });
  const body = Readable.from(download.chunks(), { objectMode: false });
  try {
    return await store.put(key, body, { contentType, maxBytes, expectedBytes: download.size, signal });
  } finally {
    download.close();
  }
}

/** A changed or shortened file, or a passing fault; a limit stays broken however often one asks. */
const mayHelp = (error: unknown): boolean =>
  mayPass(error) || (error instanceof MediaStoreError && error.code === 'length_mismatch');
