import type { AccessService } from '#features';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { admit } from './admit.js';
import { carriesBody } from './json-body.middleware.js';

/**
 * Looks at the API key before a byte of a body is read: strangers cannot make the gateway hold or parse anything. Paths
 * below `operators` have a gate of their own, which was passed.
 */
export function knownSender(access: AccessService, operators: string): RequestHandler {
  return async (request: Request, _response: Response, next: NextFunction) => {
    if (carriesBody(request) && !request.path.startsWith(`${operators}/`)) {
      request.caller = await admit(request, access);
    }
    next();
  };
}
