import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError, type RelayedStream, type TextEvent } from '#contracts';
import { logger } from '#platform';
import type { Remembered } from './remembered.js';
import { toStreamFailure } from './stream-failure.js';
import type { TextExchange } from './text-exchange.js';
import type { RoutedReply } from './text-router.js';
import type { TextStreamEncoder } from './text-style-codec.js';

const log = logger('text');

/** Some clients read a failure only as a piece of its own, so pieces of it are written this far apart, in milliseconds. */
const FAILURE_GAP_MS = 25;

/** A part of the answer's body: whole events only. */
export type StreamPiece = string | Uint8Array;

interface StreamParts {
  readonly exchange: TextExchange;
  readonly encoder: TextStreamEncoder;
  readonly remembered: Remembered;
  readonly route: () => Promise<RoutedReply>;
  readonly signal: AbortSignal;
}

/** One streamed answer, from the search for an upstream to its last event. */
export class TextStream {
  readonly #parts: StreamParts;
  #routed: RoutedReply | undefined;
  #produced = '';

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  get contentType(): string {
    return this.#parts.encoder.contentType;
  }

  /**
   * Finds an upstream and waits for its first event, so that a failure can still be told by an HTTP status.
   *
   * @throws GatewayError when no upstream could reply; nothing is charged.
   */
  async open(): Promise<void> {
    try {
      this.#routed = await this.#parts.route();
    } catch (error) {
      await this.#settle('failed');
      throw error;
    }
  }

  /** Something to write while the upstream is silent. */
  heartbeat(): string {
    return this.#parts.encoder.heartbeat();
  }

  /**
   * The body of the answer; `open` must have succeeded. Ends well or with the failure in the style's own form, and throws
   * only when the caller has left. Leaving it early aborts nothing by itself: abort the signal.
   */
  async *pieces(): AsyncGenerator<StreamPiece, void, undefined> {
    const { signal, encoder } = this.#parts;
    const reply = this.#routed?.reply;
    try {
      if (reply?.kind === 'stream') yield* this.#relay(reply);
      else if (reply?.kind === 'events') yield* this.#encode(reply.events);
      else throw new GatewayError('upstream_error', 'The upstream did not stream its reply.');
      const ending = encoder.end();
      if (ending !== '') yield ending;
    } catch (error) {
      signal.throwIfAborted();
      yield* this.failure(error);
    } finally {
      await this.#settle(signal.aborted ? 'aborted' : 'failed');
    }
  }

  /** A failure inside an answer that has begun, in the style's own form. */
  async *failure(error: unknown): AsyncGenerator<StreamPiece, void, undefined> {
    const failure = toStreamFailure(error);
    log.warn('stream.failed', { code: failure.code, detail: failure.message });
    for (const [index, piece] of this.#parts.encoder.fail(failure).entries()) {
      if (index > 0) await sleep(FAILURE_GAP_MS);
      yield piece;
    }
  }

  async *#encode(events: AsyncIterable<readonly TextEvent[]>): AsyncGenerator<StreamPiece, void, undefined> {
    const { encoder } = this.#parts;
    for await (const batch of events) {
      let piece = '';
      for (const event of batch) {
        if (event.type === 'finish') return yield* this.#finish(piece, event);
        this.#note(event);
        piece += encoder.write(event);
      }
      if (piece !== '') yield piece;
    }
    throw new GatewayError('upstream_error', 'The upstream broke off before its reply was complete.');
  }

  /** The end waits until what can be referred to is stored; the charge is made meanwhile. */
  async *#finish(
    before: string,
    finish: Extract<TextEvent, { type: 'finish' }>,
  ): AsyncGenerator<StreamPiece, void, undefined> {
    const { encoder, remembered, exchange } = this.#parts;
    const usage = finish.usage ?? (await exchange.count(this.#produced));
    const last = before + encoder.write({ ...finish, usage });
    await remembered.done();
    const settled = exchange.settle({ usage, produced: '', status: 'completed' });
    yield last;
    await settled;
  }

  async *#relay(reply: RelayedStream): AsyncGenerator<StreamPiece, void, undefined> {
    const { encoder, remembered, exchange } = this.#parts;
    let noted = false;
    let whole = false;
    try {
      for await (const frames of reply.frames) {
        const answer = noted ? undefined : reply.answer();
        if (answer) {
          noted = true;
          remembered.note(answer);
          await remembered.done();
        }
        yield encoder.relay(frames);
      }
      whole = true;
    } finally {
      const { usage, produced, failed } = reply.outcome();
      if (whole) await exchange.settle({ usage, produced, status: failed ? 'failed' : 'completed' });
      else this.#produced = produced;
    }
  }

  #note(event: TextEvent): void {
    if (event.type === 'text' || event.type === 'reasoning') this.#produced += event.text;
    else if (event.type === 'arguments') this.#produced += event.json;
  }

  /** For every way out that has not settled yet: what went out is charged, counted with a tokenizer. */
  #settle(status: 'aborted' | 'failed'): Promise<void> {
    return this.#parts.exchange.settle({ usage: undefined, produced: this.#produced, status });
  }
}
