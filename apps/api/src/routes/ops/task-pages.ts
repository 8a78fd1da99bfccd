import { IsOptional, IsString, MaxLength } from 'class-validator';
import { type Request, type Response, Router, urlencoded } from 'express';
import { MEDIA, TASK_TRANSITIONS } from '#contracts';
import type { Operator, OperatorTask } from '#features';
import { amountOf, checked } from '../../checked-input.js';
import { clientGone } from '../../http/client-gone.js';
import { operatorOf } from '../admin/admin-gate.js';
import { ReasonBody, RefundBody, TaskSearchQuery, toTaskSearch } from '../admin/task.dto.js';
import { choiceField, filled, filterForm, queryOf, textField, toQuery } from './filter-form.js';
import { html, type Html } from './html.js';
import { roleOf } from './ops-gate.js';
import type { OpsServices } from './ops-services.js';
import { page } from './page.js';
import { type Column, id, money, number, pager, plain, table, taskState, text, when } from './parts.js';
import { withProblem } from './problem-page.js';
import { taskPage } from './task-page.js';

class ReasonForm extends ReasonBody {
  /** The actor for the audit: all admins share one token. */
  @IsOptional() @IsString() @MaxLength(100) actor?: string;
}

class RefundForm extends RefundBody {
  @IsOptional() @IsString() @MaxLength(100) actor?: string;
}

type TaskRequest = Request<{ task_id: string }>;

/** What the forms of a task page send; the gate lets them through for admins on our own pages only. */
function taskActions({ remedies }: Pick<OpsServices, 'remedies'>): Router {
  const router = Router();
  const readForm = urlencoded({ extended: false, limit: '16kb', parameterLimit: 10 });
  router.post('/:task_id/cancel', readForm, async (request: TaskRequest, response: Response) => {
    const { reason = null, actor } = checked(ReasonForm, filled(request.body));
    const { task_id: taskId } = request.params;
    await remedies.cancel(asOperator(request, actor), taskId, reason, clientGone(response));
    showTask(response, taskId, 'cancel');
  });
  router.post('/:task_id/refund', readForm, async (request: TaskRequest, response: Response) => {
    const { amount, reference, reason, actor } = checked(RefundForm, filled(request.body));
    const { task_id: taskId } = request.params;
    const amountMicros = amount === undefined ? null : amountOf(amount, 'amount');
    const operator = asOperator(request, actor);
    const { replayed } = await remedies.refund(operator, { taskId, amountMicros, reference, reason });
    showTask(response, taskId, replayed ? 'replayed' : 'refund');
  });
  router.post('/:task_id/redrive', readForm, async (request: TaskRequest, response: Response) => {
    const { reason = null, actor } = checked(ReasonForm, filled(request.body));
    const made = await remedies.redrive(asOperator(request, actor), request.params.task_id, reason);
    showTask(response, made.new_task_id, 'redrive');
  });
  return router;
}

function asOperator(request: Request<{ task_id: string }>, actor: string | undefined): Operator {
  const operator = operatorOf(request);
  return actor === undefined ? operator : { ...operator, actor };
}

/** Another request, so that loading the page again does nothing again. */
const showTask = (response: Response, taskId: string, done: string): void =>
  response.redirect(303, `/ops/tasks/${encodeURIComponent(taskId)}?done=${done}`);

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
