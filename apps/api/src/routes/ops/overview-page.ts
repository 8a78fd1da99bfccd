import type { Request, RequestHandler, Response } from 'express';
import { isFinal, MEDIA, type Medium, TASK_TRANSITIONS, type TaskState } from '#contracts';
import type { FleetState, TaskNeedingAttention, TasksNeedingAttention, UpstreamView } from '#features';
import type { Platform } from '#runtime';
import { concernList, concernsOf } from './attention.js';
import {
  type FleetView,
  type QueueView,
  readFleetView,
  type UpstreamCircuit,
  type UpstreamStanding,
} from './fleet-view.js';
import { html, type Html } from './html.js';
import { roleOf } from './ops-gate.js';
import type { OpsServices } from './ops-services.js';
import { page } from './page.js';
import { ago, duration, facts, id, mark, money, number, plain, table, taskState, text, when } from './parts.js';
import { workerTable } from './worker-pages.js';

const OPEN_STATES = (Object.keys(TASK_TRANSITIONS) as TaskState[]).filter((state) => !isFinal(state));
/** Of each list the first rows; the lists themselves have their own pages. */
const ROWS_SHOWN = 20;

/** How everything stands, on one page. */
export function overviewPage(platform: Platform, services: OpsServices): RequestHandler {
  const unit = platform.config.server.BALANCE_UNIT;
  return async (_request: Request, response: Response) => {
    const view = await readFleetView(platform, services);
    const frame = { role: roleOf(response), section: '/ops' } as const;
    response.type('html').send(page('Overview', overview(view, unit), frame));
  };
}

const overview = (view: FleetView, unit: string): Html => html`
  <section class="panel" aria-labelledby="attention">
    <h2 id="attention">Needs attention</h2>
    ${concernList(concernsOf(view))}
    <p class="quiet">As of ${when(new Date())} UTC, version ${view.readiness.version}. <a href="/ops">Look again</a></p>
  </section>
  <h2>State</h2>
  <div class="cards">
    <section class="panel" id="money">
      <h2>Money</h2>
      ${moneyCard(view, unit)}
    </section>
    <section class="panel">
      <h2>Open tasks</h2>
      ${view.fleet ? openTasks(view.fleet) : NO_ANSWER}
    </section>
    <section class="panel">
      <h2>Queues</h2>
      ${queueTable(view.queues)}
    </section>
    <section class="panel">
      <h2>Webhooks and polls</h2>
      ${view.fleet ? punctuality(view.fleet) : NO_ANSWER}
    </section>
  </div>
  <h2 id="upstreams">Upstreams of text models</h2>
  ${view.upstreams ? upstreamTable(view.upstreams) : NO_ANSWER}
  <h2 id="unpriced">Models without a price</h2>
  ${view.unpriced ? unpricedList(view.unpriced) : NO_ANSWER}
  <h2>Workers</h2>
  ${view.workers ? workerTable(view.workers.slice(0, ROWS_SHOWN)) : NO_ANSWER}
  <p class="pager"><a href="/ops/workers?all=true">All workers →</a></p>
  <h2>Failures of the last 24 hours</h2>
  ${view.fleet ? failureTable(view.fleet) : NO_ANSWER}
  ${view.needingAttention ? attentionTables(view.needingAttention) : null}
`;

const NO_ANSWER = html`<p>${mark('bad', 'no answer')} The source did not answer in time.</p>`;

function moneyCard({ fleet, reconciliation }: FleetView, unit: string): Html {
  if (!fleet) return NO_ANSWER;
  const { availableMicros, heldMicros, usedMicros, mismatchMicros } = fleet.money;
  const sums = [
    ['Available to accounts', availableMicros],
    ['Held for open work', heldMicros],
    ['Charged so far', usedMicros],
  ] as const;
  return html`${table(
      'Sums over all accounts',
      [
        ['All accounts', ([name]) => plain(name)],
        [`Amount (${unit})`, ([, amount]) => number(money(amount))],
      ],
      sums,
      '',
    )}
    <p></p>
    ${facts([
      ['Holds and open tasks', mismatchMicros === 0n ? mark('good', 'agree') : mark('bad', 'differ')],
      ['Reconciliation', reconciled(reconciliation)],
    ])}
    ${
      reconciliation && !reconciliation.balanced
        ? table(
            'Findings of the last reconciliation',
            [
              ['Check', ({ check }) => plain(check)],
              ['Subject', ({ subject }) => id(subject)],
              ['Expected', ({ expected }) => text(expected)],
              ['Found', ({ found }) => text(found)],
            ],
            reconciliation.findings.slice(0, ROWS_SHOWN),
            '',
          )
        : null
    }`;
}

function reconciled(report: FleetView['reconciliation']): Html {
  if (report === null) return NO_ANSWER;
  if (!report) return mark('queued', 'none yet');
  return html`${report.balanced ? mark('good', 'balanced') : mark('bad', 'errors found')} ${ago(report.finishedAt)}`;
}

function openTasks({ open, due }: FleetState): Html {
  const countOf = (medium: Medium, state: TaskState): number =>
    open.find((row) => row.medium === medium && row.state === state)?.open ?? 0;
  return table(
    'Open tasks by medium and state',
    [
      ['Medium', (medium) => plain(medium)],
      ...OPEN_STATES.map(
        (state) =>
          [
            state,
            (medium: Medium) =>
              number(html`<a href="/ops/tasks?type=${medium}&amp;state=${state}">${countOf(medium, state)}</a>`),
          ] as const,
      ),
      ['Due', (medium) => number(due.find((row) => row.medium === medium)?.due ?? 0)],
    ],
    MEDIA,
    '',
  );
}

