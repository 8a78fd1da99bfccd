import { type Request, type Response, Router } from 'express';
import type { OperatorDelivery } from '#features';
import { operatorOf } from '../admin/admin-gate.js';
import { DeliveriesQuery } from '../admin/task.dto.js';
import { checked } from '../../checked-input.js';
import { choiceField, filterForm, queryOf, textField, toQuery } from './filter-form.js';
import { html, type Html } from './html.js';
import type { OperatorRole } from './operator-access.js';
import { roleOf } from './ops-gate.js';
import type { OpsServices } from './ops-services.js';
import { page } from './page.js';
import { type Column, id, mark, number, pager, plain, table, text, when } from './parts.js';
import { withProblem } from './problem-page.js';

const PATH = '/ops/deliveries';
const STATUS: Readonly<Record<string, Html>> = {
  pending: mark('running', 'pending'),
  delivered: mark('good', 'delivered'),
  failed: mark('bad', 'failed'),
};

/** The webhook deliveries of all accounts, and sending one again. */
export function deliveryPages({ deliveries }: Pick<OpsServices, 'deliveries'>): Router {
  const router = Router();
  router.get('/', async (request: Request, response: Response) => {
    const sent = queryOf(request);
    const role = roleOf(response);
    const isSent = sent['done'] === 'redelivered';
    delete sent['done'];
    const query = toQuery(sent);
    const { status, body: list } = await withProblem(async () => {
      const asked = checked(DeliveriesQuery, sent);
      const search = {
        accountId: asked.account_id ?? null,
        endpointId: asked.endpoint_id ?? null,
        taskId: asked.task_id ?? null,
        status: asked.status ?? null,
      };
      const found = await deliveries.find(search, { limit: asked.limit, cursor: asked.cursor ?? null });
      return html`${deliveryTable(found.items, role)} ${pager(PATH, query, found.items.length, found.nextCursor)}`;
    });
    const notice = isSent ? html`<p class="notice" role="status">The delivery will be sent again at once.</p>` : null;
    const body = html`${notice} ${filters(query)} ${list}`;
    response
      .status(status)
      .type('html')
      .send(page('Webhook deliveries', body, { role, section: PATH }));
  });
  router.post('/:delivery_id/redeliver', async (request: Request<{ delivery_id: string }>, response: Response) => {
    const delivery = await deliveries.redeliver(operatorOf(request), request.params.delivery_id);
    const where = delivery.taskId === null ? { account_id: delivery.accountId } : { task_id: delivery.taskId };
    response.redirect(303, `${PATH}?${new URLSearchParams({ ...where, done: 'redelivered' }).toString()}`);
  });
  return router;
}

const filters = (query: URLSearchParams): Html =>
  filterForm(PATH, [
    choiceField(
      'status',
      'Status',
      [
        ['', 'any'],
        ['pending', 'pending'],
        ['delivered', 'delivered'],
        ['failed', 'failed'],
      ],
      query,
    ),
    textField({ name: 'task_id', label: 'Task', hint: 'task_…' }, query),
    textField({ name: 'account_id', label: 'Account', hint: 'acct_…' }, query),
    textField({ name: 'endpoint_id', label: 'Endpoint' }, query),
  ]);

export const redeliverForm = (deliveryId: string): Html =>
  html`<form method="post" action="${PATH}/${encodeURIComponent(deliveryId)}/redeliver">
    <button>Send again</button>
  </form>`;

export const deliveryStatus = (status: string): Html => STATUS[status] ?? mark('queued', status);

function deliveryTable(deliveries: readonly OperatorDelivery[], role: OperatorRole): Html {
  const columns: Column<OperatorDelivery>[] = [
    ['Delivery', (delivery) => id(delivery.id)],
    ['Status', ({ status }) => plain(deliveryStatus(status))],
    ['Event', (delivery) => plain(delivery.eventType)],
    ['Receiver', ({ url }) => text(url)],
    ['Attempts', ({ attempts }) => number(attempts)],
    ['Last answer', (delivery) => text(lastAnswer(delivery.lastStatus, delivery.lastError))],
    ['Created', (delivery) => plain(when(delivery.createdAt))],
    ['Next attempt', (delivery) => plain(when(delivery.nextAttemptAt))],
    ['Task', ({ taskId }) => id(taskId === null ? null : html`<a href="/ops/tasks/${taskId}">${taskId}</a>`)],
    ['Account', (delivery) => id(delivery.accountId)],
  ];
  if (role === 'admin') columns.splice(2, 0, ['Action', (delivery) => plain(redeliverForm(delivery.id))]);
  return table('Webhook deliveries', columns, deliveries, 'No delivery fits.');
}

/** What the receiver said last: its status, or why there was none. */
export const lastAnswer = (status: number | null, error: string | null): string | null =>
  [status === null ? null : String(status), error].filter((part) => part !== null).join(' ') || null;
