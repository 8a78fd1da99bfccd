import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs, mayPass, type SafeFetcher } from '#platform';
import { TYPE_BYTES } from '../inspect/delivered-type.js';
import { Download } from './download.js';
import { type MediaStore, MediaStoreError, type StoredFile } from './media-store.js';

/** A file to be fetched from outside. */
export interface RemoteFile {
  readonly fetcher: SafeFetcher;
  readonly url: string;
  /** Longest time for the whole copy, further attempts included, in milliseconds. */
  readonly timeoutMs: number;
  /** What its own host wants to see; see `SafeGetOptions`. */
  readonly credentials?: Readonly<Record<string, string>> | undefined;
  /** Whose file it is; see `SafeGetOptions`. */
  readonly accountId?: string | undefined;
}

/** Where a file is kept, and as what. */
export interface FilePlace {
  readonly key: string;
  /** MIME type, for example `video/mp4`. */
  readonly contentType: string;
}

/** Where a copy goes and what it may be. */
export interface CopyOptions {
  readonly store: MediaStore;
  /** Decides by the first 16 bytes of the file, fewer when it has no more. What it throws ends the copy. */
  readonly place: (beginning: Buffer) => FilePlace;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** A stored file, and as what. */
export interface CopiedFile extends StoredFile {
  readonly contentType: string;
}

/** How often a remote file is begun again when it cannot be continued. */
const ATTEMPTS = 3;
const PAUSE = { firstMs: 500, longestMs: 1_000 };

/**
 * Streams a file into the store with bounded memory, and answers its length and checksum. A remote file that is cut is
 * continued where it broke off when its host allows that safely, else begun again. The store keeps the file whole or not
 * at all, so after any failure the same call may simply be made again.
 *
 * @throws MediaStoreError as `MediaStore.put`; `length_mismatch` when the host sends another length than it announced.
 * @throws RemoteStatus, FetchRefused or FetchFailed for a remote file, and the failure of the stream otherwise.
 */
export async function copyToStore(source: Readable | RemoteFile, options: CopyOptions): Promise<CopiedFile> {
  if (source instanceof Readable) return copyStream(source, options);
  const deadline = performance.now() + source.timeoutMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await copyRemote(source, deadline, options);
    } catch (error) {
      const pauseMs = backoffMs(PAUSE, attempt - 1);
      if (!mayHelp(error) || attempt === ATTEMPTS || performance.now() + pauseMs >= deadline) throw error;
      await sleep(pauseMs, undefined, options.signal ? { signal: options.signal } : {});
    }
  }
}

async function copyStream(source: Readable, options: CopyOptions): Promise<CopiedFile> {
  try {
    return await put(source[Symbol.asyncIterator]() as AsyncIterator<Buffer>, undefined, options);
  } finally {
    source.destroy();
  }
}

async function copyRemote(source: RemoteFile, deadline: number, options: CopyOptions): Promise<CopiedFile> {
  const { maxBytes, signal } = options;
  const download = await Download.open({ ...source, deadline, maxBytes, signal });
  try {
    return await put(download.chunks(), download.size, options);
  } finally {
    download.close();
  }
}

async function put(
  chunks: AsyncIterator<Buffer>,
  expectedBytes: number | undefined,
  { store, place, maxBytes, signal }: CopyOptions,
): Promise<CopiedFile> {
  const first: Buffer[] = [];
  for (let bytes = 0; bytes < TYPE_BYTES;) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    first.push(value);
    bytes += value.length;
  }
  const { key, contentType } = place(Buffer.concat(first).subarray(0, TYPE_BYTES));
  const body = Readable.from(continued(first, chunks), { objectMode: false });
  return { ...(await store.put(key, body, { contentType, maxBytes, expectedBytes, signal })), contentType };
}

async function* continued(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/** A changed or shortened file, or a passing fault; a limit stays broken however often one asks. */
const mayHelp = (error: unknown): boolean =>
  mayPass(error) || (error instanceof MediaStoreError && error.code === 'length_mismatch');
