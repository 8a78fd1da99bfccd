import type { Response } from 'express';
import { drained } from './drained.js';
import { STALL_MS } from './serialized-body.js';

/** A comment this often keeps proxies from cutting a quiet stream, in milliseconds. */
const HEARTBEAT_MS = 15_000;
/** When a client that was cut off comes back, in milliseconds. */
const RECONNECT_MS = 2_000;

/** Server-sent events about tasks: begun at once, kept open in silence, written no faster than the client reads. */
export class EventStream {
  private readonly heartbeat: NodeJS.Timeout;
  /** Shared by concurrent writers, so that one listener serves them all. */
  private draining: Promise<void> | undefined;

  constructor(
    private readonly response: Response,
    private readonly stallMs = STALL_MS,
  ) {
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    response.write(`retry: ${RECONNECT_MS}\n\n`);
    this.heartbeat = setInterval(() => this.beat(), HEARTBEAT_MS);
  }

  /** Writes one event. Resolves when the client can take the next, has left, or was cut off. */
  async send(event: string): Promise<void> {
    const { response } = this;
    if (response.destroyed || response.write(event) || response.destroyed) return;
    this.draining ??= drained(response, this.stallMs).finally(() => (this.draining = undefined));
    await this.draining;
  }

  end(): void {
    clearInterval(this.heartbeat);
    this.response.end();
  }

  private beat(): void {
    if (!this.response.writableNeedDrain) this.response.write(': still here\n\n');
  }
}
