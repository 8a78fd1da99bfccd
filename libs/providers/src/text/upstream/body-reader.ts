import type { Readable } from 'node:stream';

/** Turns the bytes of a body into pieces; undefined while no piece is complete. */
export interface BodyTaker<Piece> {
  take(bytes: Buffer): Piece | undefined;
  /** What was held back, when the body is whole; called once. */
  rest(): Piece | undefined;
  /** The last piece of all; called once, after `rest`. */
  end(): Piece | undefined;
}

/**
 * Reads a body piece by piece, as fast as it is asked for. Does what a generator over the stream would do, with one
 * promise for a piece instead of three: a stream of tokens is mostly this.
 *
 * Iteration throws what broke the body, as `failed` words it, and what `take` and `end` throw. Leaving early closes it.
 */
export class BodyReader<Piece> implements AsyncIterableIterator<Piece> {
  private state: 'reading' | 'ending' | 'over' = 'reading';
  private wake: (() => void) | undefined;

  constructor(
    private readonly body: Readable,
    private readonly taker: BodyTaker<Piece>,
    private readonly failed: (error: unknown) => unknown,
  ) {
    const more = (): void => this.wake?.();
    body.on('readable', more).on('end', more).on('error', more).on('close', more);
  }

  async next(): Promise<IteratorResult<Piece, undefined>> {
    try {
      while (this.state !== 'over') {
        const bytes = this.body.destroyed ? null : (this.body.read() as Buffer | null);
        const piece = bytes === null ? await this.withoutBytes() : this.taker.take(bytes);
        if (piece !== undefined) return { done: false, value: piece };
      }
      return { done: true, value: undefined };
    } catch (error) {
      void this.return();
      throw error;
    }
  }

  return(): Promise<IteratorResult<Piece, undefined>> {
    this.state = 'over';
    this.body.destroy();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** What follows the last bytes when the body is whole; otherwise waits until there is something to read. */
  private async withoutBytes(): Promise<Piece | undefined> {
    if (this.state === 'ending') {
      this.state = 'over';
      return this.taker.end();
    }
    if (this.body.readableEnded) {
      this.state = 'ending';
      return this.taker.rest();
    }
    if (this.body.destroyed) throw this.failed(this.body.errored ?? new Error('The body was closed before its end.'));
    await new Promise<void>((resolve) => (this.wake = resolve));
    return undefined;
  }
}
