import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { allowOwnPage } from '../../http/security-headers.middleware.js';
import type { OperatorAccess, OperatorRole } from './operator-access.js';

export const SESSION_COOKIE = 'gateway_operator';

const READ_METHODS = new Set(['GET', 'HEAD']);

/**
 * Lets only signed-in operators pass. Pages lead strangers to the sign-in; anything else answers 401. Viewers may only
 * look, and changes are taken from our own pages only.
 */
export function opsGate(access: OperatorAccess): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    response.setHeader('cache-control', 'no-store');
    allowOwnPage(response);
    const role = access.read(cookieOf(request));
    if (role === null) return refuseStranger(request, response);
    response.locals['operatorRole'] = role;
    if (READ_METHODS.has(request.method)) return next();
    if (!isFromOwnPage(request)) return refuse(response, 'Changes come from these pages only.');
    if (role === 'viewer' && request.path !== '/sign-out') return refuse(response, 'You are signed in to look only.');
    next();
  };
}

/** The role of the operator that the gate let in. */
export const roleOf = (response: Response): OperatorRole => response.locals['operatorRole'] as OperatorRole;

/** Browsers leave `Sec-Fetch-Site` out on plain HTTP to other machines, but name the origin of every change. */
function isFromOwnPage({ headers }: Request): boolean {
  const { 'sec-fetch-site': site, origin = '', host } = headers;
  if (site !== undefined) return site === 'same-origin';
  return URL.canParse(origin) && new URL(origin).host === host;
}

function refuseStranger(request: Request, response: Response): void {
  const wantsPage = READ_METHODS.has(request.method) && request.accepts(['json', 'html']) === 'html';
  if (wantsPage) response.redirect(303, '/ops/sign-in');
  else response.status(401).json({ code: 401, message: 'Sign in at /ops/sign-in first.' });
}

function refuse(response: Response, message: string): void {
  response.status(403).json({ code: 403, message });
}

function cookieOf(request: Request): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([name]) => name === SESSION_COOKIE)?.[1];
}
