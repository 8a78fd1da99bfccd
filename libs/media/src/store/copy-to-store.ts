import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  backoffMs,
  contentRange,
  FetchFailed,
  mayPass,
  RemoteStatus,
  type SafeAnswer,
  type SafeFetcher,
} from '#platform';
import { TYPE_BYTES } from '../inspect/inspect-media.js';
import { type MediaStore, MediaStoreError, type StoredFile } from './media-store.js';

interface RemoteFile {
  readonly fetcher: SafeFetcher;
  readonly url: string;
  /** Longest time for the whole copy, further attempts included, in milliseconds. */
  readonly timeoutMs: number;
  /** What its own host wants to see; see `SafeGetOptions`. */
  readonly credentials?: Readonly<Record<string, string>> | undefined;
  /** Whose file it is; see `SafeGetOptions`. */
  readonly accountId?: string | undefined;
}

export interface FilePlace {
  readonly key: string;
  /** MIME type, for example `video/mp4`. */
  readonly contentType: string;
}

interface CopyOptions {
  readonly store: MediaStore;
  /** Decides by the first 16 bytes of the file, fewer when it has no more. What it throws ends the copy. */
  readonly place: (beginning: Buffer) => FilePlace;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

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

interface DownloadOptions {
  readonly fetcher: SafeFetcher;
  readonly url: string;
  /** When it must be over, in milliseconds of the epoch. */
  readonly deadline: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** What its own host wants to see; see `SafeGetOptions`. */
  readonly credentials?: Readonly<Record<string, string>> | undefined;
  /** Whose file it is; see `SafeGetOptions`. */
  readonly accountId?: string | undefined;
}

/** How often one download is continued after a cut, and the pause before each. */
const MAX_RESUMES = 3;
const RESUME_PAUSE = { firstMs: 200, longestMs: 800 };

/**
 * A remote file that arrives in one stream although connections may break: it is continued by Range, guarded by If-Range,
 * so that the parts always belong to the same file.
 */
class Download {
  private received = 0;

  private constructor(
    private readonly options: DownloadOptions,
    private answer: SafeAnswer,
  ) {}

  /** @throws RemoteStatus when the answer is not 200; FetchRefused; FetchFailed. */
  static async open(options: DownloadOptions): Promise<Download> {
    const answer = await ask(options, {});
    if (answer.status === 200) return new Download(options, answer);
    answer.body.destroy();
    throw new RemoteStatus(answer.status);
  }

  /** Length that the host announced; nothing when it did not. */
  get size(): number | undefined {
    const announced = this.answer.headers['content-length'];
    return announced === undefined ? undefined : Number(announced);
  }

  /** The bytes of the file, once. */
  async *chunks(): AsyncGenerator<Buffer> {
    const { size } = this;
    for (let resumes = 0; ; resumes += 1) {
      try {
        for await (const chunk of this.answer.body as AsyncIterable<Buffer>) {
          this.received += chunk.length;
          yield chunk;
        }
        return;
      } catch (error) {
        if (!(error instanceof FetchFailed) || resumes === MAX_RESUMES) throw error;
        await this.resume(size, error, backoffMs(RESUME_PAUSE, resumes));
      }
    }
  }

  /** Ends the connection, if it is still open. */
  close(): void {
    this.answer.body.destroy();
  }

  /** Opens the rest of the file. @throws the failure that cut it, when the host cannot prove that it is the same file. */
  private async resume(size: number | undefined, cut: FetchFailed, pauseMs: number): Promise<void> {
    const validator = strongValidator(this.answer);
    if (validator === undefined || size === undefined) throw cut;
    await sleep(pauseMs);
    const rest = await ask(this.options, { range: `bytes=${this.received}-`, 'if-range': validator });
    const range = contentRange(rest);
    if (rest.status !== 206 || range?.start !== this.received || range.size !== size) {
      rest.body.destroy();
      throw cut;
    }
    this.answer = rest;
  }
}

function ask(
  { fetcher, url, deadline, maxBytes, signal, credentials, accountId }: DownloadOptions,
  headers: Record<string, string>,
) {
  return fetcher.get(url, {
    headers,
    maxBytes,
    signal,
    credentials,
    accountId,
    timeoutMs: Math.max(1, deadline - performance.now()),
  });
}

/** What If-Range may name: an ETag that is not weak. */
function strongValidator({ headers }: SafeAnswer): string | undefined {
  const etag = headers.etag;
  return typeof etag === 'string' && !etag.startsWith('W/') ? etag : undefined;
}
