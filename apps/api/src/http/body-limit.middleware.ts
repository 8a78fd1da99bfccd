import { GatewayError } from '#contracts';
import type { NextFunction, Request, Response } from 'express';
import { BODY_KINDS } from './body-kinds.js';

/**
 * Holds routes that carry no images to 1 MiB, or to what a file of an operator's may have, judged by the announced length before a byte is read. Such a body must announce its length;
 * the general bound (`BODY_LIMIT_MB`) holds while any body is read.
 */
export function limitBody({ headers, match }: Request, _response: Response, next: NextFunction): void {
  const { announcedBytes } = BODY_KINDS[match.facts.body];
  if (announcedBytes === undefined) return next();
  if (headers['transfer-encoding'] !== undefined) {
    return next(new GatewayError('request_too_large', 'The body of this path must announce its Content-Length.'));
  }
  if (Number(headers['content-length'] ?? 0) <= announcedBytes) return next();
  next(new GatewayError('request_too_large', `The body of this path must be at most ${announcedBytes} bytes.`));
}
