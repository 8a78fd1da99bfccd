import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { GatewayError } from '#contracts';
import { json, type NextFunction, type Request, type RequestHandler, type Response } from 'express';

declare module 'express-serve-static-core' {
  interface Request {
    /** The body's own bytes, for answers that pass it on as it came. Undefined when there was none. */
    rawBody?: Buffer;
  }
}

const HAS_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** Arrays and objects within each other. Far more than any request needs, far less than what exhausts a call stack. */
const DEPTH_MAX = 200;

/** True for a request whose body is read. */
export const carriesBody = ({ method }: Request): boolean => HAS_BODY.has(method);

/**
 * Reads JSON bodies up to a bound, in bytes; a body of another type is refused by name, and so are compressed and very
 * deeply nested ones. An absent body is left undefined.
 */
export function jsonBody(maxBytes: number): RequestHandler {
  const read = json({ limit: maxBytes, strict: false, inflate: false, type: () => true, verify: keepBytes });
  return (request: Request, response: Response, next: NextFunction) => {
    if (!carriesBody(request)) return next();
    const refusal = refusalOf(request.headers);
    if (refusal !== null) return next(new GatewayError('unsupported_media_type', refusal));
    read(request, response, (error?: unknown) => {
      if (error === undefined && !fitsDepth(request.body, DEPTH_MAX))
        next(new GatewayError('invalid_json', `The body must not nest deeper than ${DEPTH_MAX} arrays and objects.`));
      else next(error);
    });
  };
}

function refusalOf({
  'content-type': type,
  'content-encoding': encoding = 'identity',
}: IncomingHttpHeaders): string | null {
  if (type !== undefined && !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type))
    return `Content-Type must be application/json, not "${type.slice(0, 100)}".`;
  if (encoding.toLowerCase() !== 'identity')
    return `Bodies are read as they are, without Content-Encoding "${encoding.slice(0, 100)}".`;
  return null;
}

function fitsDepth(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => fitsDepth(inner, depth - 1));
}

function keepBytes(request: IncomingMessage & { rawBody?: Buffer }, _response: unknown, bytes: Buffer): void {
  request.rawBody = bytes;
}
