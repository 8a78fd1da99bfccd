import type { Response } from 'express';
import { jsonBytes } from '#platform';

/** A client that reads nothing of a longer answer for so long is cut off. */
const LONG_BYTES = 64 * 1024;
export const STALL_MS = 60_000;

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * The body of an answer that is sent as it is: text, or the pieces of a long one. Express's own `json` also looks for ways to send
 * nothing, which costs time that no hot path has.
 */
export class SerializedBody {
  private counted: number | undefined;

  constructor(
    private readonly content: string | readonly Buffer[],
    readonly contentType: string = JSON_TYPE,
  ) {}

  static json(value: object): SerializedBody {
    return new SerializedBody(JSON.stringify(value));
  }

  /** For a value that may be long, such as what an account stored: it is written in steps, with other work in between. */
  static async longJson(value: object): Promise<SerializedBody> {
    return new SerializedBody(await jsonBytes(value));
  }

  get text(): string {
    return typeof this.content === 'string' ? this.content : Buffer.concat(this.content).toString('utf8');
  }

  get bytes(): number {
    return (this.counted ??=
      typeof this.content === 'string'
        ? Buffer.byteLength(this.content)
        : this.content.reduce((sum, { length }) => sum + length, 0));
  }

  /** Sends it with the status and headers that the response has. */
  sendWith(response: Response): void {
    const { bytes } = this;
    // The time of a connection begins again whenever something of what waits is read.
    if (bytes > LONG_BYTES) response.setTimeout(STALL_MS, () => response.destroy());
    // Blanks may have begun the answer.
    if (!response.headersSent)
      response.writeHead(response.statusCode, { 'content-type': this.contentType, 'content-length': bytes });
    if (typeof this.content === 'string') {
      response.end(this.content);
      return;
    }
    for (const piece of this.content) response.write(piece);
    response.end();
  }
}
