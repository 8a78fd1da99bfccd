import { type Request, type Response, Router, urlencoded } from 'express';
import { GatewayError } from '#contracts';
import type { GuessLimiter } from '#features';
import { logger } from '#platform';
import { allowOwnPage } from '../../http/security-headers.middleware.js';
import { html } from './html.js';
import { type OperatorAccess, type OperatorRole, SESSION_SECONDS } from './operator-access.js';
import { SESSION_COOKIE } from './ops-gate.js';
import { page, STYLE } from './page.js';

const log = logger('ops');

const COOKIE = { httpOnly: true, sameSite: 'strict', path: '/ops' } as const;

/** The only pages below /ops that strangers see. */
export function signInPages(access: OperatorAccess, guesses: GuessLimiter): Router {
  const router = Router();
  router.get('/style.css', (_request: Request, response: Response) => response.type('css').send(STYLE));
  router.get('/sign-in', (_request: Request, response: Response) => showForm(response, 200, ''));
  const readForm = urlencoded({ extended: false, limit: '4kb' });
  router.post('/sign-in', readForm, (request: Request, response: Response) =>
    signIn(request, response, access, guesses),
  );
  return router;
}

/** Repeated guesses wait before a token is checked; a right one still signs in. */
async function signIn(
  request: Request,
  response: Response,
  access: OperatorAccess,
  guesses: GuessLimiter,
): Promise<void> {
  const { requestId, ip: address } = request;
  const { token } = (request.body ?? {}) as { token?: unknown };
  const wasSlowed = guesses.isSlowed(address);
  try {
    const opens = (): OperatorRole | null => (typeof token === 'string' ? access.roleOf(token) : null);
    const role = await guesses.check({ address, requestId }, opens);
    if (role === null) {
      if (wasSlowed) return showForm(response, 429, 'Too many wrong tokens: each further try takes longer.');
      return showForm(response, 401, 'That is neither the admin token nor the viewer token.');
    }
    log.info('operator.signed_in', { requestId, address, role });
    const secure = request.secure || request.headers['x-forwarded-proto'] === 'https';
    response.cookie(SESSION_COOKIE, access.open(role), { ...COOKIE, secure, maxAge: SESSION_SECONDS * 1000 });
    response.redirect(303, '/ops');
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    response.setHeader('retry-after', Math.ceil((error.retryAfterMs ?? 1_000) / 1_000));
    showForm(response, 429, error.message);
  }
}

/** Ends the session of this browser. */
export function signOut(_request: Request, response: Response): void {
  response.clearCookie(SESSION_COOKIE, COOKIE);
  response.redirect(303, '/ops/sign-in');
}

function showForm(response: Response, status: number, problem: string): void {
  allowOwnPage(response);
  const form = html`<form class="sign-in" method="post" action="/ops/sign-in">
    <p class="problem">${problem}</p>
    <label for="token">Admin or viewer token</label>
    <input id="token" name="token" type="password" autocomplete="current-password" required autofocus />
    <button>Sign in</button>
  </form>`;
  response.status(status).setHeader('cache-control', 'no-store').type('html').send(page('Sign in', form));
}
