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
import type { ClientConnection } from './client-connection.js';
import type { Metering, ReplyEnd } from './text-metering.js';
import type { RoutedReply } from './text-router.js';
import type { BegunText, TextRequestContext } from './text-request.js';
import type { TextStreamEncoder } from './text-style-codec.js';

/** Turns the cause of a broken stream into a GatewayError; an unexpected one reveals no details. */
function toStreamFailure(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('internal_error', 'Something went wrong on our side. The request id helps us to find it.', {
    cause: error,
    log: error instanceof Error ? error.message : 'unknown failure',
  });
}

const log = logger('text');

/** Some clients read a failure only as a piece of its own, so pieces of it are written this far apart, in milliseconds. */
const FAILURE_GAP_MS = 25;

/** A part of the answer's body: whole events only, sometimes none. */
export type StreamPiece = string | Uint8Array;

/** Writes a piece; a promise when the caller must read on before the next one. */
export type SendPiece = (piece: StreamPiece) => Promise<void> | undefined;

interface StreamParts {
  readonly service: { ask(request: TextRequestContext<unknown>, begun: BegunText): Promise<RoutedReply> };
  readonly request: TextRequestContext<unknown>;
  readonly begun: BegunText;
  readonly encoder: TextStreamEncoder;
  /** The most that is read after the caller has left, in bytes. */
  readonly maxBytesLeft: number;
}

/** A caller that stalls a reply for so long, in milliseconds, may be why its upstream broke off. */
const HELD_UP_MS = 1_000;

/** One streamed answer, from the search for an upstream to its last event. */
export class TextStream {
  private readonly client: ClientConnection;
  private readonly metering: Metering;
  private routed: RoutedReply | undefined;
  private produced = '';
  private finish: FinishEvent | undefined;
  private beforeFinish = '';
  private noted = false;
  private heldUpMs = 0;
  private bytesLeft = 0;

  constructor(private readonly parts: StreamParts) {
    this.client = parts.request.client;
    this.metering = parts.begun.metering;
  }

  get contentType(): string {
    return this.parts.encoder.contentType;
  }

  /**
   * Finds an upstream and waits for its first event, so that a failure can still be an HTTP status.
   *
   * @throws GatewayError when no upstream could reply; nothing is charged.
   */
  async open(): Promise<void> {
    try {
      const { service, request, begun } = this.parts;
      this.routed = await service.ask(request, begun);
      if (request.origin.caller.isLogged === true) request.words = () => this.words();
    } catch (error) {
      this.metering.settle(endWithoutReply(error, this.client, this.metering));
      throw error;
    }
  }

  /** Something to write while the upstream is silent. */
  heartbeat(): string {
    return this.parts.encoder.heartbeat();
  }

  /**
   * Sends the body of the answer; `open` must have succeeded. Ends well or with the failure in the style's own form, and
   * throws only when the caller has left: then the upstream is read on for its usage, and nothing is sent.
   */
  async sendTo(send: SendPiece): Promise<void> {
    const reply = this.routed?.reply;
    try {
      if (reply?.kind === 'stream') await this.relay(reply, send);
      else if (reply?.kind === 'events') await this.translate(reply, send);
      else throw new GatewayError('upstream_error', 'The upstream did not stream its reply.');
    } catch (error) {
      this.settleRest(error);
      if (this.client.hasLeft) throw error;
      if (!this.client.endedBy) this.reportEnd(toStreamFailure(error));
      await this.sendFailureTo(send, error);
    }
  }

  /** Sends a failure inside an answer that has begun, in the style's own form. */
  async sendFailureTo(send: SendPiece, error: unknown): Promise<void> {
    const failure = toStreamFailure(this.client.endedBy ?? error);
    const { requestId } = this.metering;
    log.warn('stream.failed', { requestId, code: failure.code, detail: failure.message });
    for (const [index, piece] of this.parts.encoder.fail(failure).entries()) {
      if (index > 0) await sleep(FAILURE_GAP_MS);
      await send(piece);
    }
  }

  private words(): string {
    const reply = this.routed?.reply;
    return reply?.kind === 'stream' ? reply.words() : this.produced;
  }

  /** Waits only for a slow caller: a promise for every token would cost as much as the token. */
  private async relay(reply: RelayedStream, send: SendPiece): Promise<void> {
    const { encoder } = this.parts;
    for await (const frames of reply.frames) {
      const saving = this.rememberOnce(reply);
      if (saving) await saving;
      if (this.client.hasLeft) {
        this.readOn(frames.length);
        continue;
      }
      const sending = send(encoder.relay(frames));
      if (sending) await this.heldUp(sending);
    }
    const end = this.endRelay(reply);
    if (!this.client.hasLeft) await send(end);
  }

