import { GatewayError } from '#contracts';
import type { NextFunction, Request, Response } from 'express';

/**
 * Refuses a method that a known path does not have with 405, before its key and its body are read, and says with
 * `Allow` which methods it has. OPTIONS is answered with them.
 */
export function expectMethod({ method, match }: Request, response: Response, next: NextFunction): void {
  const { otherMethods } = match;
  if (otherMethods.length === 0) return next();
  const allow = [...otherMethods, 'OPTIONS'].join(', ');
  if (method === 'OPTIONS') {
    response.setHeader('allow', allow);
    response.status(204).end();
    return;
  }
  const message = `This path does not take ${method}: it takes ${otherMethods.join(' or ')}.`;
  next(new GatewayError('method_not_allowed', message, { headers: { allow } }));
}
