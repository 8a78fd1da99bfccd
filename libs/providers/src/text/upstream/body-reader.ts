import type { ReplyBody } from '../../http/exchange.js';

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

  constructor(
    private readonly body: ReplyBody,
    private readonly taker: BodyTaker<Piece>,
    private readonly failed: (error: unknown) => unknown,
  ) {}

  async next(): Promise<IteratorResult<Piece, undefined>> {
    try {
      while (this.state !== 'over') {
        const bytes = this.state === 'reading' ? this.read() : undefined;
        const piece = bytes ? this.taker.take(bytes) : this.withoutBytes();
        if (piece !== undefined) return { done: false, value: piece };
        if (!bytes && this.state === 'reading') await this.body.more();
      }
      return { done: true, value: undefined };
    } catch (error) {
      void this.return();
      throw error;
    }
  }

  return(): Promise<IteratorResult<Piece, undefined>> {
    this.state = 'over';
    this.body.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private read(): Buffer | undefined {
    try {
      return this.body.read();
    } catch (error) {
      throw this.failed(error);
    }
  }

  /** What follows the last bytes when the body is whole. */
  private withoutBytes(): Piece | undefined {
    if (this.state === 'ending') {
      this.state = 'over';
      return this.taker.end();
    }
    if (!this.body.isOver) return undefined;
    this.state = 'ending';
    this.body.close();
    return this.taker.rest();
  }
}
