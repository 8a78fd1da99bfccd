import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ConsoleSession, SignInMethod } from '#contracts';
import { type SessionOwner, SessionsService } from '#features';
import { logger } from '#platform';
import { wrongCredentials } from '../http/console-refusal.js';
import { SessionAnswer } from './session-answer.js';
import { sessionTokenOf, setSessionCookie } from './session-cookie.js';

const log = logger('console');

/** Opens the session after a successful sign-in, whatever the method. */
@Injectable()
export class NewSessions {
  constructor(
    private readonly sessions: SessionsService,
    private readonly answers: SessionAnswer,
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
