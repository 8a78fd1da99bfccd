import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { GatewayError, type StopSignal } from '#contracts';
import { InterimResponses, PieceCount, timeIsUp } from '#platform';

/** What an upstream answers first. */
export interface ReplyHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A reply that an upstream made, and that is larger, or comes in more pieces, than is read. */
export class ReplyTooLarge extends GatewayError {
  constructor(
    /** What it began with, where that is known. */
    readonly head?: ReplyHead,
    /** What is too much of it, as it follows "a reply that". */
    fault = 'is too large',
  ) {
    super('upstream_error', `The upstream sent a reply that ${fault}.`);
  }
}

/** An upstream's answer, read whole. */
export interface WholeReply extends ReplyHead {
  readonly text: string;
}

/** An upstream's answer, its body read as it comes. */
export interface StreamedReply extends ReplyHead {
  readonly body: ReplyBody;
}

/** Checks the head of an answer: returns how much of its body to read, in bytes. @throws GatewayError to read nothing of it. */
export type AcceptHead = (head: ReplyHead) => number;

export interface WholeReplyLimits {
  readonly signal: StopSignal;
  readonly accept: AcceptHead;
  /** For the whole exchange, in milliseconds; absent: the signal alone ends it. */
  readonly timeoutMs?: number;
}

/**
 * Sends a request and reads its answer whole.
 *
 * @throws ReplyTooLarge; what `accept` throws; the reason of `signal`, or a `TimeoutError`; undici's reason for no reply.
 */
export const wholeReply = (
  line: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: WholeReplyLimits,
): Promise<WholeReply> =>
  new Promise((resolve, reject) => {
    const settle: Settle = ({ status, headers }, bytes) => resolve({ status, headers, text: bytes.toString('utf8') });
    line.dispatch(request, new WholeExchange(limits, settle, reject));
  });

/** The same with the body as it came, which may be compressed or in another charset. */
export const wholeReplyBytes = (
  line: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: WholeReplyLimits,
): Promise<ReplyHead & { readonly bytes: Buffer }> =>
  new Promise((resolve, reject) => {
    line.dispatch(
      request,
      new WholeExchange(limits, ({ status, headers }, bytes) => resolve({ status, headers, bytes }), reject),
    );
  });

/**
 * Sends a request and waits for the head of its answer. Without an end of its own but that of `signal`: its reader bounds it.
 *
 * @throws the reason of `signal`; undici's reason for no reply.
 */
export const streamedReply = (
  line: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal: StopSignal,
): Promise<StreamedReply> =>
  new Promise((resolve, reject) => {
    line.dispatch(request, new StreamedExchange(signal, resolve, reject));
  });

type Settle = (head: ReplyHead, bytes: Buffer) => void;

/**
 * One request and its answer, as undici reads it. Its own `request` makes a stream of each body and a signal of each caller,
 * which together cost as much as all else that is done with a reply.
 */
abstract class Exchange implements Dispatcher.DispatchHandler {
  protected head: ReplyHead = { status: 0, headers: {} };
  protected controller: Dispatcher.DispatchController | undefined;
  private readonly pieces = new PieceCount();
  private interim: InterimResponses | undefined;
  private leaving: { readonly reason: Error } | undefined;

  constructor(
    private readonly signal: StopSignal,
    protected readonly fail: (error: unknown) => void,
  ) {
    signal.addEventListener('abort', this.aborted);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.signal.aborted) this.aborted();
    else if (this.leaving) controller.abort(this.leaving.reason);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.head = { status, headers };
    try {
      if (status >= 200) this.begin(this.head);
      else if ((this.interim ??= new InterimResponses()).isTooMany())
        throw new GatewayError('upstream_error', `The upstream ${this.interim.fault}.`);
    } catch (error) {
      controller.abort(error as Error);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.pieces.isTooMany(chunk)) controller.abort(new ReplyTooLarge(this.head, this.pieces.fault));
    else this.take(controller, chunk);
  }

  abstract onResponseEnd(): void;
  abstract onResponseError(controller: Dispatcher.DispatchController, error: Error): void;

  /** @throws GatewayError to read nothing of the body. */
  protected abstract begin(head: ReplyHead): void;
  protected abstract take(controller: Dispatcher.DispatchController, chunk: Buffer): void;

  /** The caller has left, or the time is up, perhaps before there was a connection to send on. */
  protected leave(reason: Error): void {
    this.leaving = { reason };
    if (this.controller) return this.controller.abort(reason);
    this.end();
    this.fail(reason);
  }

  protected end(): void {
    this.signal.removeEventListener('abort', this.aborted);
  }

  private readonly aborted = (): void => this.leave(this.signal.reason as Error);
}

