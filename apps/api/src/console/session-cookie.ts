import type { Request, Response } from 'express';

/** Lasts as long as the session at most; the server decides. In milliseconds. */
const MAX_AGE_MS = 7 * 86_400_000;
const PLAIN = 'gw_console';
/** Browsers take and send this one over HTTPS alone. */
const SECURE = `__Secure-${PLAIN}`;
/** Where browsers send it: to the console, and to the queues of operators. */
const PATHS = ['/console', '/ops'] as const;

const nameFor = (request: Request): string => (request.secure ? SECURE : PLAIN);
const optionsFor = (request: Request, path: string) =>
  ({ httpOnly: true, sameSite: 'lax', path, secure: request.secure }) as const;

/** The secret of the session that the browser has; only pages of the console and the queues send it. */
export function sessionTokenOf(request: Request): string | undefined {
  const name = nameFor(request);
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([each]) => each === name)?.[1];
}

/** Gives the browser a session. `isOperators`: also for the queues below /ops. */
export function setSessionCookie(request: Request, response: Response, token: string, isOperators: boolean): void {
  for (const path of isOperators ? PATHS : PATHS.slice(0, 1))
    response.cookie(nameFor(request), token, { ...optionsFor(request, path), maxAge: MAX_AGE_MS });
}

/** Takes it away. */
export function clearSessionCookie(request: Request, response: Response): void {
  for (const path of PATHS) response.clearCookie(nameFor(request), optionsFor(request, path));
}
