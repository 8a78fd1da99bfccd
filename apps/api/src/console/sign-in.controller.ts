import { Body, Controller, Inject, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError, type SignInMethod } from '#contracts';
import {
  AccessService,
  expectAllowedAddress,
  type GuessLimiter,
  InvitationsService,
  OneTimeLinks,
  OPERATOR_GUESSES,
  PeopleService,
  type SessionOwner,
  SessionsService,
} from '#features';
import { logger } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { checked } from '../checked-input.js';
import { OperatorAccess } from '../routes/ops/operator-access.js';
import { CONSOLE_API, CONSOLE_ROLES_OF_TOKENS } from './console-gate.js';
import { ConsoleRefusal } from './console-refusal.js';
import { type Answer, ConsoleRoutes, Reads, Writes } from './console-routes.js';
import { SessionAnswer } from './session-answer.js';
import { setSessionCookie } from './session-cookie.js';
import { CodeBody, InvitationBody, KeySignInBody, OperatorSignInBody, PasswordSignInBody } from './sign-in.dto.js';

const log = logger('console');

/** The ways into the console. Whatever was wrong, the answer is the same, and who guesses is slowed down. */
@Controller(CONSOLE_API.slice(1))
@ConsoleRoutes()
export class SignInController {
  private readonly operators: OperatorAccess;

  constructor(
    @Inject(PLATFORM) platform: Platform,
    @Inject(OPERATOR_GUESSES) private readonly guesses: GuessLimiter,
    private readonly access: AccessService,
    private readonly people: PeopleService,
    private readonly links: OneTimeLinks,
    private readonly invitations: InvitationsService,
    private readonly sessions: SessionsService,
    private readonly answers: SessionAnswer,
  ) {
    this.operators = OperatorAccess.on(platform);
  }

  @Reads('sign-in')
  async methods(): Answer<'GET /sign-in'> {
    const operatorToken = this.operators.checkOf('admin') ?? this.operators.checkOf('viewer');
    return { password: true, passkey: false, api_key: true, operator_token: operatorToken !== null, oidc: null };
  }

  @Writes('sign-in/link')
  async byLink(
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Answer<'POST /sign-in/link'> {
    const { code } = checked(CodeBody, body);
    const userId = await this.guess(request, () => this.links.use(code));
    if (userId === null) throw wrong('The link was used already, or is older than 15 minutes.');
    return this.open('link', { userId }, request, response);
  }

  @Writes('sign-in/password')
  async byPassword(
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Answer<'POST /sign-in/password'> {
    const { email, password } = checked(PasswordSignInBody, body);
    const userId = await this.guess(request, () => this.people.withPassword(email, password));
    if (userId === null) throw wrong('The e-mail address or the password is wrong.');
    return this.open('password', { userId }, request, response);
  }

  /** The session may do exactly what the key may. */
  @Writes('sign-in/key')
  async byKey(
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Answer<'POST /sign-in/key'> {
    const { key } = checked(KeySignInBody, body);
    const { apiKeyId, accountId, allowedAddresses } = await this.callerOf(key.trim(), request);
    if (allowedAddresses.length > 0) expectAllowedAddress(allowedAddresses, request.ip);
    return this.open('api_key', { apiKeyId, accountId }, request, response);
  }

  @Writes('sign-in/operator')
  async byOperatorToken(
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Answer<'POST /sign-in/operator'> {
    const { token } = checked(OperatorSignInBody, body);
    const role = await this.guess(request, () => this.operators.roleOf(token));
    const operatorCheck = role && this.operators.checkOf(role);
    if (!role || !operatorCheck) throw wrong('That is neither the admin token nor the viewer token.');
    return this.open(
      'operator_token',
      { operatorRole: CONSOLE_ROLES_OF_TOKENS[role], operatorCheck },
      request,
      response,
    );
  }

  @Writes('sign-in/invitation/preview')
  async previewInvitation(@Body() body: unknown, @Req() request: Request): Answer<'POST /sign-in/invitation/preview'> {
    const { code } = checked(CodeBody, body);
    const view = await this.guess(request, () => this.invitations.preview(code));
    if (!view) throw usedInvitation();
    const { accountName, role, email, expiresAt } = view;
    return { account_name: accountName, role, email, expires_at: expiresAt.toISOString() };
  }

  @Writes('sign-in/invitation')
  async acceptInvitation(
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Answer<'POST /sign-in/invitation'> {
    const { code, ...person } = checked(InvitationBody, body);
    const operator = { actor: 'invited person', requestId: request.requestId, address: request.ip ?? null };
    const joined = await this.guess(request, () => this.invitations.accept(operator, code, person));
    if (!joined) throw usedInvitation();
    const owner = { userId: joined.userId, accountId: joined.accountId ?? undefined };
    return this.open('invitation', owner, request, response);
  }

  private guess<Opened>(
    { ip: address, requestId }: Request,
    open: () => Promise<Opened | null> | Opened | null,
  ): Promise<Opened | null> {
    return this.guesses.check({ address, requestId }, open);
  }

  private async callerOf(key: string, request: Request) {
    try {
      return await this.access.authenticate(key, () => request.ip);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'invalid_api_key') throw error;
      throw wrong(error.publicMessage);
    }
  }

  /** A holder of a key has proved the key, which opens nothing that needs proof. */
  private async open(
    method: SignInMethod,
    owner: SessionOwner,
    request: Request,
    response: Response,
  ): Answer<'GET /session'> {
    const place = { address: request.ip, agent: request.get('user-agent') };
    const token = await this.sessions.open(method, owner, place, method !== 'api_key');
    const session = await this.sessions.read(token);
    if (!session) throw wrong('The user may not sign in.');
    const { requestId, ip: address } = request;
    log.info('console.signed_in', { requestId, address, method, userId: session.user?.id, sessionId: session.id });
    setSessionCookie(request, response, token);
    return this.answers.of(session);
  }
}

const wrong = (message: string): ConsoleRefusal => new ConsoleRefusal('wrong_credentials', message);
const usedInvitation = (): ConsoleRefusal => wrong('The invitation was taken already, or is older than 72 hours.');
