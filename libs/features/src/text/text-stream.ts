import { setTimeout as sleep } from 'node:timers/promises';
import {
  type EventsReply,
  eventText,
  type FinishEvent,
  GatewayError,
  type RelayedStream,
  type TextEvent,
} from '#contracts';
import { logger } from '#platform';
import type { Remembered } from './remembered.js';
import { toStreamFailure } from './stream-failure.js';
import type { TextExchange } from './text-exchange.js';
import type { RoutedReply } from './text-router.js';
import type { TextStreamEncoder } from './text-style-codec.js';

const log = logger('text');

/** Some clients read a failure only as a piece of its own, so pieces of it are written this far apart, in milliseconds. */
const FAILURE_GAP_MS = 25;

/** A part of the answer's body: whole events only, sometimes none. */
export type StreamPiece = string | Uint8Array;

/** Writes a piece; a promise when the caller must read on before the next one. */
export type SendPiece = (piece: StreamPiece) => Promise<void> | undefined;

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
  #finish: FinishEvent | undefined;
  #beforeFinish = '';
  #noted = false;

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
      this.#settleRest(this.#parts.signal.aborted ? 'aborted' : 'failed');
      throw error;
    }
  }

  /** Something to write while the upstream is silent. */
  heartbeat(): string {
    return this.#parts.encoder.heartbeat();
  }

  /**
   * Sends the body of the answer; `open` must have succeeded. Ends well or with the failure in the style's own form, and
   * throws only when the caller has left. Leaving it early aborts nothing by itself: abort the signal.
   */
  async sendTo(send: SendPiece): Promise<void> {
    const { signal } = this.#parts;
    const reply = this.#routed?.reply;
    try {
      if (reply?.kind === 'stream') await this.#relay(reply, send);
      else if (reply?.kind === 'events') await this.#translate(reply, send);
      else throw new GatewayError('upstream_error', 'The upstream did not stream its reply.');
    } catch (error) {
      signal.throwIfAborted();
      await this.sendFailureTo(send, error);
    } finally {
      this.#settleRest(signal.aborted ? 'aborted' : 'failed');
    }
  }

  /** Sends a failure inside an answer that has begun, in the style's own form. */
  async sendFailureTo(send: SendPiece, error: unknown): Promise<void> {
    const failure = toStreamFailure(error);
    const { requestId } = this.#parts.exchange;
    log.warn('stream.failed', { requestId, code: failure.code, detail: failure.message });
    for (const [index, piece] of this.#parts.encoder.fail(failure).entries()) {
      if (index > 0) await sleep(FAILURE_GAP_MS);
      await send(piece);
    }
  }

  /** Waits only for a slow caller: a promise for every token would cost as much as the token. */
  async #relay(reply: RelayedStream, send: SendPiece): Promise<void> {
    const { encoder } = this.#parts;
    for await (const frames of reply.frames) {
      const saving = this.#rememberOnce(reply);
      if (saving) await saving;
      const sending = send(encoder.relay(frames));
      if (sending) await sending;
    }
    await send(this.#endRelay(reply));
  }

  async #translate(reply: EventsReply, send: SendPiece): Promise<void> {
    for await (const batch of reply.events) {
      const piece = this.#write(batch);
      if (this.#finish) break;
      const sending = send(piece);
      if (sending) await sending;
    }
    await send(await this.#lastPiece());
  }

  /** The events of a batch; those before a `finish` are kept for the last piece. */
  #write(batch: readonly TextEvent[]): string {
    const { encoder } = this.#parts;
    let piece = '';
    for (const event of batch) {
      if (event.type === 'finish') {
        this.#finish = event;
        this.#beforeFinish = piece;
        return '';
      }
      this.#produced += eventText(event);
      piece += encoder.write(event);
    }
    return piece;
  }

  /** The end waits until what can be referred to is stored. */
  async #lastPiece(): Promise<string> {
    const { encoder, remembered, exchange } = this.#parts;
    if (!this.#finish)
      throw new GatewayError('upstream_error', 'The upstream broke off before its reply was complete.');
    const usage = await exchange.usageOf(this.#finish.usage, this.#produced);
    const last = this.#beforeFinish + encoder.write({ ...this.#finish, usage });
    exchange.settle({ usage, produced: '', status: 'completed' });
    await remembered.done();
    return last + encoder.end();
  }

  #rememberOnce(reply: RelayedStream): Promise<void> | undefined {
    const answer = this.#noted ? undefined : reply.answer();
    if (!answer) return undefined;
    this.#noted = true;
    this.#parts.remembered.note(answer);
    return this.#parts.remembered.done();
  }

  #endRelay(reply: RelayedStream): string {
    const { usage, produced, failed } = reply.outcome();
    this.#parts.exchange.settle({ usage, produced, status: failed ? 'failed' : 'completed' });
    return this.#parts.encoder.end();
  }

  /** For every way out that has not settled yet: what went out is charged, counted with a tokenizer. */
  #settleRest(status: 'aborted' | 'failed'): void {
    const reply = this.#routed?.reply;
    const relayed = status === 'aborted' && reply?.kind === 'stream' ? reply.outcome() : undefined;
    const { usage, produced } = relayed ?? { usage: undefined, produced: this.#produced };
    this.#parts.exchange.settle({ usage, produced, status });
  }
}
