import { Inject, Param, Req } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type ConsoleSessionRow, GatewayError } from '#contracts';
import { type GuessLimiter, OPERATOR_GUESSES, PeopleService, SessionsService } from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { CheckedBody } from '../checked-input.js';
import { OperatorAccess } from '../routes/ops/operator-access.js';
import { PageRoute, ConsoleRoutes, personOf } from './console-routes.js';
import { CONSOLE_ROLES_OF_TOKENS, openSession } from './console-gate.js';
import { ConsoleRefusal, wrongCredentials } from '../http/error-body.js';
import { SessionSerializer } from './session-serializer.js';
import { clearSessionCookie, sessionTokenOf, setSessionCookie } from './session-cookie.js';
import { AccountChoiceBody, NewPasswordBody, ProfileBody, ProofBody } from './sign-in.dto.js';
import { rowOf } from './views.js';
import { Reply } from '../http/route.js';

/** The session and the person it belongs to. */
@ConsoleRoutes()
export class SessionController {
  private readonly operators: OperatorAccess;

  constructor(
    @Inject(PLATFORM) platform: Platform,
    @Inject(OPERATOR_GUESSES) private readonly guesses: GuessLimiter,
    private readonly people: PeopleService,
    private readonly sessions: SessionsService,
    private readonly answers: SessionSerializer,
  ) {
    this.operators = OperatorAccess.on(platform);
  }

  @PageRoute('GET /session')
  read(@Req() request: Request) {
    return this.answers.of(openSession(request));
  }

  @PageRoute('POST /session/sign-out')
  async signOut(@Req() request: Request, @Reply() response: Response) {
    const { id } = openSession(request);
    await this.sessions.end(id, id);
    clearSessionCookie(request, response);
    return { signed_out: 1 as const };
  }

  @PageRoute('POST /session/sign-out-everywhere')
  async signOutEverywhere(@Req() request: Request, @Reply() response: Response) {
    const ended = await this.sessions.end(openSession(request).id, null);
    clearSessionCookie(request, response);
    return { signed_out: ended };
  }

  /** Opens a session for the other account, and ends this one. */
  @PageRoute('POST /session/account')
  async chooseAccount(
    @CheckedBody(AccountChoiceBody) { account_id: accountId }: AccountChoiceBody,
    @Req() request: Request,
    @Reply() response: Response,
  ) {
    const before = openSession(request);
    const { user, method } = before;
    const memberships = user ? await this.people.membershipsOf(user.id) : [];
    if (!user || !memberships.some(({ account_id: id }) => id === accountId)) {
      throw new GatewayError('not_found', 'You are not a member of this account.', { param: 'account_id' });
    }
    const place = { address: request.ip, agent: request.get('user-agent') };
    const token = await this.sessions.open(method, { userId: user.id, accountId }, place, false);
    await this.sessions.end(before.id, before.id);
    setSessionCookie(request, response, token, before.permissions.has('admin:read'));
    return this.answer(token);
  }

  @PageRoute('POST /session/proof')
  async prove(@CheckedBody(ProofBody) { password, token }: ProofBody, @Req() request: Request) {
    const session = openSession(request);
    const { ip: address, requestId } = request;
    const isRight = async (): Promise<true | null> => {
      const { user, operator } = session;
      if (user && password !== undefined) return (await this.people.isPasswordOf(user.id, password)) || null;
      const role = operator && token !== undefined ? this.operators.roleOf(token) : null;
      return (role !== null && CONSOLE_ROLES_OF_TOKENS[role] === operator?.role) || null;
    };
    if ((await this.guesses.check({ address, requestId }, isRight)) === null) {
      throw wrongCredentials(
        `The ${session.user ? 'password' : 'token'} is wrong.`,
        session.user ? 'password' : 'token',
      );
    }
    await this.sessions.prove(session.id);
    return this.answer(sessionTokenOf(request) ?? '');
  }

  @PageRoute('GET /sessions')
  async list(@Req() request: Request) {
    return { items: (await this.sessions.list(openSession(request).id)).map(rowOf<ConsoleSessionRow>) };
  }

  @PageRoute('POST /sessions/:session_id/end')
  async end(@Param('session_id') id: string, @Req() request: Request) {
    const ended = await this.sessions.end(openSession(request).id, id);
    if (ended === 0) throw new GatewayError('not_found', 'You have no such session.', { param: 'session_id' });
    return { signed_out: 1 as const };
  }

  @PageRoute('POST /profile')
  async rename(@CheckedBody(ProfileBody) body: ProfileBody, @Req() request: Request) {
    await this.people.rename(personOf(request).id, body);
    return this.answer(sessionTokenOf(request) ?? '');
  }

  @PageRoute('POST /profile/password')
  async setPassword(@CheckedBody(NewPasswordBody) { password }: NewPasswordBody, @Req() request: Request) {
    await this.people.setPassword(personOf(request).id, password, openSession(request).id);
    return this.answer(sessionTokenOf(request) ?? '');
  }

  private async answer(token: string) {
    const session = await this.sessions.read(token);
    if (!session) throw new ConsoleRefusal('sign_in_required', 'The session is over: sign in again.');
    return this.answers.of(session);
  }
}
