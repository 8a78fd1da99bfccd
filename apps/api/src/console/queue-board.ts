import type { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { Queue } from 'bullmq';
import { type Response, Router } from 'express';
import type { TaskNotifier } from '#runtime';
import type { OperatorRole } from '../routes/ops/operator-access.js';

const BASE_PATH = '/ops/queues';

/**
 * What an admin may change. A job only points at a task row, so a queue can stop and continue without losing work; to run a
 * single job again or to delete it does nothing for its task, and what could put words into the mouths of others (adding
 * and editing jobs, limits) is left out all the same.
 */
const SAFE_CHANGES: ReadonlySet<string> = new Set([
  '/api/queues/pause',
  '/api/queues/resume',
  '/api/queues/:queueName/pause',
  '/api/queues/:queueName/resume',
]);

const about = (medium: string): string =>
  `Jobs that wake the ${medium} workers, several for each task. A job holds nothing but the id of its task: an empty queue loses nothing. ` +
  'To act on a task, use its own page.';

/** Bull Board over the queues of this gateway, as each role sees it. Its library is loaded with the first page of it. */
export function queueBoards(notifier: TaskNotifier): (role: OperatorRole) => Promise<Router> {
  const opened = new Map<OperatorRole, Promise<Router>>();
  return (role) => {
    const known = opened.get(role) ?? openBoard(notifier, role);
    opened.set(role, known);
    return known;
  };
}

async function openBoard(notifier: TaskNotifier, role: OperatorRole): Promise<Router> {
  const { createBullBoard } = await import('@bull-board/api');
  const { BullMQAdapter: Adapter } = await import('@bull-board/api/bullMQAdapter');
  const { ExpressAdapter } = await import('@bull-board/express');
  const serverAdapter = new ExpressAdapter().setBasePath(BASE_PATH);
  createBullBoard({
    queues: notifier.queues().map((queue) => adapterOf(Adapter, queue, role)),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Generation gateway',
        hideDocsLink: true,
        miscLinks: [
          { text: 'Health', url: '/console/admin/health' },
          { text: 'Tasks', url: '/console/admin/tasks' },
          { text: 'Deliveries', url: '/console/admin/deliveries' },
          { text: 'Workers', url: '/console/admin/workers' },
        ],
      },
      handlerHooks: {
        before: ({ method, route }) =>
          method === 'get' || (role === 'admin' && SAFE_CHANGES.has(route))
            ? undefined
            : { allow: false, status: 403, message: 'This is not one of the maintenance actions that are safe here.' },
      },
    },
  });
  const router = Router();
  router.use((_request, response, next) => {
    changePage(response);
    next();
  });
  router.use(serverAdapter.getRouter() as Router);
  return router;
}

/** The policy of our pages lets no browser load them, so asking for them only leaves errors in its console. */
const FOREIGN_FONTS = /<link href="https:\/\/fonts\.googleapis\.com[^>]*>/;
/** The board is one application of its own; this leads back from it. */
const WAY_BACK =
  '<a href="/console/admin/health" style="position:fixed;right:1rem;bottom:1rem;z-index:1000;padding:.5rem .9rem;border-radius:.5rem;' +
  'background:#1d4fb8;color:#fff;font:600 14px system-ui,sans-serif;text-decoration:none">← Console</a>';

function changePage(response: Response): void {
  const send = response.send.bind(response);
  response.send = (body: unknown) => {
    const isPage = typeof body === 'string' && body.startsWith('<!DOCTYPE html>');
    return send(isPage ? body.replace(FOREIGN_FONTS, '').replace('</body>', () => `${WAY_BACK}</body>`) : body);
  };
}

function adapterOf(
  Adapter: typeof BullMQAdapter,
  queue: ReturnType<TaskNotifier['queues']>[number],
  role: OperatorRole,
): BullMQAdapter {
  const shown: unknown = queue;
  if (!isShowable(shown)) throw new TypeError('Bull Board shows queues of BullMQ only.');
  const adapter = new Adapter(shown, {
    readOnlyMode: role === 'viewer',
    allowRetries: false,
    description: about(queue.name),
    externalJobUrl: ({ data }) => ({ displayText: 'Open the task', href: `/console/admin/tasks/${taskIdOf(data)}` }),
  });
  adapter.setFormatter('name', ({ data }: { data: unknown }) => `${queue.name} ${taskIdOf(data)}`);
  return adapter;
}

/** Bull Board is typed for queues on Redis and works on Postgres alike. */
const isShowable = (queue: unknown): queue is ConstructorParameters<typeof BullMQAdapter>[0] => queue instanceof Queue;

const taskIdOf = (data: unknown): string => (data as { taskId?: string } | undefined)?.taskId ?? '';