/** Collects the body. It has a timer for the time limit, where a signal of its own would cost more. */
class WholeExchange extends Exchange {
  private readonly accept: AcceptHead;
  private readonly chunks: Buffer[] = [];
  private readonly timer: NodeJS.Timeout | undefined;
  private bytes = 0;
  private maxBytes = 0;

  constructor(
    { signal, accept, timeoutMs }: WholeReplyLimits,
    private readonly settle: Settle,
    fail: (error: unknown) => void,
  ) {
    super(signal, fail);
    this.accept = accept;
    if (timeoutMs !== undefined) this.timer = setTimeout(() => this.leave(timeIsUp(timeoutMs)), timeoutMs).unref();
  }

  onResponseEnd(): void {
    this.end();
    this.settle(this.head, together(this.chunks));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.end();
    this.fail(error);
  }

  protected begin(head: ReplyHead): void {
    this.maxBytes = this.accept(head);
  }

  protected take(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes > this.maxBytes) controller.abort(new ReplyTooLarge(this.head));
    else this.chunks.push(chunk);
  }

  protected override end(): void {
    clearTimeout(this.timer);
    super.end();
  }
}

/** Hands the body on as it comes. */
class StreamedExchange extends Exchange {
  private readonly body = new ReplyBody({
    resume: () => this.controller?.resume(),
    close: () => {
      this.end();
      this.controller?.abort(new Error('The body was closed before its end.'));
    },
  });

  constructor(
    signal: StopSignal,
    private readonly settle: (reply: StreamedReply) => void,
    fail: (error: unknown) => void,
  ) {
    super(signal, fail);
  }

  onResponseEnd(): void {
    this.body.finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.end();
    this.body.fail(error);
    // Changes nothing where the head was there: then the reader of the body is told.
    this.fail(error);
  }

  protected begin({ status, headers }: ReplyHead): void {
    this.settle({ status, headers, body: this.body });
  }

  protected take(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.body.push(chunk)) controller.pause();
  }

  protected override leave(reason: Error): void {
    this.body.discard(reason);
    super.leave(reason);
  }
}

/** So much of a body waits for its reader before its upstream has to wait as well, in bytes. */
const WAITING_BYTES = 64 * 1024;

/** The side of a body from which it comes. */
interface BodySource {
  /** Asks for more, where `push` has said that it was enough. */
  resume(): void;
  /** No more is wanted. */
  close(): void;
}

/** A body that is read as it comes: what a stream of Node's does, without its events and turns between. */
export class ReplyBody {
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private isFinished = false;
  private broken: { readonly reason: unknown } | undefined;
  private wake: (() => void) | undefined;

  constructor(private readonly source: BodySource) {}

  /** All that waits; undefined where nothing does. @throws what broke the body, behind all that came before. */
  read(): Buffer | undefined {
    if (this.waiting.length === 0) {
      if (this.broken) throw this.broken.reason;
      return undefined;
    }
    const bytes = together(this.waiting);
    this.waiting = [];
    this.waitingBytes = 0;
    this.source.resume();
    return bytes;
  }

  /** Whether all was read. */
  get isOver(): boolean {
    return this.isFinished && this.waiting.length === 0 && !this.broken;
  }

  /** Waits until there is more to read, or none will come. */
  more(): Promise<void> {
    return new Promise((resolve) => (this.wake = resolve));
  }

  /** Reads what is left as text. @throws ReplyTooLarge; what broke the body. */
  async text(limitBytes: number): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      while (!this.isOver) {
        const chunk = this.read();
        if (!chunk) await this.more();
        else if ((bytes += chunk.length) > limitBytes) throw new ReplyTooLarge();
        else chunks.push(chunk);
      }
      return together(chunks).toString('utf8');
    } finally {
      this.close();
    }
  }

  /** To be called by every reader: nothing more of it is read. */
  close(): void {
    this.discard(new Error('The body was closed.'));
    this.source.close();
  }

  /** Whether so much waits now that no more should come until `resume`. */
  push(chunk: Buffer): boolean {
    this.waiting.push(chunk);
    this.waitingBytes += chunk.length;
    this.wake?.();
    return this.waitingBytes >= WAITING_BYTES;
  }

  finish(): void {
    this.isFinished = true;
    this.wake?.();
  }

  /** The first reason stays. */
  fail(reason: unknown): void {
    this.broken ??= { reason };
    this.wake?.();
  }

  /** Fails it, and nothing that waits is read any more. */
  discard(reason: unknown): void {
    this.waiting = [];
    this.waitingBytes = 0;
    this.fail(reason);
  }
}

const together = (chunks: readonly Buffer[]): Buffer =>
  chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
