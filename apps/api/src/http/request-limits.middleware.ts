import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { GatewayError } from '#contracts';
import type { Admission, CountedAs } from './admission.js';
import { BODY_KINDS, REPEATABLE_BYTES } from './body-kinds.js';
import { carriesBody } from './json-body.middleware.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Why a request with an Idempotency-Key is over a limit; it may still be answered again if it was paid for. */
    overLimit?: GatewayError;
    /** Set on a request that was counted against a limit of the minute. */
    isCounted?: boolean;
  }
}

/** What a request with a body counts for: its key, its key or the free share of its account, that share alone. */
const COUNTED_AS = { task: 'paid', text: 'paid', free: 'free', always: 'shared' } as const;

/**
 * Asks the limits of the minute before a byte of a body is read, so that a key over its limit costs next to nothing. A
 * path that is not known counts for the free share of its account.
 */
export function requestLimits(admission: Admission): RequestHandler {
  const countThen = async (next: NextFunction, request: Request, counting: Promise<void>): Promise<void> => {
    try {
      await counting;
    } catch (error) {
      if (!isSmallRepeat(request) || !(error instanceof GatewayError)) throw error;
      request.overLimit = error;
    }
    next();
  };
  return (request: Request, response: Response, next: NextFunction) => {
    const { caller } = request;
    if (!caller || !carriesBody(request)) return next();
    request.isCounted = true;
    const counting = admission.count(countedAs(request), caller, response);
    return counting ? countThen(next, request, counting) : next();
  };
}

/** An answer that was paid for is given again to a key over its limit too. */
const isSmallRepeat = (request: Request): boolean =>
  request.headers['idempotency-key'] !== undefined &&
  countedAs(request) === 'paid' &&
  Number(request.headers['content-length']) <= REPEATABLE_BYTES;

/** What costs nothing by its route, or has no route, counts for the share of the account. */
const countedAs = ({ match }: Request): CountedAs => COUNTED_AS[match.facts.cost ?? 'always'];

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
