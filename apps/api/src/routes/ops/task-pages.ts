import { type Request, type Response, Router } from 'express';
import { MEDIA, TASK_TRANSITIONS } from '#contracts';
import type { OperatorTask } from '#features';
import { TaskSearchQuery, toTaskSearch } from '../admin/task.dto.js';
import { checked } from '../../checked-input.js';
import { choiceField, filterForm, queryOf, textField, toQuery } from './filter-form.js';
import { html, type Html } from './html.js';
import { roleOf } from './ops-gate.js';
import type { OpsServices } from './ops-services.js';
import { page } from './page.js';
import { type Column, id, money, number, pager, plain, table, taskState, text, when } from './parts.js';
import { withProblem } from './problem-page.js';
import { taskActions } from './task-actions.js';
import { taskPage } from './task-page.js';

const PATH = '/ops/tasks';
const NO_ZONE = /T[\d:.]+$/;

/** Search over all tasks, and a page for each. They show no prompt. `unit`: of all amounts. */
export function taskPages(services: OpsServices, unit: string): Router {
  const router = Router();
  router.get('/', async (request: Request, response: Response) => {
    const sent = queryOf(request);
    const query = toQuery(sent);
    const { status, body: list } = await withProblem(async () => {
      const asked = checked(TaskSearchQuery, inUtc(sent));
      const found = await services.search.find(toTaskSearch(asked), {
        limit: asked.limit,
        cursor: asked.cursor ?? null,
      });
      return html`${taskTable(found.items, unit)} ${pager(PATH, query, found.items.length, found.nextCursor)}`;
    });
    const body = html`${filters(query)} ${list}`;
    response
      .status(status)
      .type('html')
      .send(page('Tasks', body, { role: roleOf(response), section: PATH }));
  });
  router.use(taskActions(services));
  router.get('/:task_id', taskPage(services, unit));
  return router;
}

/** The fields of browsers name no zone; on these pages every time is in UTC. */
function inUtc(sent: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const times = ['created_from', 'created_to'].flatMap((name) => {
    const value = sent[name];
    return typeof value === 'string' && NO_ZONE.test(value) ? [[name, `${value}Z`] as const] : [];
  });
  return { ...sent, ...Object.fromEntries(times) };
}

const any = (values: readonly string[]): (readonly [string, string])[] => [
  ['', 'any'],
  ...values.map((value) => [value, value] as const),
];

const filters = (query: URLSearchParams): Html =>
  filterForm(PATH, [
    textField({ name: 'task_id', label: 'Task', hint: 'task_…', type: 'search' }, query),
    textField({ name: 'request_id', label: 'Request (x-request-id)', type: 'search' }, query),
    textField({ name: 'account_id', label: 'Account', hint: 'acct_…', type: 'search' }, query),
    textField({ name: 'api_key_id', label: 'API key', hint: 'key_…', type: 'search' }, query),
    textField({ name: 'vendor_id', label: 'Id at the vendor, exactly', type: 'search' }, query),
    textField({ name: 'vendor_request_id', label: 'Id of a request at the vendor', type: 'search' }, query),
    textField({ name: 'model', label: 'Model', type: 'search' }, query),
    textField({ name: 'error_code', label: 'Error code', type: 'search' }, query),
    choiceField('state', 'State', any(Object.keys(TASK_TRANSITIONS)), query),
    choiceField('type', 'Medium', any(MEDIA), query),
    textField({ name: 'created_from', label: 'Submitted from (UTC)', type: 'datetime-local' }, query),
    textField({ name: 'created_to', label: 'Submitted to (UTC)', type: 'datetime-local' }, query),
    choiceField(
      'limit',
      'Rows',
      [
        ['', '50'],
        ['100', '100'],
        ['200', '200'],
      ],
      query,
    ),
  ]);

function taskTable(tasks: readonly OperatorTask[], unit: string): Html {
  const columns: readonly Column<OperatorTask>[] = [
    ['Task', (task) => id(html`<a href="${PATH}/${task.id}">${task.id}</a>`)],
    ['State', (task) => plain(taskState(task.state))],
    ['Medium', (task) => plain(task.medium)],
    ['Model', (task) => text(task.model)],
    ['Submitted', (task) => plain(when(task.created_at))],
    ['Finished', (task) => plain(when(task.finished_at))],
    [`Held (${unit})`, (task) => number(task.finished_at === null ? money(task.hold_micros) : null)],
    [`Charged (${unit})`, (task) => number(money(task.charged_micros))],
    ['Failed tries', (task) => number(task.failures)],
    ['Last failure', (task) => text(task.error_code ?? task.last_failure)],
    [
      'Account',
      (task) => id(html`<a href="${PATH}?account_id=${encodeURIComponent(task.account_id)}">${task.account_id}</a>`),
    ],
  ];
  return table('Tasks', columns, tasks, 'No task fits.');
}
