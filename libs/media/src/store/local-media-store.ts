import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import send from 'send';
import { GatewayError } from '#contracts';
import { makeDataFolder } from '#platform';
import { ByteMeter } from './byte-meter.js';
import { checkTtl, type FileLink, keyOfLink, type LinkSigner, noSuchFile, readLink } from './file-link.js';
import { checkMediaKey } from './media-key.js';
import {
  type AdmitDownload,
  type ByteRange,
  type LinkOptions,
  type MediaStore,
  MediaStoreError,
  type PutOptions,
  type StoredFile,
} from './media-store.js';

const YEAR_SECONDS = 31_536_000;
/** A client that reads nothing of a file for so long is cut off, in milliseconds. */
const STALL_MS = 60_000;

/**
 * Sends a file of the folder with Range, If-Range, ETag, 304 and HEAD. The browser may neither guess another type nor
 * run anything in it, and pages of any origin may show it: the link alone is enough to have the file.
 *
 * @throws GatewayError `not_found`, `range_not_satisfiable` or `internal_error`, before anything was written.
 */
export async function sendLocalFile(
  request: IncomingMessage,
  response: ServerResponse,
  { root, key, expiresAt, stallMs = STALL_MS }: FileLink & { root: string; stallMs?: number },
): Promise<void> {
  const maxAgeSeconds = expiresAt === null ? YEAR_SECONDS : Math.max(0, Math.floor(expiresAt - Date.now() / 1000));
  const headersBefore = new Set(response.getHeaderNames());
  const stream = send(request, key, { root, dotfiles: 'deny', cacheControl: false, index: false });
  stream.on('headers', (headers: ServerResponse) => {
    headers.setHeader('x-content-type-options', 'nosniff');
    headers.setHeader('content-security-policy', "default-src 'none'; sandbox");
    headers.setHeader('cache-control', `private, max-age=${maxAgeSeconds}`);
    headers.setHeader('access-control-allow-origin', '*');
    headers.setHeader('cross-origin-resource-policy', 'cross-origin');
  });
  await new Promise<void>((resolve, reject) => {
    stream.on('error', (error: Error & { status?: number; headers?: Record<string, string> }) => {
      if (response.headersSent) {
        response.destroy(error);
        return;
      }
      // The error is written elsewhere: it must not carry the file's own headers.
      for (const name of response.getHeaderNames()) if (!headersBefore.has(name)) response.removeHeader(name);
      reject(asGatewayError(error));
    });
    stream.on('directory', () => reject(noSuchFile()));
    response.setTimeout(stallMs, () => response.destroy());
    // A client that goes away in the middle is no failure of ours.
    finished(response).then(resolve, () => resolve());
    stream.pipe(response);
  });
}

function asGatewayError(error: Error & { status?: number; headers?: Record<string, string> }): GatewayError {
  if (error.status === 416)
    return new GatewayError('range_not_satisfiable', 'The requested range lies outside the file.', {
      ...(error.headers && { headers: error.headers }),
      cause: error,
    });
  if (error.status !== undefined && error.status < 500) return noSuchFile(error);
  return new GatewayError('internal_error', 'The file could not be read.', { log: error.message, cause: error });
}

interface LocalMediaStoreOptions {
  /** Folder of the files; made when missing. */
  readonly folder: string;
  /** Where clients reach this gateway, for example `http://127.0.0.1:3000`; asked for each link. */
  readonly publicBaseUrl: () => string;
  readonly signer: LinkSigner;
  /** Current time in milliseconds; the system clock when it is left out. */
  readonly now?: (() => number) | undefined;
}

/** Holds files that are still being written; its leading dot keeps it out of reach of every key. */
const PARTIAL_FOLDER = '.partial';

/** A partial file this old was left by a process that died. */
const STALE_PARTIAL_MS = 24 * 3_600_000;

/** How often they are looked for, when something is written. */
const SWEEP_EVERY_MS = 3_600_000;

const atOnce: AdmitDownload = (_key, send) => send();

/** Files in a folder, with links that this gateway signs and answers itself. Safe for several processes on one folder. */
export class LocalMediaStore implements MediaStore {
  private readonly now: () => number;
  private sweptAtMs = 0;

  private constructor(
    private readonly root: string,
    private readonly options: LocalMediaStoreOptions,
  ) {
    this.now = options.now ?? Date.now;
  }

  /** Makes the folder and clears what killed processes left half-written more than a day ago. */
  static async create(options: LocalMediaStoreOptions): Promise<LocalMediaStore> {
    const store = new LocalMediaStore(resolve(options.folder), options);
    makeDataFolder(store.partialFolder);
    await store.removeStalePartials();
    return store;
  }

