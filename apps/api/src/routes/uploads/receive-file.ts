import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable, Transform, type TransformCallback } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { GatewayError } from '#contracts';
import { cleanFilename, contentTypeOf, FORMAT_BYTES, formatOf } from '#features';
import { type MediaStore, MediaStoreError } from '#media';
import type { SendingRate } from '../../http/sending-rate.js';

/** A file as it came, stored but not visible yet. */
export interface ReceivedFile {
  readonly id: string;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  /** The other fields of the form, in the order in which they came. */
  readonly fields: ReadonlyMap<string, string>;
}

const FIELDS_MAX = 20;
const FIELD_BYTES_MAX = 1_024;
/** The file, and another so that it can be named as one too many. */
const PARTS_MAX = FIELDS_MAX + 2;

/** What a form may have around its file: parts and their headers. */
const FORM_BYTES_MAX = 64 * 1024;

/** What is done with a file that comes. */
export interface Reception {
  readonly store: MediaStore;
  readonly maxBytes: number;
  readonly rate: SendingRate;
  /** Counts bytes, and answers how long the next are to wait, in milliseconds. */
  readonly pace: (bytes: number) => number;
  /** Asked when the file begins: where it is stored. */
  readonly begin: () => Promise<{ readonly id: string; readonly storeKey: string }>;
}

/**
 * Reads a form with one file, which goes to the store while it comes. A form that is refused is read to its end all the
 * same, up to the size that a good one may have.
 *
 * @throws GatewayError `unsupported_media_type`, `invalid_parameter`, `missing_parameter`, `request_too_large`,
 * `request_timeout`, and what `begin` throws.
 */
export async function receiveFile(request: IncomingMessage, reception: Reception): Promise<ReceivedFile> {
  const form = new IncomingForm(parserFor(request), reception);
  const leaving = new AbortController();
  let bytes = 0;
  const unwatch = reception.rate.watch(
    () => bytes,
    (refusal) => leaving.abort(refusal),
  );
  const counted = new PassThrough({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > reception.maxBytes + FORM_BYTES_MAX) return done(tooLarge(reception.maxBytes));
      const waitMs = reception.pace(chunk.length);
      if (waitMs === 0) done(null, chunk);
      else setTimeout(done, waitMs, null, chunk);
    },
  });
  leaving.signal.addEventListener('abort', () => counted.destroy(leaving.signal.reason as Error));
  request.once('close', () => {
    if (!request.complete) counted.destroy(new GatewayError('invalid_parameter', 'The body broke off before its end.'));
  });
  try {
    return await form.read(request.pipe(counted));
  } finally {
    unwatch();
    request.unpipe(counted);
  }
}

function parserFor({ headers }: IncomingMessage): BusboyInstance {
  const type = headers['content-type'];
  if (type === undefined || !/^multipart\/form-data\s*;.*boundary=/i.test(type))
    throw new GatewayError(
      'unsupported_media_type',
      'A file is sent as multipart/form-data, with the fields file and purpose.',
    );
  return new Busboy({
    headers: { ...headers, 'content-type': type },
    // Names are as the client wrote them; folders are cut off with everything else that is no name.
    preservePath: true,
    limits: {
      parts: PARTS_MAX,
      files: 2,
      fields: FIELDS_MAX,
      fieldSize: FIELD_BYTES_MAX,
      fieldNameSize: 100,
      headerPairs: 20,
    },
  });
}

const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('request_too_large', `A file may have at most ${maxBytes} bytes.`, { param: 'file' });

/** A form while it is received. Of several mistakes the first is reported, once the form has ended. */
class IncomingForm {
  private readonly fields = new Map<string, string>();
  private file: Promise<ReceivedFile> | undefined;
  private head: Head | undefined;
  private refusal: unknown;
  private whenIgnored: (() => void) | undefined;

