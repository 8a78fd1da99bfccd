import type { AccessService, Caller } from '#features';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { authenticate } from './authenticate.js';
import { carriesBody } from './json-body.middleware.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set when the operator's token was right. Operators have no account. */
    isOperator?: true;
  }
}

/** Checks the API key before reading the body, so an unauthenticated client cannot make the gateway buffer or parse anything. */
export function authenticateBeforeBody(access: AccessService): RequestHandler {
  const goOnWith = (caller: Caller, request: Request, next: NextFunction): void => {
    request.caller = caller;
    next();
  };
  return (request: Request, _response: Response, next: NextFunction) => {
    if (!carriesBody(request) || request.isOperator || request.match.facts.style === 'console') return next();
    const caller = authenticate(request, access);
    if (!(caller instanceof Promise)) return goOnWith(caller, request, next);
    return caller.then((found) => goOnWith(found, request, next));
  };
}
