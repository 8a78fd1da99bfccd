import { TaskOverview } from '#features';
import type { Platform } from '#platform';
import { type Request, type Response, Router } from 'express';
import { OperatorAccess, tokenDigest } from './operator-access.js';
import { opsGate, roleOf } from './ops-gate.js';
import { queueBoard } from './queue-board.js';
import { signInPages, signOut } from './sign-in-pages.js';
import { taskPages } from './task-pages.js';

/**
 * Everything below /ops, for operators with a browser. Mounted in front of the API's own rooms, because forms and the
 * board read their bodies themselves. Behind the gate nothing is open by accident.
 */
export function opsPages({ config, secrets, adminToken, database, doorbell }: Platform): Router {
  const { OPS_VIEWER_TOKEN } = config.ops;
  const access = new OperatorAccess(
    { admin: adminToken.digest, viewer: OPS_VIEWER_TOKEN ? tokenDigest(OPS_VIEWER_TOKEN) : null },
    secrets.keyPepper,
  );
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