  private async heldUp(sending: Promise<void>): Promise<void> {
    const since = performance.now();
    await sending;
    this.heldUpMs += performance.now() - since;
  }

  /** Reads on after the caller left, but not forever. */
  private readOn(bytes: number): void {
    this.bytesLeft += bytes;
    if (this.bytesLeft > this.parts.maxBytesLeft) this.client.stop();
  }

  private async translate(reply: EventsReply, send: SendPiece): Promise<void> {
    for await (const batch of reply.events) {
      const piece = this.write(batch);
      if (this.finish) break;
      if (this.client.hasLeft) {
        this.readOn(piece.length);
        continue;
      }
      const sending = send(piece);
      if (sending) await this.heldUp(sending);
    }
    const last = await this.lastPiece();
    if (!this.client.hasLeft) await send(last);
  }

  /** The events of a batch; those before a `finish` are kept for the last piece. */
  private write(batch: readonly TextEvent[]): string {
    const { encoder } = this.parts;
    let piece = '';
    for (const event of batch) {
      if (event.type === 'finish') {
        this.finish = event;
        this.beforeFinish = piece;
        return '';
      }
      this.produced += eventText(event);
      piece += encoder.write(event);
    }
    return piece;
  }

  /** The end waits until what can be referred to is stored. */
  private async lastPiece(): Promise<string> {
    const { encoder, request } = this.parts;
    if (!this.finish) throw new GatewayError('upstream_error', 'The upstream broke off before its reply was complete.');
    this.reportEnd();
    const usage = await this.metering.usageOf(this.finish.usage, this.produced);
    const last = this.beforeFinish + encoder.write({ ...this.finish, usage });
    this.metering.settle({ usage, produced: '', status: this.status('completed') });
    await request.stored();
    return last + encoder.end();
  }

  private rememberOnce(reply: RelayedStream): Promise<void> | undefined {
    const answer = this.noted ? undefined : reply.answer();
    if (!answer) return undefined;
    this.noted = true;
    this.parts.request.store(answer);
    return this.parts.request.stored();
  }

  private endRelay(reply: RelayedStream): string {
    const { usage, produced, failure } = reply.outcome();
    this.reportEnd(failure);
    // A failure that the upstream itself reports before it wrote anything costs nothing there.
    const reported = failure && produced === '' ? undefined : usage;
    this.metering.settle({ usage: reported, produced, status: this.status(failure ? 'failed' : 'completed') });
    return this.parts.encoder.end();
  }

  /** A failure after the caller left or stalled the reply says nothing about the upstream. */
  private reportEnd(failure?: GatewayError): void {
    if (!failure || (!this.client.hasLeft && this.heldUpMs < HELD_UP_MS)) this.routed?.ended(failure);
  }

  private status(status: 'completed' | 'failed'): 'completed' | 'failed' | 'aborted' {
    return this.client.hasLeft ? 'aborted' : status;
  }

  /**
   * For a reply that broke: what was reported and what went out is charged, whichever side broke it. Where it was the caller, or the
   * upstream had to wait for the caller, what was not seen of its work is charged as well. What broke before a reply began is free.
   */
  private settleRest(error: unknown): void {
    const reply = this.routed?.reply;
    const outcome = reply?.kind === 'stream' ? reply.outcome() : undefined;
    if (outcome?.isEmpty === true) return this.metering.settle(endWithoutReply(error, this.client, this.metering));
    const { usage, produced } = outcome ?? {
      usage: this.metering.reportedUsage(),
      produced: this.produced + this.metering.heldBack(),
    };
    const { endedBy, owesUnseen } = this.client;
    if (endedBy && !owesUnseen) return this.metering.settle({ usage, produced, status: 'failed' });
    const isUnseen = this.client.hasLeft || owesUnseen || this.heldUpMs >= HELD_UP_MS;
    this.metering.settle({ usage, produced, status: owesUnseen ? 'aborted' : this.status('failed'), isUnseen });
  }
}

/**
 * The end of a request that no upstream replied to. One that was asked and had not said a word yet when it was given up,
 * after its caller had left, may have done all that was held for it.
 */
export function endWithoutReply(error: unknown, client: ClientConnection, metering: Metering): ReplyEnd {
  if (!client.owesUnseen) return { usage: undefined, produced: '', status: 'failed' };
  const isUnseen = error === client.signal.reason;
  return { usage: isUnseen ? metering.reportedUsage() : undefined, produced: '', status: 'aborted', isUnseen };
}
