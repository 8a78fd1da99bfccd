import { GatewayError } from '#contracts';
import type { NextFunction, Request, Response } from 'express';

/** The most bytes of a body on a route whose requests carry no pictures. */
const SMALL_BODY_BYTES = 1024 * 1024;

/** Requests that may carry pictures: text, videos, images and their quotes. */
const CARRIES_PICTURES = /^\/(v1\/){0,2}(responses|messages|videos|images|quote)(\/|$)|models\/[^/]+(:|%3a)/i;

/**
 * Holds routes that carry no pictures to 1 MiB, told before a byte is read. Such a body must announce its length;
 * the general bound (`BODY_LIMIT_MB`) holds while any body is read.
 */
export function limitBody(request: Request, _response: Response, next: NextFunction): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (CARRIES_PICTURES.test(request.path)) return next();
  if (encoding !== undefined) {
    return next(new GatewayError('request_too_large', 'The body of this path must announce its Content-Length.'));
  }
  if (Number(length ?? 0) <= SMALL_BODY_BYTES) return next();
  next(new GatewayError('request_too_large', `The body of this path must be at most ${SMALL_BODY_BYTES} bytes.`));
}
