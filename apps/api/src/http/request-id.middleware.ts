import { randomId } from '#platform';
import type { NextFunction, Request, Response } from 'express';

declare module 'express-serve-static-core' {
  interface Request {
    /** Names this request in answers, logs and ledger entries: `req_` and 24 hexadecimal digits. */
    requestId: string;
  }
}

/**
 * Gives every request an id and returns it under both header names that libraries read. Log lines of a request name it
 * themselves: a context that follows every promise costs more than a tenth of a request.
 */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const id = randomId('req');
  request.requestId = id;
  response.setHeader('x-request-id', id);
  response.setHeader('request-id', id);
  next();
}