  constructor(
    private readonly parser: BusboyInstance,
    private readonly reception: Reception,
  ) {
    parser.on('field', (name, value, _nameTruncated, isTruncated) => {
      if (isTruncated) this.refuse(wrongField(name, `may have at most ${FIELD_BYTES_MAX} bytes`));
      else if (this.fields.has(name)) this.refuse(wrongField(name, 'may be given once'));
      else this.fields.set(name, value);
    });
    parser.on('file', (name, stream, filename) => this.take(name, stream, filename));
    parser.on('partsLimit', () => {
      this.refuse(wrongField('form', `may have at most ${PARTS_MAX} parts`));
      this.whenIgnored?.();
    });
    parser.on('fieldsLimit', () => this.refuse(wrongField('form', `may have at most ${FIELDS_MAX} fields`)));
  }

  async read(body: Readable): Promise<ReceivedFile> {
    body.once('error', (error) => this.parser.destroy(error));
    body.pipe(this.parser);
    let rest: Promise<void> | undefined;
    this.whenIgnored = () => {
      // Millions of parts are much work; a part that is not looked into is none.
      body.unpipe(this.parser).resume();
      rest = finished(body).catch(() => undefined);
      this.parser.destroy(asFormError(this.refusal));
    };
    try {
      await finished(this.parser, { readable: false });
    } catch (error) {
      this.refuse(asFormError(error));
      // The store would wait for the rest.
      this.head?.destroy(asFormError(error));
    }
    await rest;
    const file = await this.file?.catch((error: unknown) => this.refuse(error));
    if (this.refusal !== undefined) throw this.refusal;
    if (!file)
      throw new GatewayError('missing_parameter', 'file is missing: it must be a file of the form, with a filename.', {
        param: 'file',
      });
    return file;
  }

  private refuse(refusal: unknown): void {
    this.refusal ??= refusal;
  }

  private take(name: string, stream: Readable, filename: string | undefined): void {
    stream.on('error', (error) => this.refuse(asFormError(error)));
    if (name !== 'file' || this.file) {
      stream.resume();
      return this.refuse(wrongField(name, 'is no field that takes a file: one file is sent, as "file"'));
    }
    // The rest is read even when the store rejects the file, so that the form is parsed to its end.
    this.file = this.store(stream, cleanFilename(filename ?? '')).finally(() => stream.unpipe().resume());
    // Reported at the end of the form.
    this.file.catch(() => undefined);
  }

  private async store(stream: Readable, filename: string): Promise<ReceivedFile> {
    const { store, maxBytes, begin } = this.reception;
    const { id, storeKey } = await begin();
    const head = new Head();
    this.head = head;
    stream.pipe(head);
    const stored = await store
      .put(storeKey, head, { contentType: 'application/octet-stream', maxBytes, isAwaited: true })
      .catch((error: unknown) => {
        throw asStoreRefusal(error, maxBytes);
      });
    const contentType = contentTypeOf(formatOf(head.bytes), filename);
    const { bytes, sha256 } = stored;
    return { id, filename, contentType, bytes, sha256, fields: this.fields };
  }
}

/** Passes a file on and keeps its first bytes. */
class Head extends Transform {
  bytes = Buffer.alloc(0);

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.bytes.length < FORMAT_BYTES)
      this.bytes = Buffer.concat([this.bytes, chunk.subarray(0, FORMAT_BYTES - this.bytes.length)]);
    done(null, chunk);
  }
}

const wrongField = (name: string, rule: string): GatewayError => GatewayError.ofField(name.slice(0, 64), rule);

const asFormError = (error: unknown): GatewayError =>
  error instanceof GatewayError
    ? error
    : new GatewayError('invalid_parameter', 'The body is no whole multipart form.', { cause: error });

function asStoreRefusal(error: unknown, maxBytes: number): unknown {
  if (!(error instanceof MediaStoreError)) return error;
  if (error.code === 'too_large') return tooLarge(maxBytes);
  return new GatewayError('unavailable', 'Files cannot be stored at the moment; send it again shortly.', {
    cause: error,
    retryAfterMs: 5_000,
  });
}
