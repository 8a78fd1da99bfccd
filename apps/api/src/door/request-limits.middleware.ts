import { GatewayError } from '#contracts';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Admission } from './admission.js';
import { carriesBody } from './json-body.middleware.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Why a request with an Idempotency-Key is over a limit; it may still be answered again if it was paid for. */
    overLimit?: GatewayError;
    /** Set on a request that was counted against a limit of the minute. */
    isCounted?: boolean;
  }
}

/** Work that spends money, and is counted for its key only. */
const PAID = /^\/(v1\/){0,2}(responses|messages|videos|images)\/?(generations|edits)?\/?$|models\/[^/]+(:|%3[aA])/;

/** Work that costs nothing. */
const FREE = /^\/(v1\/){0,2}(messages|quote|tasks|webhooks)(\/|$)/;

/** Stopping a task must be possible for a key over its limit. */
const CANCEL = /^\/v1\/tasks\/[^/]+\/cancel\/?$/;

/** A repeat is looked for in bodies up to this length, which cost next to nothing to read. */
const REPEATABLE_BYTES = 64 * 1024;

/** The requests of a path in the limits: of its key, of its key or the free share of its account, of that share alone. */
function kindOf(path: string): 'paid' | 'free' | 'shared' {
  if (PAID.test(path)) return 'paid';
  return FREE.test(path) && !CANCEL.test(path) ? 'free' : 'shared';
}

/**
 * Asks the limits of the minute before a byte of a body is read, so that a key over its limit costs next to nothing. A
 * path that is not known counts for the free share of its account.
 */
export function requestLimits(admission: Admission): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    const { caller } = request;
    if (caller && carriesBody(request)) {
      request.isCounted = true;
      try {
        await admission.count(kindOf(request.path), caller, response);
      } catch (error) {
        if (!isSmallRepeat(request) || !(error instanceof GatewayError)) throw error;
        request.overLimit = error;
      }
    }
    next();
  };
}

/** An answer that was paid for is given again to a key over its limit too. */
const isSmallRepeat = ({ path, headers }: Request): boolean =>
  headers['idempotency-key'] !== undefined &&
  kindOf(path) === 'paid' &&
  Number(headers['content-length']) <= REPEATABLE_BYTES;
