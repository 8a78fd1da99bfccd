import { GatewayError } from '#contracts';
import type { NextFunction, Request, Response } from 'express';

/** Of these Node reads the first alone, and a proxy in front perhaps the last. Most others are joined by commas. */
const READ_ONCE = ['authorization', 'content-type', 'host'];

/**
 * Refuses a header that decides whose a request is or how it is read, and is given twice.
 *
 * @throws GatewayError `invalid_parameter`.
 */
export function expectSingleHeaders(request: Request, _response: Response, next: NextFunction): void {
  const { headers, rawHeaders } = request;
  // Node keeps one of each name, so that nearly every request is seen to repeat none without looking at its names.
  if (rawHeaders.length === 2 * Object.keys(headers).length) return next();
  const names = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [name.toLowerCase()] : []));
  const repeated = READ_ONCE.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (repeated === undefined) return next();
  next(new GatewayError('invalid_parameter', `The header ${repeated} must be given once.`));
}
