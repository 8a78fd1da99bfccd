import { Inject, Req, Res } from '@nestjs/common';
import type { CookieOptions, Request, Response } from 'express';
import { type ErrorCode, GatewayError } from '#contracts';
import {
  type AuthorizationChecks,
  type GuessLimiter,
  IdentitiesService,
  IdentityProvider,
  InvitationsService,
  OPERATOR_GUESSES,
} from '#features';
import { PLATFORM, type Platform, publicBaseUrl } from '#runtime';
import { CheckedBody } from '../checked-input.js';
import { CONSOLE_API } from './console-gate.js';
import { PageRoute, ConsoleRoutes } from './console-routes.js';
import { NewSessions } from './session-cookie.js';
import { SingleSignOnBody } from './sign-in.dto.js';
import { Reply } from '../http/route.js';

const PATH = `${CONSOLE_API}/sign-in/oidc`;
const COOKIE = 'gw_console_sso';
/** How long a person may take at the identity provider. */
const AWAY_MS = 10 * 60_000;
const PURPOSE = 'single sign-on of the console';

/** What the browser keeps, sealed, while its person is at the identity provider. */
interface Away {
  readonly checks: AuthorizationChecks;
  readonly to: string;
  readonly invitation: string | null;
  readonly untilMs: number;
}

/** Why a page of the console leads back to the sign-in. */
type Reason = 'sso' | 'sso-not-invited' | 'sso-other-address' | 'sso-invitation-used';

/** Signing in at the identity provider. Only an identity that accepted an invitation may sign in. */
@ConsoleRoutes()
export class SingleSignOnController {
  constructor(
    @Inject(PLATFORM) private readonly platform: Platform,
    @Inject(OPERATOR_GUESSES) private readonly guesses: GuessLimiter,
    private readonly provider: IdentityProvider,
    private readonly identities: IdentitiesService,
    private readonly invitations: InvitationsService,
    private readonly newSessions: NewSessions,
  ) {}

  @PageRoute('POST /sign-in/oidc')
  async begin(
    @CheckedBody(SingleSignOnBody) body: SingleSignOnBody,
    @Req() request: Request,
    @Reply() response: Response,
  ) {
    const { to = '', invitation = null } = body;
    const { location, checks } = await this.provider.begin(`${publicBaseUrl(this.platform.config)}${PATH}/callback`);
    const away: Away = { checks, to: insideOnly(to), invitation, untilMs: Date.now() + AWAY_MS };
    const sealed = this.platform.sealer.seal(JSON.stringify(away), PURPOSE).toString('base64url');
    response.cookie(COOKIE, sealed, { ...cookieOptions(request), maxAge: AWAY_MS });
    return { location };
  }

  @PageRoute('GET /sign-in/oidc/callback')
  async comeBack(@Req() request: Request, @Res() response: Response): Promise<void> {
    const away = this.awayOf(request);
    response.clearCookie(COOKIE, cookieOptions(request));
    const lead = (place: string): void => response.redirect(303, place);
    if (!away) return lead(refusedAs('sso'));
    // The address that the provider knows: a path in PUBLIC_BASE_URL comes before ours.
    const cameBackTo = new URL(`${publicBaseUrl(this.platform.config)}${request.originalUrl}`);
    const { ip: address, requestId } = request;
    // Codes are guesses too, and each is a call of the provider in the gateway's name.
    const identity = await this.guesses
      .check({ address, requestId }, () => this.provider.finish(cameBackTo, away.checks))
      .catch((error: unknown) => {
        if (!isGatewayError(error, ['rate_limit_exceeded'])) throw error;
        return null;
      });
    if (!identity) return lead(refusedAs('sso'));
    try {
      const owner =
        away.invitation === null
          ? await this.identities.userOf(identity).then((userId) => userId && { userId })
          : await this.invitations.acceptAs(invitedPerson(request), away.invitation, identity);
      if (!owner) return lead(refusedAs(away.invitation === null ? 'sso-not-invited' : 'sso-invitation-used'));
      const { userId } = owner;
      const accountId = 'accountId' in owner ? (owner.accountId ?? undefined) : undefined;
      await this.newSessions.open('oidc', { userId, accountId }, request, response);
    } catch (error) {
      if (!isGatewayError(error, ['conflict', 'permission_denied'])) throw error;
      return lead(refusedAs('sso-other-address'));
    }
    lead(away.to);
  }

  /** What the browser kept; null when it kept nothing, or for too long. */
  private awayOf({ headers }: Request): Away | null {
    const sealed = /(?:^|;\s*)gw_console_sso=([\w-]+)/.exec(headers.cookie ?? '')?.[1];
    if (sealed === undefined) return null;
    try {
      const away = JSON.parse(this.platform.sealer.open(Buffer.from(sealed, 'base64url'), PURPOSE)) as Away;
      return away.untilMs > Date.now() ? away : null;
    } catch {
      // What we did not seal does not open.
      return null;
    }
  }
}

const cookieOptions = ({ secure }: Request): CookieOptions => ({ httpOnly: true, sameSite: 'lax', secure, path: PATH });

/** Only to a page of the console, whatever was requested. */
const insideOnly = (to: string): string => (/^\/console(\/(?!\/)[^\\]*)?$/.test(to) ? to : '/console/');

const refusedAs = (reason: Reason): string => `/console/sign-in?error=${reason}`;

const isGatewayError = (error: unknown, codes: readonly ErrorCode[]): error is GatewayError =>
  error instanceof GatewayError && codes.includes(error.code);

const invitedPerson = ({ requestId, ip }: Request) => ({ actor: 'invited person', requestId, address: ip ?? null });
