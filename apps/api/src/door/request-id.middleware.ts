import { randomId, withLogContext } from '#platform';
import type { NextFunction, Request, Response } from 'express';

declare module 'express-serve-static-core' {
  interface Request {
    /** Names this request in answers, logs and ledger entries: `req_` and 24 hexadecimal digits. */
    requestId: string;
  }
}

/** Names every request, tells the client under both header names that libraries read, and binds the name to all log lines. */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const id = randomId('req');
  request.requestId = id;
  response.setHeader('x-request-id', id);
  response.setHeader('request-id', id);
  withLogContext({ requestId: id }, next);
}
