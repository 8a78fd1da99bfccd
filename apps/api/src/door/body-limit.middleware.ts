import { GatewayError } from '#contracts';
import type { NextFunction, Request, Response } from 'express';
import type { JsonBounds } from './json-scan.js';

/** The most bytes of a body on a route whose requests carry no pictures. */
const SMALL_BODY_BYTES = 1024 * 1024;

/** Requests that may carry pictures: text, videos, images and their quotes. */
const CARRIES_PICTURES = /^\/(v1\/){0,2}(responses|messages|videos|images|quote)(\/|$)|models\/[^/]+(:|%3a)/i;

/** Requests whose conversations and tools the caller shapes. */
const TEXT = /^\/(v1\/){0,2}(responses|messages)(\/|$)|models\/[^/]+(:|%3a)/i;

/** Thousands of turns with their tool calls; what is built of so many values keeps others waiting for some 20 ms. */
const TEXT_JSON: JsonBounds = { maxValues: 100_000, maxKeys: 30_000 };

/** Several times what the longest list of fields takes. */
const OTHER_JSON: JsonBounds = { maxValues: 2_000, maxKeys: 1_000 };

/** How much structure the bodies of a path may have. */
export const jsonBoundsOf = (path: string): JsonBounds => (TEXT.test(path) ? TEXT_JSON : OTHER_JSON);

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
