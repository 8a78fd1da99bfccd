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
    line.dispatch(request, new WholeReplyHandler(limits, settle, reject));
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
      new WholeReplyHandler(limits, ({ status, headers }, bytes) => resolve({ status, headers, bytes }), reject),
    );
  });

/** Takes note of an interim response. @throws GatewayError `upstream_error` where it is one too many. */
export function expectFew(interim: InterimResponses): void {
  if (interim.isTooMany()) throw new GatewayError('upstream_error', `The upstream ${interim.fault}.`);
}

type Settle = (head: ReplyHead, bytes: Buffer) => void;

/**
 * Collects one answer as undici reads it. Its own `request` makes a stream of each body, which for a whole reply costs as
 * much as all else that is done with it; so does a signal for the time limit, so that this has a timer.
 */
class WholeReplyHandler implements Dispatcher.DispatchHandler {
  private readonly accept: AcceptHead;
  private readonly signal: StopSignal;
  private readonly chunks: Buffer[] = [];
  private readonly pieces = new PieceCount();
  private interim: InterimResponses | undefined;
  private readonly timer: NodeJS.Timeout | undefined;
  private controller: Dispatcher.DispatchController | undefined;
  private leaving: { readonly reason: Error } | undefined;
  private status = 0;
  private headers: IncomingHttpHeaders = {};
  private bytes = 0;
  private maxBytes = 0;

  constructor(
    { signal, accept, timeoutMs }: WholeReplyLimits,
    private readonly settle: Settle,
    private readonly fail: (error: unknown) => void,
  ) {
    this.accept = accept;
    this.signal = signal;
    signal.addEventListener('abort', this.aborted);
    if (timeoutMs !== undefined) this.timer = setTimeout(() => this.leave(timeIsUp(timeoutMs)), timeoutMs).unref();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.signal.aborted) this.aborted();
    else if (this.leaving) controller.abort(this.leaving.reason);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    this.headers = headers;
    try {
      if (status < 200) expectFew((this.interim ??= new InterimResponses()));
      else this.maxBytes = this.accept({ status, headers });
    } catch (error) {
      controller.abort(error as Error);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes > this.maxBytes) controller.abort(new ReplyTooLarge(this.head));
    else if (this.pieces.isTooMany(chunk)) controller.abort(new ReplyTooLarge(this.head, this.pieces.fault));
    else this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.end();
    this.settle(this.head, this.body());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.end();
    this.fail(error);
  }

  private get head(): ReplyHead {
    return { status: this.status, headers: this.headers };
  }

  private body(): Buffer {
    const [first = Buffer.alloc(0), ...others] = this.chunks;
    return others.length === 0 ? first : Buffer.concat(this.chunks);
  }

  private readonly aborted = (): void => this.leave(this.signal.reason as Error);

  /** The caller has left, or the time is up, perhaps before there was a connection to send on. */
  private leave(reason: Error): void {
    this.leaving = { reason };
    if (this.controller) return this.controller.abort(reason);
    this.end();
    this.fail(reason);
  }

  private end(): void {
    clearTimeout(this.timer);
    this.signal.removeEventListener('abort', this.aborted);
  }
}
