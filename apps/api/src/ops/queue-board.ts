import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { TaskDoorbell } from '#platform';
import { Queue } from 'bullmq';
import type { RequestHandler } from 'express';
import type { OperatorRole } from './operator-access.js';

const BASE_PATH = '/ops/queues';

/**
 * What an admin may change. A bell only points at a task row, so nothing here can lose work; what could put words into
 * the mouths of others (adding and editing jobs, limits) is left out all the same.
 */
const SAFE_CHANGES: ReadonlySet<string> = new Set([
  '/api/queues/pause',
  '/api/queues/resume',
  '/api/queues/:queueName/pause',
  '/api/queues/:queueName/resume',
  '/api/queues/:queueName/retry/:queueStatus',
  '/api/queues/:queueName/clean/:queueStatus',
  '/api/queues/:queueName/:jobId/retry',
  '/api/queues/:queueName/:jobId/clean',
]);

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  video: 'Bells for video tasks. The task row is the truth: an empty queue loses nothing.',
  image: 'Bells for image tasks. The task row is the truth: an empty queue loses nothing.',
  maintenance: 'Bells for maintenance.',
};

/** Bull Board over the queues of this gateway, as one role sees it. */
export function queueBoard(doorbell: TaskDoorbell, role: OperatorRole): RequestHandler {
  const serverAdapter = new ExpressAdapter().setBasePath(BASE_PATH);
  createBullBoard({
    queues: doorbell.queues().map((queue) => adapterOf(queue, role)),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Generation gateway',
        hideDocsLink: true,
        miscLinks: [
          { text: 'Tasks', url: '/ops/tasks' },
          { text: 'Metrics', url: '/metrics' },
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
  return serverAdapter.getRouter() as RequestHandler;
}

function adapterOf(queue: ReturnType<TaskDoorbell['queues']>[number], role: OperatorRole): BullMQAdapter {
  const shown: unknown = queue;
  if (!isShowable(shown)) throw new TypeError('Bull Board shows queues of BullMQ only.');
  const adapter = new BullMQAdapter(shown, {
    readOnlyMode: role === 'viewer',
    description: DESCRIPTIONS[queue.name] ?? '',
    externalJobUrl: ({ data }) => ({ displayText: 'Open the task', href: `/ops/tasks/${taskIdOf(data)}` }),
  });
  adapter.setFormatter('name', ({ data }: { data: unknown }) => `${queue.name} ${taskIdOf(data)}`);
  return adapter;
}

/** Bull Board is typed for queues on Redis and works on Postgres alike. */
const isShowable = (queue: unknown): queue is ConstructorParameters<typeof BullMQAdapter>[0] => queue instanceof Queue;

const taskIdOf = (data: unknown): string => (data as { taskId?: string } | undefined)?.taskId ?? '';
