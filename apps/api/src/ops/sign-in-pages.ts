import { logger } from '#platform';
import { type Request, type Response, Router, urlencoded } from 'express';
import { LRUCache } from 'lru-cache';
import { allowOwnPage } from '../door/security-headers.middleware.js';
import { html } from './html.js';
import { type OperatorAccess, SESSION_SECONDS } from './operator-access.js';
import { SESSION_COOKIE } from './ops-gate.js';
import { page, STYLE } from './page.js';

const log = logger('ops');

/**
 * After so many wrong tokens from one address it is told to stop. The right token opens all the same: behind a proxy
 * everybody may share one address, and nobody shall be able to lock operators out.
 */
const WRONG_TOKENS = 10;
const REMEMBERED_MS = 15 * 60_000;

const COOKIE = { httpOnly: true, sameSite: 'strict', path: '/ops' } as const;

/** The only pages below /ops that strangers see. */
export function signInPages(access: OperatorAccess): Router {
  const wrong = new LRUCache<string, number>({ max: 10_000, ttl: REMEMBERED_MS });
  const router = Router();
  router.get('/style.css', (_request: Request, response: Response) => response.type('css').send(STYLE));
  router.get('/sign-in', (_request: Request, response: Response) => showForm(response, 200, ''));
  router.post('/sign-in', urlencoded({ extended: false, limit: '4kb' }), (request: Request, response: Response) => {
    const { requestId, ip: address = 'unknown' } = request;
    const { token } = (request.body ?? {}) as { token?: unknown };
    const role = typeof token === 'string' ? access.roleOf(token) : null;
    if (role === null) {
      const failures = (wrong.get(address) ?? 0) + 1;
      wrong.set(address, failures);
      if (failures > WRONG_TOKENS) return showForm(response, 429, 'Too many wrong tokens: wait a quarter of an hour.');
      log.warn('operator.refused', { requestId, address });
      return showForm(response, 401, 'That token opens nothing.');
    }
    log.info('operator.signed_in', { requestId, address, role });
    const secure = request.secure || request.headers['x-forwarded-proto'] === 'https';
    response.cookie(SESSION_COOKIE, access.open(role), { ...COOKIE, secure, maxAge: SESSION_SECONDS * 1000 });
    response.redirect(303, '/ops/queues');
  });
  return router;
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
