import { formatMicros, TASK_MOVES, type TaskState } from '#contracts';
import type { OperatorEntry, OperatorTask, TaskOverview } from '#features';
import { type Request, type Response, Router } from 'express';
import { html, type Html } from './html.js';
import { roleOf } from './ops-gate.js';
import { navigation, page } from './page.js';

const SHOWN = 200;
const STATES = Object.keys(TASK_MOVES) as TaskState[];

/** Pages that show how tasks stand; they show no prompt and no file. */
export function taskPages(tasks: TaskOverview): Router {
  const router = Router();
  router.get('/', async (request: Request, response: Response) => {
    const state = STATES.find((candidate) => candidate === request.query['state']) ?? null;
    const rows = await tasks.recent(state, SHOWN);
    response.type('html').send(page('Tasks', html`${navigation(roleOf(response))} ${filters(state)} ${table(rows)}`));
  });
  router.get('/:task_id', async (request: Request<{ task_id: string }>, response: Response) => {
    const found = await tasks.find(request.params.task_id);
    const body = found ? details(found.task, found.entries) : html`<p>There is no such task.</p>`;
    response
      .status(found ? 200 : 404)
      .type('html')
      .send(page('Task', html`${navigation(roleOf(response))} ${body}`));
  });
  return router;
}

const filters = (chosen: TaskState | null): Html =>
  html`<p>
    ${chosen === null ? html`<strong>all</strong>` : html`<a href="/ops/tasks">all</a>`}
    ${STATES.map((state) =>
      state === chosen ? html`<strong>${state}</strong>` : html`<a href="/ops/tasks?state=${state}">${state}</a>`,
    )}
  </p>`;

const table = (rows: readonly OperatorTask[]): Html =>
  html`<table>
    <thead>
      <tr>
        <th>Task</th>
        <th>State</th>
        <th>Model</th>
        <th>Attempt</th>
        <th>Created</th>
        <th>Last failure</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (task) =>
          html`<tr>
            <td class="id"><a href="/ops/tasks/${task.id}">${task.id}</a></td>
            <td>${stateMark(task.state)}</td>
            <td>${task.model}</td>
            <td>${task.attempt}</td>
            <td>${task.created_at.toISOString()}</td>
            <td>${task.error_code ?? task.last_failure}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;

const stateMark = (state: TaskState): Html => html`<span class="state ${state}">${state}</span>`;

const when = (date: Date | null): string | null => date && date.toISOString();

function details(task: OperatorTask, entries: readonly OperatorEntry[]): Html {
  const facts: readonly (readonly [string, string | number | null | Html])[] = [
    ['Task', html`<code>${task.id}</code>`],
    ['State', stateMark(task.state)],
    ['Progress', `${task.progress} %`],
    ['Model', task.model],
    ['Account', task.account_id],
    ['Request', task.request_id],
    ['Upstream', task.provider],
    ['Attempt', task.attempt],
    ['Failures', task.failures],
    ['Last failure', task.last_failure],
    ['Error', task.error_code],
    ['Leased by', task.lease_owner],
    ['Lease until', when(task.lease_until)],
    ['Created', when(task.created_at)],
    ['Started', when(task.started_at)],
    ['Finished', when(task.finished_at)],
    ['Deadline', when(task.deadline_at)],
    ['Held', formatMicros(task.hold_micros)],
    ['Charged', task.charged_micros === null ? null : formatMicros(task.charged_micros)],
  ];
  return html`<table>
      ${facts.map(
        ([name, value]) =>
          html`<tr>
            <th>${name}</th>
            <td>${value ?? '–'}</td>
          </tr>`,
      )}
    </table>
    <h2>Ledger</h2>
    <table>
      ${entries.map(
        (entry) =>
          html`<tr>
            <td>${entry.created_at.toISOString()}</td>
            <td>${entry.kind}</td>
            <td>${entry.debit} → ${entry.credit}</td>
            <td>${formatMicros(entry.amount_micros)}</td>
          </tr>`,
      )}
    </table>`;
}