const queueTable = (queues: readonly QueueView[]): Html =>
  table(
    'Jobs in the queues',
    [
      ['Queue', ({ name }) => plain(html`<a href="/ops/queues/queue/${name}">${name}</a>`)],
      ['State', ({ jobs, isPaused }) => plain(queueMark(jobs !== null, isPaused))],
      ['Waiting', ({ jobs }) => number(jobs && jobs.waiting)],
      ['Active', ({ jobs }) => number(jobs && jobs.active)],
      ['Failed', ({ jobs }) => number(jobs && jobs.failed)],
    ],
    queues,
    'There are no queues.',
  );

function queueMark(answers: boolean, isPaused: boolean): Html {
  if (!answers) return mark('bad', 'no answer');
  return isPaused ? mark('warn', 'paused') : mark('good', 'open');
}

const punctuality = ({ polls, webhooks }: FleetState): Html =>
  facts([
    ['Polls of vendors that are due', polls.due],
    ['Oldest of them', duration(polls.oldest)],
    ['Deliveries not yet made', html`<a href="/ops/deliveries?status=pending">${webhooks.pending}</a>`],
    ['Oldest is late by', duration(webhooks.lag)],
    ['Given up in the last 24 h', html`<a href="/ops/deliveries?status=failed">${webhooks.failedLately}</a>`],
  ]);

const CIRCUITS: Readonly<Record<UpstreamCircuit, Html>> = {
  serving: mark('good', 'serving'),
  cooling_down: mark('bad', 'cooling down'),
  cooling_down_for_some: mark('warn', 'cooling down for some'),
  off: mark('off', 'switched off'),
  not_in_service: mark('bad', 'not in service'),
};

const upstreamTable = (standings: readonly UpstreamStanding[]): Html =>
  table(
    'Upstreams',
    [
      ['Upstream', ({ upstream }) => id(upstream.id)],
      ['Health', ({ circuit }) => plain(CIRCUITS[circuit])],
      ['Protocol', ({ upstream }) => plain(settingOf(upstream, 'protocol'))],
      ['Priority', ({ upstream }) => number(settingOf(upstream, 'priority'))],
      ['Weight', ({ upstream }) => number(settingOf(upstream, 'weight'))],
      ['From', ({ upstream }) => plain(upstream.source)],
      ['Problem', ({ upstream }) => text(upstream.problem)],
    ],
    standings,
    'There are none: text models are answered by the sandbox, if at all.',
  );

function settingOf({ settings }: UpstreamView, name: string): string | null {
  const value = settings[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

const unpricedList = (models: readonly string[]): Html =>
  models.length === 0
    ? html`<p class="quiet">Every model on sale has one.</p>`
    : html`<p>
        ${models.map((model) => html`<code>${model}</code>`)}<br />
        <span class="quiet">They answer an error until a price is in force: see docs/operations/prices.md.</span>
      </p>`;

const failureTable = ({ failures }: FleetState): Html =>
  table(
    'Failures by model and reason',
    [
      ['Model', ({ model }) => plain(html`<a href="/ops/tasks?${query({ model, state: 'failed' })}">${model}</a>`)],
      [
        'Reason',
        ({ model, error_code: code }) =>
          plain(html`<a href="/ops/tasks?${query({ model, error_code: code })}">${code}</a>`),
      ],
      ['Tasks', ({ failed }) => number(failed)],
    ],
    failures,
    'No task failed.',
  );

const query = (filters: Record<string, string>): string => new URLSearchParams(filters).toString();

const attentionTables = ({ parked, unconfirmed, orphans }: TasksNeedingAttention): Html => html`
  <h2 id="parked">Given up for a reason of ours</h2>
  ${attentionTable('Tasks that were given up', parked)}
  <h2 id="unconfirmed">Starts that no vendor confirmed</h2>
  ${attentionTable('Tasks whose start was not confirmed', unconfirmed)}
  <h2 id="orphans">Vendor jobs that belong to no task</h2>
  ${table(
    'Vendor jobs without a task',
    [
      ['Of task', ({ task_id: taskId }) => id(html`<a href="/ops/tasks/${taskId}">${taskId}</a>`)],
      ['Vendor', ({ provider }) => plain(provider)],
      ['Found', ({ created_at: created }) => plain(when(created))],
    ],
    orphans.slice(0, ROWS_SHOWN),
    'None.',
  )}
`;

const attentionTable = (label: string, tasks: readonly TaskNeedingAttention[]): Html => html`
  ${table(
    label,
    [
      ['Task', (task) => id(html`<a href="/ops/tasks/${task.id}">${task.id}</a>`)],
      ['State', (task) => plain(taskState(task.state as TaskState))],
      ['Model', (task) => plain(task.model)],
      ['Account', (task) => id(task.account_id)],
      ['Created', (task) => plain(when(task.created_at))],
      ['Last failure', (task) => text(task.last_failure ?? task.error_code)],
    ],
    tasks.slice(0, ROWS_SHOWN),
    'None.',
  )}
  ${tasks.length > ROWS_SHOWN ? html`<p class="pager quiet">${tasks.length} in all, of which the newest ${ROWS_SHOWN} are shown.</p>` : null}
`;
