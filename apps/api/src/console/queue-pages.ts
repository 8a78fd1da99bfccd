import { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express';
import type { OpenSession, SessionsService } from '#features';
import { type Platform, publicBaseUrl } from '#runtime';
import { isFromOwnPage, readSession } from './console-gate.js';
import { allowOwnPage } from '../http/response-headers.middleware.js';
import type { OperatorAccess, OperatorRole } from '../routes/ops/operator-access.js';
import { queueBoards } from './queue-board.js';

const READ_METHODS = new Set(['GET', 'HEAD']);

/** Pages that are in the console, by what once was their path below /ops. */
const IN_THE_CONSOLE: readonly (readonly [path: string, page: (request: Request) => string])[] = [
  ['/', () => '/admin/health'],
  ['/sign-in', () => '/sign-in'],
  ['/tasks', () => '/admin/tasks'],
  ['/tasks/:task_id', ({ params }) => `/admin/tasks/${encodeURIComponent(String(params['task_id']))}`],
  ['/deliveries', () => '/admin/deliveries'],
  ['/workers', () => '/admin/workers'],
];

const SIGN_IN_PAGE = `<!doctype html><html lang="en"><title>Sign in</title>
<p>The queues are shown to operators who are signed in to the console.
<a href="/console/sign-in">Sign in</a>, then open this page again.</p></html>`;

/** Below /ops: the queues, behind a session of the console, and the way to the pages of operators in the console. */
export function queuePages(platform: Platform, sessions: SessionsService, operators: OperatorAccess): Router {
  const router = Router();
  for (const [path, page] of IN_THE_CONSOLE)
    router.get(path, (request: Request, response: Response) => response.redirect(302, `/console${page(request)}`));
  const boardOf = queueBoards(platform.notifier);
  router.use('/queues', queueGate(platform, sessions, operators), async (request, response, next) => {
    const board = await boardOf(response.locals['operatorRole'] as OperatorRole);
    board(request, response, next);
  });
  router.use((_request: Request, response: Response) => {
    response.status(404).json({ code: 404, message: 'Below /ops there are only the queues: /ops/queues.' });
  });
  return router;
}

/** Lets operators pass who are signed in to the console. Who may only read there may only look here. */
function queueGate(platform: Platform, sessions: SessionsService, operators: OperatorAccess): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    response.setHeader('cache-control', 'no-store');
    allowOwnPage(response);
    const role = roleOf(await readSession(request, sessions, operators));
    if (role === null) return refuseStranger(request, response);
    response.locals['operatorRole'] = role;
    if (READ_METHODS.has(request.method)) return next();
    if (!isFromOwnPage(request, new URL(publicBaseUrl(platform.config)).origin))
      return refuse(response, 'Changes come from these pages only.');
    if (role === 'viewer') return refuse(response, 'You may look at the queues, not change them.');
    next();
  };
}

function roleOf(session: OpenSession | null): OperatorRole | null {
  if (!session?.permissions.has('admin:read')) return null;
  return session.permissions.has('admin:write') ? 'admin' : 'viewer';
}

function refuseStranger(request: Request, response: Response): void {
  response.status(401);
  if (request.accepts(['json', 'html']) === 'html') response.type('html').send(SIGN_IN_PAGE);
  else response.json({ code: 401, message: 'Sign in to the console as an operator first: /console/sign-in.' });
}

function refuse(response: Response, message: string): void {
  response.status(403).json({ code: 403, message });
}
