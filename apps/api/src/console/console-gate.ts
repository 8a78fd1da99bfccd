import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { CONSOLE_ACCESS, CONSOLE_VERSION, type ConsoleAccess, type ConsolePermission, GatewayError } from '#contracts';
import { expectAllowedAddress, type OpenSession, type SessionsService } from '#features';
import { lruCache } from '#platform';
import { type Platform, publicBaseUrl } from '#runtime';
import { ConsoleRefusal } from '../http/error-body.js';
import type { OperatorAccess } from '../routes/ops/operator-access.js';
import { PROOF_MS } from './session-serializer.js';
import { sessionTokenOf } from './session-cookie.js';

/**
 * Lets only pages of the gateway itself change something: what a form, a link or a script of another site can send has
 * another origin, and lacks the header.
 *
 * @param publicOrigin the origin that PUBLIC_BASE_URL names.
 * @throws ConsoleRefusal `cross_site`, `reload_required`.
 */
function expectOwnPage(request: Request, publicOrigin: string): void {
  const version = request.get('x-console');
  if (!isFromOwnPage(request, publicOrigin) || version === undefined || !request.is('application/json')) {
    throw new ConsoleRefusal(
      'cross_site',
      'Changes are accepted only from pages of the console: as application/json, with the header X-Console.',
    );
  }
  expectVersion(version);
}

/** @throws ConsoleRefusal `reload_required`: the page is older than the gateway. */
function expectVersion(version: string): void {
  if (Number(version) >= CONSOLE_VERSION) return;
  throw new ConsoleRefusal('reload_required', 'The gateway is newer than this page: reload it.');
}

/** Browsers leave `Sec-Fetch-Site` out on plain HTTP to other machines, but name the origin of every change. */
export function isFromOwnPage({ headers }: Request, publicOrigin: string): boolean {
  const { 'sec-fetch-site': site, origin, host } = headers;
  if (site !== undefined) return site === 'same-origin';
  if (origin === undefined || !URL.canParse(origin)) return false;
  return origin === publicOrigin || new URL(origin).host === host;
}

export const CONSOLE_API = '/console/api';

declare module 'express-serve-static-core' {
  interface Request {
    /** The session of the console; set on its routes only. */
    session?: OpenSession;
  }
}

const ACCESS: Readonly<Record<string, ConsoleAccess | undefined>> = CONSOLE_ACCESS;
const READ_METHODS = new Set(['GET', 'HEAD']);
/** A path without a route: only a signed-in caller gets 404. */
const UNKNOWN: ConsoleAccess = { needs: 'session' };

/** The roles of operators in the console, as their tokens are named. */
const TOKEN_ROLES = { operator: 'admin', ops_viewer: 'viewer' } as const;
export const CONSOLE_ROLES_OF_TOKENS = { admin: 'operator', viewer: 'ops_viewer' } as const;

/** How long a session that was open is believed to be for answers that have begun, in milliseconds. */
const STILL_OPEN_MS = 1_000;

/** What the gate looks things up in. */
export interface GateParts {
  readonly sessions: SessionsService;
  readonly operators: OperatorAccess;
  readonly platform: Platform;
}

/**
 * Stands in front of everything below /console/api. `CONSOLE_ACCESS` says who may call each route; a route missing from it is
 * refused. Bodies without a session are not read.
 */
export function consoleGate({ sessions, operators, platform }: GateParts): RequestHandler {
  // A session may have a thousand answers that take long, each of which asks every two seconds.
  const stillOpen = lruCache<string, Promise<OpenSession | null>>(10_000, { ttl: STILL_OPEN_MS });
  const readAgain = (request: Request): Promise<OpenSession | null> => {
    const whose = `${sessionTokenOf(request) ?? ''} ${request.ip ?? ''}`;
    const known = stillOpen.get(whose);
    if (known) return known;
    const reading = readSession(request, sessions, operators);
    stillOpen.set(whose, reading);
    reading.catch(() => stillOpen.delete(whose));
    return reading;
  };
  return async (request: Request, response: Response, next: NextFunction) => {
    response.setHeader('cache-control', 'no-store');
    const access = accessOf(request);
    if (!READ_METHODS.has(request.method)) expectOwnPage(request, new URL(publicBaseUrl(platform.config)).origin);
    else if (request.get('x-console') !== undefined) expectVersion(request.get('x-console') ?? '');
    const session = await readSession(request, sessions, operators);
    if (session) {
      request.session = session;
      if (session.caller) request.caller = session.caller;
    }
    expectAccess(access, session);
    request.expectStillAllowed = async () => expectAccess(access, await readAgain(request));
    next();
  };
}

/** @throws GatewayError `permission_denied` for a route that is served and that the table does not name. */
function accessOf({ method, match: { pattern } }: Request): ConsoleAccess {
  if (!pattern?.startsWith(CONSOLE_API)) return UNKNOWN;
  const access = ACCESS[`${method === 'HEAD' ? 'GET' : method} ${pattern.slice(CONSOLE_API.length)}`];
  if (!access)
    throw new GatewayError('permission_denied', 'This route of the console has no access rule, so it is closed.');
  return access;
}

/** The session that the cookie of a request opens; null without one, or when it is over. */
export async function readSession(
  request: Request,
  sessions: SessionsService,
  operators: OperatorAccess,
): Promise<OpenSession | null> {
  const token = sessionTokenOf(request);
  const session = token === undefined ? null : await sessions.read(token);
  if (!session) return null;
  const { operator, method, caller } = session;
  // Changing the token ends the sessions it opened.
  if (operator && !operators.checkOf(TOKEN_ROLES[operator.role])?.equals(operator.check)) return null;
  if (method === 'api_key' && caller) expectAllowedAddress(caller.allowedAddresses, request.ip);
  return session;
}

/** @throws ConsoleRefusal or GatewayError `permission_denied`. */
function expectAccess({ needs, proof }: ConsoleAccess, session: OpenSession | null): void {
  if (needs === 'nothing') return;
  if (!session) throw new ConsoleRefusal('sign_in_required', 'Sign in first: the session is over, or there was none.');
  if (needs !== 'session' && !session.permissions.has(needs)) throw notAllowed(needs, session);
  if (proof && !isProved(session)) {
    throw new ConsoleRefusal('proof_required', 'Please confirm that it is you: this changes money, secrets or people.');
  }
}

export const isProved = ({ provedAt }: OpenSession): boolean =>
  provedAt !== null && provedAt.getTime() + PROOF_MS > Date.now();

const notAllowed = (needed: ConsolePermission, { roles }: OpenSession): GatewayError =>
  new GatewayError(
    'permission_denied',
    `The role ${roles.join(', ') || 'of a user without an account'} may not do this: it requires ${needed}.`,
  );

/** The session that the gate let in. */
export function openSession({ session }: Request): OpenSession {
  if (!session) throw new Error('The session is requested on a route that needs none');
  return session;
}
