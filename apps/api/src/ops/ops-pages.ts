import { TaskOverview } from '#features';
import type { Platform } from '#platform';
import { type Request, type Response, Router } from 'express';
import { OperatorAccess } from './operator-access.js';
import { opsGate, roleOf } from './ops-gate.js';
import { queueBoard } from './queue-board.js';
import { signInPages, signOut } from './sign-in-pages.js';
import { taskPages } from './task-pages.js';

/**
 * Everything below /ops, for operators with a browser. Mounted in front of the API's own rooms, because forms and the
 * board read their bodies themselves. Behind the gate nothing is open by accident.
 */
export function opsPages(platform: Platform): Router {
  const { database, doorbell } = platform;
  const access = OperatorAccess.on(platform);
  const boards = { admin: queueBoard(doorbell, 'admin'), viewer: queueBoard(doorbell, 'viewer') } as const;
  const router = Router();
  router.use(signInPages(access));
  router.use(opsGate(access));
  router.post('/sign-out', signOut);
  router.get('/', (_request: Request, response: Response) => response.redirect(303, '/ops/queues'));
  router.use('/tasks', taskPages(new TaskOverview(database)));
  router.use('/queues', (request, response, next) => boards[roleOf(response)](request, response, next));
  router.use((_request: Request, response: Response) => {
    response.status(404).json({ code: 404, message: 'There is no such page below /ops.' });
  });
  return router;
}
