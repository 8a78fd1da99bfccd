import { Inject, Param, Req } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type ConsolePasskey, GatewayError } from '#contracts';
import { type GuessLimiter, OPERATOR_GUESSES, PasskeysService, type RelyingParty, SessionsService } from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { CheckedBody } from '../checked-input.js';
import { openSession } from './console-gate.js';
import { ConsoleRefusal, wrongCredentials } from '../http/error-body.js';
import { PageRoute, ConsoleRoutes, personOf } from './console-routes.js';
import { NewSessions, sessionTokenOf } from './session-cookie.js';
import { relyingParty } from './relying-party.js';
import { SessionSerializer } from './session-serializer.js';
import { NewPasskeyBody, PasskeyAnswerBody } from './sign-in.dto.js';
import { rowOf } from './views.js';
import { Reply } from '../http/route.js';

const SIGN_IN = { purpose: 'sign-in', userId: null } as const;

/** Signing in and giving proof by a passkey, and the passkeys of the person. */
@ConsoleRoutes()
export class PasskeysController {
  constructor(
    @Inject(PLATFORM) private readonly platform: Platform,
    @Inject(OPERATOR_GUESSES) private readonly guesses: GuessLimiter,
    private readonly passkeys: PasskeysService,
    private readonly sessions: SessionsService,
    private readonly newSessions: NewSessions,
    private readonly answers: SessionSerializer,
  ) {}

  @PageRoute('POST /sign-in/passkey/options')
  async askToSignIn() {
    return this.passkeys.ask(this.party(), SIGN_IN);
  }

  @PageRoute('POST /sign-in/passkey')
  async signIn(
    @CheckedBody(PasskeyAnswerBody) body: PasskeyAnswerBody,
    @Req() request: Request,
    @Reply() response: Response,
  ) {
    const { ip: address, requestId } = request;
    const userId = await this.guesses.check({ address, requestId }, () =>
      this.passkeys.userOf(this.party(), SIGN_IN, body),
    );
    if (userId === null) throw wrongCredentials('The gateway does not know this passkey, or 5 minutes have passed.');
    return this.newSessions.open('passkey', { userId }, request, response);
  }

  @PageRoute('POST /session/proof/passkey/options')
  async askForProof(@Req() request: Request) {
    return this.passkeys.ask(this.party(), { purpose: 'proof', userId: personOf(request).id });
  }

  @PageRoute('POST /session/proof/passkey')
  async prove(@CheckedBody(PasskeyAnswerBody) body: PasskeyAnswerBody, @Req() request: Request) {
    const { id: userId } = personOf(request);
    const { ip: address, requestId } = request;
    const proved = await this.guesses.check({ address, requestId }, () =>
      this.passkeys.userOf(this.party(), { purpose: 'proof', userId }, body),
    );
    if (proved === null) throw wrongCredentials('This is not one of your passkeys, or 5 minutes have passed.');
    await this.sessions.prove(openSession(request).id);
    const session = await this.sessions.read(sessionTokenOf(request) ?? '');
    if (!session) throw new ConsoleRefusal('sign_in_required', 'The session is over: sign in again.');
    return this.answers.of(session);
  }

  @PageRoute('GET /passkeys')
  async list(@Req() request: Request) {
    return { items: (await this.passkeys.list(personOf(request).id)).map(rowOf<ConsolePasskey>) };
  }

  @PageRoute('POST /passkeys/options')
  async askForNew(@Req() request: Request) {
    return this.passkeys.askForNew(this.party(), personOf(request));
  }

  @PageRoute('POST /passkeys')
  async add(@CheckedBody(NewPasskeyBody) sent: NewPasskeyBody, @Req() request: Request) {
    return rowOf<ConsolePasskey>(await this.passkeys.add(this.party(), personOf(request).id, sent));
  }

  @PageRoute('POST /passkeys/:passkey_id/remove')
  async remove(@Param('passkey_id') id: string, @Req() request: Request) {
    await this.passkeys.remove(personOf(request).id, id);
    return { id, removed: true as const };
  }

  /** @throws GatewayError `not_found`: the pages stand where browsers make no passkeys. */
  private party(): RelyingParty {
    const party = relyingParty(this.platform.config);
    if (party) return party;
    throw new GatewayError('not_found', 'Passkeys need PUBLIC_BASE_URL to be https with a host name.');
  }
}
