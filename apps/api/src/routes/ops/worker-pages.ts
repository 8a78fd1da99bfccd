import type { Request, RequestHandler, Response } from 'express';
import type { WorkerView } from '#features';
import { type Html, html } from './html.js';
import { roleOf } from './ops-gate.js';
import type { OpsServices } from './ops-services.js';
import { page } from './page.js';
import { ago, id, mark, number, plain, table, when } from './parts.js';

const STATUS: Readonly<Record<WorkerView['status'], Html>> = {
  live: mark('good', 'live'),
  stopping: mark('warn', 'stopping'),
  silent: mark('bad', 'silent'),
};

/** Which worker processes there are; `all=true`: also those that fell silent within a day. */
export function workersPage({ workers }: Pick<OpsServices, 'workers'>): RequestHandler {
  return async (request: Request, response: Response) => {
    const all = request.query['all'] === 'true';
    const other = all
      ? html`<a href="/ops/workers">Leave out the silent ones</a>`
      : html`<a href="/ops/workers?all=true">Show also those that fell silent in the last 24 h</a>`;
    const body = html`${workerTable(await workers.list(all))}
      <p class="pager">${other}</p>
      <p class="quiet">
        A worker is silent when it was not heard of for 15 s: it most likely died. One that ends in good order leaves
        the list. What a silent worker had in hand is taken over by others when its lease ends.
      </p>`;
    response.type('html').send(page('Workers', body, { role: roleOf(response), section: '/ops/workers' }));
  };
}

export const workerTable = (workers: readonly WorkerView[]): Html =>
  table(
    'Worker processes',
    [
      ['Role', ({ role }) => plain(role)],
      ['State', ({ status }) => plain(STATUS[status])],
      ['Last heartbeat', (worker) => plain(ago(worker.last_heartbeat_at))],
      ['Tasks in hand', (worker) => number(worker.tasks_in_hand)],
      ['At most', ({ concurrency }) => number(concurrency)],
      ['Version', ({ version }) => plain(version)],
      ['Host', ({ host, pid }) => plain(`${host}, process ${pid}`)],
      ['Since', (worker) => plain(when(worker.started_at))],
      ['Id', (worker) => id(worker.id)],
    ],
    workers,
    'No worker process is known.',
  );
