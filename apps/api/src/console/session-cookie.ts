import type { Request, Response } from 'express';

/** Lasts as long as the session at most; the server decides. In milliseconds. */
const MAX_AGE_MS = 7 * 86_400_000;
const PLAIN = 'gw_console';
/** Browsers take and send this one over HTTPS alone. */
const SECURE = `__Secure-${PLAIN}`;

const nameFor = (request: Request): string => (request.secure ? SECURE : PLAIN);
const optionsFor = (request: Request) =>
  ({ httpOnly: true, sameSite: 'lax', path: '/console', secure: request.secure }) as const;

/** The secret of the session that the browser has; only pages of the console send it. */
export function sessionTokenOf(request: Request): string | undefined {
  const name = nameFor(request);
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([each]) => each === name)?.[1];
}

/** Gives the browser a session. */
export function setSessionCookie(request: Request, response: Response, token: string): void {
  response.cookie(nameFor(request), token, { ...optionsFor(request), maxAge: MAX_AGE_MS });
}

/** Takes it away. */
export function clearSessionCookie(request: Request, response: Response): void {
  response.clearCookie(nameFor(request), optionsFor(request));
}
