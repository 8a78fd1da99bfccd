import { Inject, Req } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError } from '#contracts';
import {
  AccessService,
  expectAllowedAddress,
  type GuessLimiter,
  IdentityProvider,
  InvitationsService,
  OneTimeLinks,
  OPERATOR_GUESSES,
  PeopleService,
} from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { CheckedBody } from '../checked-input.js';
import { OperatorAccess } from '../routes/ops/operator-access.js';
import { CONSOLE_ROLES_OF_TOKENS } from './console-gate.js';
import { wrongCredentials } from '../http/error-body.js';
import { PageRoute, ConsoleRoutes } from './console-routes.js';
import { NewSessions } from './session-cookie.js';
import { isPageOf, relyingParty } from './relying-party.js';
import { CodeBody, InvitationBody, KeySignInBody, OperatorSignInBody, PasswordSignInBody } from './sign-in.dto.js';
import { Reply } from '../http/route.js';

/** The sign-in methods of the console. Every failure gets the same response, and repeated guesses are throttled. */
@ConsoleRoutes()
export class SignInController {
  private readonly operators: OperatorAccess;

  constructor(
    @Inject(PLATFORM) private readonly platform: Platform,
    @Inject(OPERATOR_GUESSES) private readonly guesses: GuessLimiter,
    private readonly access: AccessService,
    private readonly people: PeopleService,
    private readonly links: OneTimeLinks,
    private readonly invitations: InvitationsService,
    private readonly identityProvider: IdentityProvider,
    private readonly newSessions: NewSessions,
  ) {
    this.operators = OperatorAccess.on(platform);
  }

  @PageRoute('GET /sign-in')
  async methods(@Req() request: Request) {
    const operatorToken = this.operators.checkOf('admin') ?? this.operators.checkOf('viewer');
    const party = relyingParty(this.platform.config);
    const { name: oidc } = this.identityProvider;
    const passkey = party !== null && isPageOf(party, request.hostname);
    return { password: true, passkey, api_key: true, operator_token: operatorToken !== null, oidc };
  }

  @PageRoute('POST /sign-in/link')
  async byLink(@CheckedBody(CodeBody) { code }: CodeBody, @Req() request: Request, @Reply() response: Response) {
    const userId = await this.guess(request, () => this.links.use(code));
    if (userId === null) throw wrongCredentials('The link was already used, or is older than 15 minutes.');
    return this.newSessions.open('link', { userId }, request, response);
  }

  @PageRoute('POST /sign-in/password')
  async byPassword(
    @CheckedBody(PasswordSignInBody) { email, password }: PasswordSignInBody,
    @Req() request: Request,
    @Reply() response: Response,
  ) {
    const userId = await this.guess(request, () => this.people.withPassword(email, password));
    if (userId === null) throw wrongCredentials('The e-mail address or the password is wrong.');
    return this.newSessions.open('password', { userId }, request, response);
  }

  /** The session may do exactly what the key may. */
  @PageRoute('POST /sign-in/key')
  async byKey(
    @CheckedBody(KeySignInBody) { key }: KeySignInBody,
    @Req() request: Request,
    @Reply() response: Response,
  ) {
    const secret = key.trim();
    const { apiKeyId, accountId, allowedAddresses } = await this.callerOf(secret, request);
    if (allowedAddresses.length > 0) expectAllowedAddress(allowedAddresses, request.ip);
    return this.newSessions.open(
      'api_key',
      { apiKeyId, accountId, keyHash: this.access.hashOf(secret) },
      request,
      response,
    );
  }

  @PageRoute('POST /sign-in/operator')
  async byOperatorToken(
    @CheckedBody(OperatorSignInBody) { token }: OperatorSignInBody,
    @Req() request: Request,
    @Reply() response: Response,
  ) {
    const role = await this.guess(request, () => this.operators.roleOf(token));
    const operatorCheck = role && this.operators.checkOf(role);
    if (!role || !operatorCheck) throw wrongCredentials('This is neither the admin token nor the viewer token.');
    return this.newSessions.open(
      'operator_token',
      { operatorRole: CONSOLE_ROLES_OF_TOKENS[role], operatorCheck },
      request,
      response,
    );
  }

  @PageRoute('POST /sign-in/invitation/preview')
  async previewInvitation(@CheckedBody(CodeBody) { code }: CodeBody, @Req() request: Request) {
    const view = await this.guess(request, () => this.invitations.preview(code));
    if (!view) throw usedInvitation();
    return view;
  }

  @PageRoute('POST /sign-in/invitation')
  async acceptInvitation(
    @CheckedBody(InvitationBody) { code, ...person }: InvitationBody,
    @Req() request: Request,
    @Reply() response: Response,
  ) {
    const operator = { actor: 'invited person', requestId: request.requestId, address: request.ip ?? null };
    // To the address of another person belongs their password: who sends a wrong one guesses it.
    const joined = await this.guess(request, () => this.invitations.accept(operator, code, person), isTakenAddress);
    if (!joined) throw usedInvitation();
    const owner = { userId: joined.userId, accountId: joined.accountId ?? undefined };
    return this.newSessions.open('invitation', owner, request, response);
  }

  private guess<Opened>(
    { ip: address, requestId }: Request,
    open: () => Promise<Opened | null> | Opened | null,
    tellsWrong?: (error: unknown) => boolean,
  ): Promise<Opened | null> {
    return this.guesses.check({ address, requestId }, open, tellsWrong);
  }

  private async callerOf(key: string, request: Request) {
    try {
      return await this.access.authenticate(key, () => request.ip);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'invalid_api_key') throw error;
      throw wrongCredentials(error.publicMessage);
    }
  }
}

const isTakenAddress = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === 'conflict' && error.param === 'email';

const usedInvitation = () => wrongCredentials('The invitation was already accepted, or is older than 72 hours.');
