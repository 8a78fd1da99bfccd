import { GatewayError } from '#contracts';
import { json, type NextFunction, type Request, type RequestHandler, type Response } from 'express';

const HAS_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** Reads JSON bodies up to a bound; a body of another type is refused by name, an absent one is left undefined. */
export function jsonBody(maxBytes: number): RequestHandler {
  const read = json({ limit: maxBytes, strict: false, type: () => true });
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
