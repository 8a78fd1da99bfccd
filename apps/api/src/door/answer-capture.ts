import type { Response } from 'express';

/** An answer as it is about to leave. */
export interface LeavingAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Null when it was streamed piece by piece or is longer than what is kept. */
  readonly body: string | null;
}

/** The longest answer that is kept, in bytes. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

/** Lets `look` see an answer before its last byte leaves; the end waits for it. */
export function beforeEnd(response: Response, look: (answer: LeavingAnswer) => Promise<void>): void {
  const write = response.write.bind(response) as (...parts: unknown[]) => boolean;
  const end = response.end.bind(response) as (...parts: unknown[]) => Response;
  let streamed = false;
  response.write = ((...parts: unknown[]) => {
    streamed = true;
    return write(...parts);
  }) as Response['write'];
  response.end = ((...parts: unknown[]) => {
    const contentType = String(response.getHeader('content-type') ?? 'application/json; charset=utf-8');
    const body = streamed ? null : textOf(parts[0]);
    void look({ status: response.statusCode, contentType, body }).finally(() => end(...parts));
    return response;
  }) as Response['end'];
}

function textOf(chunk: unknown): string | null {
  if (typeof chunk !== 'string' && !Buffer.isBuffer(chunk)) return '';
  return Buffer.byteLength(chunk) > KEPT_BYTES_MAX ? null : chunk.toString();
}
