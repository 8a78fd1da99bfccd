import type { Response } from 'express';
import type { StreamPiece, TextStream } from '#features';
import { drained } from '../../http/event-stream.js';

/** Longest silence on an open stream, in milliseconds: proxies and clients give up on silent connections. */
const HEARTBEAT_MS = 15_000;

/** Writes one streamed answer, all but its end: headers with the first event, heartbeats in silence, no faster than the client reads. */
export class StreamWriter {
  private lastWriteAt = performance.now();

  /** @param stallMs how long a client may read nothing of what waits for it; then it is cut off. */
  constructor(
    private readonly response: Response,
    private readonly stream: TextStream,
    private readonly stallMs: number,
  ) {}

  /**
   * Writes the stream to its end.
   *
   * @throws GatewayError when it failed before anything was written, so that it can still be an HTTP status.
   */
  async write(): Promise<void> {
    const heartbeat = setInterval(() => this.beat(), HEARTBEAT_MS / 3);
    try {
      if (await this.open()) await this.stream.sendTo((piece) => this.send(piece));
    } finally {
      clearInterval(heartbeat);
    }
  }

  /** False when it failed after a heartbeat had begun the answer; the failure is then reported inside it. */
  private async open(): Promise<boolean> {
    try {
      await this.stream.open();
      return true;
    } catch (error) {
      if (!this.response.headersSent) throw error;
      await this.stream.sendFailureTo((piece) => this.send(piece), error);
      return false;
    }
  }

  private beat(): void {
    const silentMs = performance.now() - this.lastWriteAt;
    if (silentMs < HEARTBEAT_MS || this.response.destroyed || this.response.writableNeedDrain) return;
    this.begin();
    this.response.write(this.stream.heartbeat());
    this.lastWriteAt = performance.now();
  }

  private send(piece: StreamPiece): Promise<void> | undefined {
    if (piece.length === 0) return undefined;
    this.begin();
    this.lastWriteAt = performance.now();
    if (this.response.write(piece) || this.response.destroyed) return undefined;
    return drained(this.response, this.stallMs);
  }

  private begin(): void {
    if (this.response.headersSent) return;
    this.response.writeHead(200, {
      'content-type': this.stream.contentType,
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
  }
}
