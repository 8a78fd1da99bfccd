import type { IncomingMessage } from 'node:http';
import { GatewayError } from '#contracts';
import { json, type NextFunction, type Request, type RequestHandler, type Response } from 'express';

declare module 'express-serve-static-core' {
  interface Request {
    /** The body's own bytes, for answers that pass it on as it came. Undefined when there was none. */
    rawBody?: Buffer;
  }
}

const HAS_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** Reads JSON bodies up to a bound; a body of another type is refused by name, an absent one is left undefined. */
export function jsonBody(maxBytes: number): RequestHandler {
  const read = json({ limit: maxBytes, strict: false, type: () => true, verify: keepBytes });
  return (request: Request, response: Response, next: NextFunction) => {
    if (!HAS_BODY.has(request.method)) return next();
    const type = request.headers['content-type'];
    if (type !== undefined && !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)) {
      return next(
        new GatewayError(
          'unsupported_media_type',
          `Content-Type must be application/json, not "${type.slice(0, 100)}".`,
        ),
      );
    }
    read(request, response, next);
  };
}

function keepBytes(request: IncomingMessage & { rawBody?: Buffer }, _response: unknown, bytes: Buffer): void {
  request.rawBody = bytes;
}
