import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ConsoleSession, SignInMethod } from '#contracts';
import { type SessionOwner, SessionsService } from '#features';
import { logger } from '#platform';
import { wrongCredentials } from '../http/error-body.js';
import { SessionSerializer } from './session-serializer.js';

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

const log = logger('console');

/** Opens the session after a successful sign-in, whatever the method. */
@Injectable()
export class NewSessions {
  constructor(
    private readonly sessions: SessionsService,
    private readonly answers: SessionSerializer,
  ) {}

  /**
   * Gives the browser a session. A holder of a key has proved the key, which opens nothing that needs proof.
   *
   * @throws ConsoleRefusal `wrong_credentials`: the user was disabled.
   */
  async open(method: SignInMethod, owner: SessionOwner, request: Request, response: Response): Promise<ConsoleSession> {
    const place = { address: request.ip, agent: request.get('user-agent') };
    const token = await this.sessions.open(method, owner, place, method !== 'api_key');
    const session = await this.sessions.read(token);
    if (!session) throw wrongCredentials('The user may not sign in.');
    const { requestId, ip: address } = request;
    log.info('console.signed_in', { requestId, address, method, userId: session.user?.id, sessionId: session.id });
    // The browser forgets the session that it had, and may still send it to the queues.
    const before = await this.sessions.read(sessionTokenOf(request) ?? '');
    if (before) await this.sessions.end(before.id, before.id);
    setSessionCookie(request, response, token, session.permissions.has('admin:read'));
    return this.answers.of(session);
  }
}
