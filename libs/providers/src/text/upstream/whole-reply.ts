import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { ReplyHead } from './reply-head.js';
import { ReplyTooLarge } from './reply-too-large.js';

/** An upstream's answer, read whole. */
export interface WholeReply extends ReplyHead {
  readonly text: string;
}

/** Looks at the head of an answer: how much is read of its body, in bytes. @throws GatewayError to read nothing of it. */
export type AcceptHead = (head: ReplyHead) => number;

type Settle = (reply: WholeReply) => void;

/**
 * Collects one answer as undici reads it. Its own `request` makes a stream of each body, which for a whole reply costs as
 * much as all else that is done with it.
 */
export class WholeReplyHandler implements Dispatcher.DispatchHandler {
  readonly #accept: AcceptHead;
  readonly #signal: AbortSignal;
  readonly #settle: Settle;
  readonly #fail: (error: unknown) => void;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #bytes = 0;
  #maxBytes = 0;

  constructor(accept: AcceptHead, signal: AbortSignal, settle: Settle, fail: (error: unknown) => void) {
    this.#accept = accept;
    this.#signal = signal;
    this.#settle = settle;
    this.#fail = fail;
    signal.addEventListener('abort', this.#leave);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#leave();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    try {
      this.#maxBytes = this.#accept({ status, headers });
    } catch (error) {
      controller.abort(error as Error);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#maxBytes) this.#chunks.push(chunk);
    else controller.abort(new ReplyTooLarge());
  }

  onResponseEnd(): void {
    this.#end();
    this.#settle({ status: this.#status, headers: this.#headers, text: this.#text() });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    this.#fail(error);
  }

  #text(): string {
    const [first = Buffer.alloc(0), ...others] = this.#chunks;
    return (others.length === 0 ? first : Buffer.concat(this.#chunks)).toString('utf8');
  }

  /** The caller has left, perhaps before there was a connection to send on. */
  readonly #leave = (): void => {
    this.#controller?.abort(this.#signal.reason as Error);
    if (!this.#controller) this.#fail(this.#signal.reason);
  };

  #end(): void {
    this.#signal.removeEventListener('abort', this.#leave);
  }
}
