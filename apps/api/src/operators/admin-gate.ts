import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { GatewayError } from '#contracts';
import type { GuessLimiter } from '#features';
import type { AdminToken } from '#runtime';
import { presentedKey, missingKeyReason } from '../http/authenticate.js';

/**
 * Stands in front of everything below /admin/v1, routes that do not exist included: what is added there is shut by
 * default. Bodies of strangers are not even read.
 */
export function adminGate(token: AdminToken, guesses: GuessLimiter): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    response.setHeader('cache-control', 'no-store');
    const presented = presentedKey(request);
    if (presented !== undefined && (await opens(token, presented, guesses, request))) {
      request.isOperator = true;
      return next();
    }
    next(
      new GatewayError('invalid_api_key', refusalOf(request, presented), {
        log:
          token.digest === null ? 'ADMIN_TOKEN is not set, so the admin API is shut' : 'wrong or missing admin token',
      }),
    );
  };
}

const TOKEN_HEADER = '"Authorization: Bearer <ADMIN_TOKEN>"';

const refusalOf = (request: Request, presented: string | undefined): string =>
  (presented === undefined && missingKeyReason(request, 'token', TOKEN_HEADER)) ||
  `The admin API needs the header ${TOKEN_HEADER}.`;

/** @throws GatewayError `rate_limit_exceeded`: too many wrong tokens came from the address; this one was not looked at. */
async function opens(token: AdminToken, presented: string, guesses: GuessLimiter, request: Request): Promise<boolean> {
  const { ip: address, requestId } = request;
  return (await guesses.check({ address, requestId }, () => token.opens(presented) || null)) ?? false;
}