  async put(key: string, body: Readable, options: PutOptions): Promise<StoredFile> {
    const partial = join(this.partialFolder, randomUUID());
    const meter = new ByteMeter(options);
    // What other processes left since this one started. A folder that cannot be read makes the write fail, which reports it.
    if (this.now() - this.sweptAtMs > SWEEP_EVERY_MS) await this.removeStalePartials().catch(() => undefined);
    let closed: Promise<void> | undefined;
    try {
      const target = this.pathOf(key);
      const file = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true });
      closed = new Promise((resolve) => file.once('close', () => resolve()));
      await pipeline(body, meter, file, options.signal ? { signal: options.signal } : {});
      await this.place(partial, target);
    } catch (error) {
      body.destroy();
      // A file whose opening is still under way would appear after its removal.
      await closed;
      // What is left of it is cleared a day later; what went wrong first is what counts.
      await rm(partial, { force: true }).catch(() => undefined);
      throw asWriteError(error);
    }
    return { key, bytes: meter.bytes, sha256: meter.sha256() };
  }

  async url(key: string, { ttlSeconds }: LinkOptions): Promise<string> {
    checkTtl(ttlSeconds);
    return this.options.publicBaseUrl().replace(/\/$/, '') + this.options.signer.sign(key, ttlSeconds);
  }

  async open(key: string, range?: ByteRange, signal?: AbortSignal): Promise<Readable> {
    try {
      const file = await open(this.pathOf(key), 'r');
      const stream = file.createReadStream(range && { start: range.start, end: range.end - 1 });
      return signal ? addAbortSignal(signal, stream) : stream;
    } catch (error) {
      throw asStoreError(error);
    }
  }

  keyOf(link: string): string | undefined {
    return keyOfLink(link, this.options.publicBaseUrl(), this.options.signer);
  }

  async size(key: string): Promise<number> {
    try {
      return (await stat(this.pathOf(key))).size;
    } catch (error) {
      throw asStoreError(error);
    }
  }

  async delete(key: string): Promise<void> {
    const path = this.pathOf(key);
    try {
      await rm(path, { force: true });
    } catch (error) {
      throw asStoreError(error);
    }
    // The folder of a task is left behind only while it still holds other files.
    if (dirname(path) !== this.root) await rmdir(dirname(path)).catch(() => undefined);
  }

  async isEmpty(): Promise<boolean> {
    try {
      const entries = await readdir(this.root, { recursive: true, withFileTypes: true });
      return !entries.some((entry) => entry.isFile() && entry.parentPath !== this.partialFolder);
    } catch (error) {
      throw asStoreError(error);
    }
  }

  async healthy(): Promise<boolean> {
    const probe = join(this.partialFolder, randomUUID());
    try {
      await writeFile(probe, 'ok', { flag: 'wx' });
      return true;
    } catch {
      return false;
    } finally {
      await rm(probe, { force: true }).catch(() => undefined);
    }
  }

  async serve(request: IncomingMessage, response: ServerResponse, admit: AdmitDownload = atOnce): Promise<void> {
    const { key, expiresAt } = readLink(request, this.options.signer);
    await admit(key, () => sendLocalFile(request, response, { root: this.root, key, expiresAt }));
  }

  async close(): Promise<void> {
    // Nothing is held open between calls.
  }

  private get partialFolder(): string {
    return join(this.root, PARTIAL_FOLDER);
  }

  private pathOf(key: string): string {
    checkMediaKey(key);
    return join(this.root, key);
  }

  /** Moves the finished file to its name and makes the name survive a power cut. */
  private async place(partial: string, target: string): Promise<void> {
    const folder = dirname(target);
    for (let attempt = 1; ; attempt += 1) {
      const created = await mkdir(folder, { recursive: true });
      try {
        await rename(partial, target);
        return await syncFolders(folder, created === undefined ? folder : dirname(created));
      } catch (error) {
        // A delete may remove the empty folder between the two calls.
        if (!isCode(error, 'ENOENT') || attempt === 3) throw error;
      }
    }
  }

  private async removeStalePartials(): Promise<void> {
    this.sweptAtMs = this.now();
    for (const name of await readdir(this.partialFolder)) {
      const path = join(this.partialFolder, name);
      const age = await stat(path).then(
        (entry) => this.now() - entry.mtimeMs,
        () => 0,
      );
      if (age > STALE_PARTIAL_MS) await rm(path, { force: true });
    }
  }
}

/** Flushes the entries of a folder and of its parents up to and including `last`. */
async function syncFolders(first: string, last: string): Promise<void> {
  for (let folder = first; folder.startsWith(last); folder = dirname(folder)) {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (folder === last) return;
  }
}

const isCode = (error: unknown, ...codes: string[]): boolean =>
  codes.includes(String((error as NodeJS.ErrnoException | null)?.code));

/** A folder that is missing while we write is no missing file: the store is away, for example not mounted. */
function asWriteError(error: unknown): unknown {
  if (isCode(error, 'ENOENT', 'ENOTDIR'))
    return new MediaStoreError('unavailable', 'the media folder is not there', { cause: error });
  return asStoreError(error);
}

/** Sorts what the file system said; failures of other origin, such as the sender's stream, pass unchanged. */
function asStoreError(error: unknown): unknown {
  if (isCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG'))
    return new MediaStoreError('no_space', 'there is no room left for media files', { cause: error });
  if (isCode(error, 'ENOENT', 'EISDIR', 'ENOTDIR'))
    return new MediaStoreError('not_found', 'there is no such file', { cause: error });
  if (isCode(error, 'EACCES', 'EPERM', 'EROFS', 'EIO', 'EMFILE', 'ENFILE'))
    return new MediaStoreError('unavailable', 'the media folder cannot be used', { cause: error });
  return error;
}
