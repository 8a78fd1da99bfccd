import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { CodedError } from '#platform';

/** What is known about a file before it is stored. */
export interface PutOptions {
  /** MIME type, for example `video/mp4`. The local form serves the type that the key's extension says. */
  readonly contentType: string;
  /** The most bytes the file may have; one more is refused and nothing is kept. */
  readonly maxBytes: number;
  /** The exact length the sender announced; any other length is refused and nothing is kept. */
  readonly expectedBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** True: a request waits for it, so that a store that says nothing is given up sooner. */
  readonly isAwaited?: boolean;
}

export interface StoredFile {
  readonly key: string;
  readonly bytes: number;
  /** SHA-256 of the stored bytes, in lower-case hexadecimal. */
  readonly sha256: string;
}

/** A part of a file, in bytes from its beginning: `start` up to but without `end`. Not empty, and inside the file. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface LinkOptions {
  /** Whole seconds from now, at least 1; `null` makes a link that stays. */
  readonly ttlSeconds: number | null;
}

/** Sends a file by its link, at once or when its time has come. @throws GatewayError not to send it. */
export type AdmitDownload = (key: string, send: () => Promise<void>) => Promise<void>;

/**
 * Where finished files live. Two forms with one behaviour: a local folder and an S3-compatible bucket.
 * A key is a relative path such as `results/task_01/0.mp4`, as {@link checkMediaKey} describes.
 */
export interface MediaStore {
  /**
   * Stores the stream under the key, whole or not at all; an earlier file of that key is replaced. Memory stays
   * bounded whatever the length. A failure of the stream itself is passed on unchanged.
   *
   * @throws MediaStoreError `too_large`, `length_mismatch`, `no_space`, `invalid_key` or `unavailable`.
   */
  put(key: string, body: Readable, options: PutOptions): Promise<StoredFile>;

  /**
   * Makes a link that any holder can read until it expires. Needs no network and does not check that the file exists.
   *
   * @throws MediaStoreError `invalid_key`.
   * @throws RangeError when `ttlSeconds` is not a whole number of at least 1.
   */
  url(key: string, options: LinkOptions): Promise<string>;

  /**
   * Opens the file, or a part of it, for reading. The stream fails when the store falls silent, or `signal` aborts.
   *
   * @throws MediaStoreError `not_found`, `invalid_key` or `unavailable`.
   */
  open(key: string, range?: ByteRange, signal?: AbortSignal): Promise<Readable>;

  /** The key that a link to this gateway leads to; undefined for every other address, and for a link that is over or forged. */
  keyOf(link: string): string | undefined;

  /** How many bytes the file has. @throws MediaStoreError `not_found`, `invalid_key` or `unavailable`. */
  size(key: string): Promise<number>;

  /** Removes the file; removing one that does not exist succeeds. @throws MediaStoreError `invalid_key` or `unavailable`. */
  delete(key: string): Promise<void>;

  /**
   * True when no file is stored; what health checks write does not count.
   *
   * @throws MediaStoreError `unavailable`.
   */
  isEmpty(): Promise<boolean>;

  /** True when files can be written now. Answers within 2 seconds and never throws. */
  healthy(): Promise<boolean>;

  /**
   * Answers GET and HEAD of `/files/...`, the links of this gateway: the local form sends the file (Range, ETag, 304, 416),
   * the S3 form redirects to a fresh presigned link. Resolves when the answer is out or the client has gone.
   *
   * @param admit asked before the bytes of a file are sent, once the link has proved to be good.
   * @throws GatewayError before anything was written: `permission_denied` (forged), `link_expired`, `not_found`,
   * `method_not_allowed`, `range_not_satisfiable` or `internal_error`.
   */
  serve(request: IncomingMessage, response: ServerResponse, admit?: AdmitDownload): Promise<void>;

  /** Lets go of connections. */
  close(): Promise<void>;
}

/** Why the store could not do it: a bad key, a missing file, a limit, a full disk, or a store that does not answer. */
export type MediaStoreErrorCode =
  'invalid_key' | 'not_found' | 'too_large' | 'length_mismatch' | 'no_space' | 'unavailable';

/** A failure of the media store. Messages are for the log; they may name keys but never secrets. */
export class MediaStoreError extends CodedError<MediaStoreErrorCode> {}
