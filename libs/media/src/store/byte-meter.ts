import { createHash } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';
import { MediaStoreError } from './media-store.js';

/** What the bytes that pass through must not exceed, and what they must add up to. */
export interface ByteMeterLimits {
  readonly maxBytes: number;
  readonly expectedBytes?: number | undefined;
}

/**
 * Counts and hashes what flows through. Fails with `too_large` at the first chunk over the limit and with
 * `length_mismatch` when the end comes at another length than announced, so the receiver never sees a clean end.
 */
export class ByteMeter extends Transform {
  private readonly hash = createHash('sha256');
  private count = 0;

  constructor(private readonly limits: ByteMeterLimits) {
    super();
  }

  get bytes(): number {
    return this.count;
  }

  /** The SHA-256 of everything that passed, in hexadecimal; may be asked once, after the end. */
  sha256(): string {
    return this.hash.digest('hex');
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.count += chunk.length;
    if (this.count > this.limits.maxBytes) {
      done(new MediaStoreError('too_large', `the file is larger than ${this.limits.maxBytes} bytes`));
      return;
    }
    this.hash.update(chunk);
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    const { expectedBytes } = this.limits;
    if (expectedBytes === undefined || expectedBytes === this.count) return done();
    done(new MediaStoreError('length_mismatch', `${expectedBytes} bytes were announced, but ${this.count} arrived`));
  }
}
