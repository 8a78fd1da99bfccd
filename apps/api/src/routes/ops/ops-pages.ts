import { type Request, type Response, Router } from 'express';
import type { GuessLimiter } from '#features';
import type { Platform } from '#runtime';
import { deliveryPages } from './delivery-pages.js';
import { html } from './html.js';
import { OperatorAccess } from './operator-access.js';
import { opsGate, roleOf } from './ops-gate.js';
import type { OpsServices } from './ops-services.js';
import { overviewPage } from './overview-page.js';
import { page } from './page.js';
import { problemPage } from './problem-page.js';
import { queueBoards } from './queue-board.js';
import { signInPages, signOut } from './sign-in-pages.js';
import { taskPages } from './task-pages.js';
import { workersPage } from './worker-pages.js';

/**
 * Everything below /ops, for operators with a browser. Mounted in front of the API's own routes, because forms and the
 * board read their bodies themselves. Behind the gate nothing is open by accident.
 */
export function opsPages(platform: Platform, services: OpsServices, guesses: GuessLimiter): Router {
  const { config, notifier } = platform;
  const access = OperatorAccess.on(platform);
  const boardOf = queueBoards(notifier);
  const router = Router();
  router.use(signInPages(access, guesses));
  router.use(opsGate(access));
  router.post('/sign-out', signOut);
  router.get('/', overviewPage(platform, services));
  router.use('/tasks', taskPages(services, config.server.BALANCE_UNIT));
  router.use('/deliveries', deliveryPages(services));
  router.get('/workers', workersPage(services));
  router.use('/queues', async (request, response, next) => {
    const board = await boardOf(roleOf(response));
    board(request, response, next);
  });
  router.use((request: Request, response: Response) => {
    response.status(404);
    if (request.accepts(['json', 'html']) !== 'html') {
      response.json({ code: 404, message: 'There is no such page below /ops.' });
      return;
    }
    const body = html`<p class="problem">There is no such page. See the <a href="/ops">overview</a>.</p>`;
    response.type('html').send(page('Not found', body, { role: roleOf(response), section: '/ops' }));
  });
  router.use(problemPage);
  return router;
}
