import type { Response } from 'express';
import { EVENT_STREAM, type NamedData } from '#features';
import { jsonBytes } from '#platform';
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

/** Writes events that are all there, no faster than the client reads them; one that reads nothing is cut off. */
export async function writeEvents(response: Response, events: readonly NamedData[], stallMs = STALL_MS): Promise<void> {
  response.writeHead(response.statusCode, { 'content-type': EVENT_STREAM, 'cache-control': 'no-store' });
  for (const { name, data } of events) {
    for (const piece of [`event: ${name}\ndata: `, ...(await jsonBytes(data)), '\n\n']) {
      if (response.destroyed) return;
      if (!response.write(piece)) await drained(response, stallMs);
    }
  }
}

/**
 * Resolves when the client has read on, or has left, or is cut off because it does neither for `stallMs`. Listens for no
 * longer than that: a slow client makes many waits.
 */
export function drained(response: Response, stallMs: number): Promise<void> {
  return new Promise((resolve) => {
    const stalled = setTimeout(() => response.destroy(), stallMs);
    const done = (): void => {
      clearTimeout(stalled);
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
