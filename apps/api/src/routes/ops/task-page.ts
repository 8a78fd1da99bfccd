import type { Request, RequestHandler, Response } from 'express';
import { isFinal, type TaskFileView, type TaskView } from '#contracts';
import type { OperatorEntry, OperatorTask, TaskHistory, TimelineEntry } from '#features';
import { viewOf } from '../../row-view.js';
import { deliveryStatus, lastAnswer, redeliverForm } from './delivery-pages.js';
import { html, type Html } from './html.js';
import type { OperatorRole } from './operator-access.js';
import { roleOf } from './ops-gate.js';
import type { OpsServices } from './ops-services.js';
import { page } from './page.js';
import { type Column, facts, id, mark, money, number, plain, table, taskState, text, when, words } from './parts.js';
import { actionForms, noticeOf } from './task-action-forms.js';

/** One task: its state, cost and result, and the available actions. */
export function taskPage({ overview, reading }: OpsServices, unit: string): RequestHandler<{ task_id: string }> {
  return async (request: Request<{ task_id: string }>, response: Response) => {
    const role = roleOf(response);
    const found = await overview.find(request.params.task_id);
    const body = found
      ? html`${noticeOf(request.query['done'])} ${details(found, await viewFor(role, found, reading), role, unit)}`
      : html`<p class="problem" role="alert">There is no such task.</p>`;
    const title = found ? `Task ${found.task.id}` : 'Task';
    response
      .status(found ? 200 : 404)
      .type('html')
      .send(page(title, body, { role, section: '/ops/tasks' }));
  };
}

/** What was made belongs to the customer: only admins get links to it. */
const viewFor = async (
  role: OperatorRole,
  { task }: TaskHistory,
  reading: OpsServices['reading'],
): Promise<TaskView | null> => (role === 'admin' ? reading.read(task.account_id, task.id) : null);

const details = (history: TaskHistory, view: TaskView | null, role: OperatorRole, unit: string): Html => html`
  <div class="cards">
    <section class="panel">
      <h2>How it stands</h2>
      ${standing(history.task)}
    </section>
    <section class="panel">
      <h2>Whose it is</h2>
      ${origin(history.task)}
    </section>
    <section class="panel">
      <h2>Amounts (${unit})</h2>
      ${amounts(history.task)}
    </section>
  </div>
  <h2>Result</h2>
  ${results(history.task, view)}
  ${role === 'admin' ? actionForms(history.task) : html`<p class="quiet">You are signed in to look only: no actions.</p>`}
  <h2>Timeline</h2>
  ${timeline(history.timeline)}
  <h2>Ledger</h2>
  ${ledger(history.entries, unit)}
  <h2>Webhook deliveries</h2>
  ${deliveryTable(history.deliveries as readonly TaskDelivery[], role)}
`;

const standing = (task: TaskHistory['task']): Html =>
  facts([
    [
      'State',
      html`${taskState(task.state)}
      ${task.state === task.status ? null : html`<span class="quiet">customers see ${task.status}</span>`}`,
    ],
    ['Progress', `${task.progress} %`],
    ['Error', task.error_code],
    ['Message', words(task.error_message, 300)],
    ['Failed tries', task.failures],
    ['Lapses', task.lapses],
    ['Claims', task.attempt],
    ['Last failure', words(task.last_failure, 300)],
    ['Leased by', task.lease_owner],
    ['Lease until', when(task.lease_until)],
    ['Deadline', when(task.deadline_at)],
    ['Cancellation', task.cancel_outcome],
    ['Made again from', task.redrive_of && linkTo(task.redrive_of)],
    ['Sent again as', task.redriven_as && linkTo(task.redriven_as)],
  ]);

const linkTo = (taskId: string): Html => html`<a class="id" href="/ops/tasks/${taskId}">${taskId}</a>`;

const origin = (task: OperatorTask): Html =>
  facts([
    ['Model', task.model],
    ['Medium', task.medium],
    ['Account', searchFor('account_id', task.account_id)],
    ['API key', searchFor('api_key_id', task.api_key_id)],
    ['Request', searchFor('request_id', task.request_id)],
    ['Upstream', task.provider],
    ['Ids at the vendor', task.vendor_ids && pairs(task.vendor_ids)],
    ['Submitted', when(task.created_at)],
    ['Started', when(task.started_at)],
    ['Finished', when(task.finished_at)],
  ]);

const searchFor = (field: string, value: string): Html =>
  html`<a class="id" href="/ops/tasks?${new URLSearchParams({ [field]: value }).toString()}">${value}</a>`;

const amounts = ({
  hold_micros: held,
  charged_micros: charged,
  refunded_micros: refunded,
  state,
}: TaskHistory['task']): Html =>
  table(
    'Amounts',
    [
      ['What', ([name]) => plain(name)],
      ['Amount', ([, amount]) => number(money(amount))],
    ],
    [
      [isFinal(state) ? 'Was held' : 'Held', held],
      ['Charged', charged],
      ['Given back', refunded],
      ['Kept', charged === null ? null : charged - refunded],
    ] as const,
    '',
  );

function results(task: OperatorTask, view: TaskView | null): Html {
  if (task.state !== 'completed') return html`<p class="quiet">There is none${isFinal(task.state) ? '' : ' yet'}.</p>`;
  if (!view) return html`<p class="quiet">Links to what was made are shown to admins only.</p>`;
  const files = [...(view.result?.videos ?? []), ...(view.result?.images ?? [])];
  const columns: readonly Column<TaskFileView>[] = [
    ['File', (file) => plain(fileLink(file))],
    ['Type', (file) => plain(file.content_type)],
    ['Size', ({ width, height }) => plain(width === null || height === null ? null : `${width} × ${height}`)],
    ['Seconds', (file) => number(file.duration)],
    ['Bytes', (file) => number(file.bytes)],
    ['SHA-256', (file) => id(html`<span title="${file.sha256}">${file.sha256.slice(0, 12)}…</span>`)],
  ];
  return table('Files of the result', columns, files, 'There are no files.');
}

function fileLink({ url, expired }: TaskFileView): Html {
  if (url === null || expired) return mark('off', 'deleted');
  const isWeb = URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
  return isWeb ? html`<a href="${url}" rel="noreferrer noopener" target="_blank">Open</a>` : html`${url}`;
}

/** What is known of an event, as names and values. */
function pairs(detail: object): Html {
  const shown = Object.entries(viewOf(detail) as Record<string, unknown>).filter(([, value]) => value !== null);
  return html`<dl class="inline">
    ${shown.map(([name, value]) => {
      const written = typeof value === 'string' ? value : JSON.stringify(value);
      return html`<div>
        <dt>${name}</dt>
        <dd>${words(written, 200)}</dd>
      </div>`;
    })}
  </dl>`;
}

const timeline = (events: readonly TimelineEntry[]): Html =>
  table(
    'Timeline, earliest first, in UTC',
    [
      ['Time', ({ time }) => plain(when(time))],
      ['Event', ({ event }) => plain(event)],
      ['Details', ({ detail }) => ({ kind: 'words', content: detail ? pairs(detail) : html`` })],
    ],
    events,
    'Nothing is known.',
  );

const ledger = (entries: readonly OperatorEntry[], unit: string): Html =>
  table(
    'Ledger entries',
    [
      ['Time', (entry) => plain(when(entry.created_at))],
      ['Kind', ({ kind }) => plain(kind)],
      ['From → to', ({ debit, credit }) => plain(`${debit} → ${credit}`)],
      [`Amount (${unit})`, (entry) => number(money(entry.amount_micros))],
      ['Reference', ({ reference }) => text(reference)],
      ['Note', ({ note }) => text(note)],
    ],
    entries,
    'No entry.',
  );

interface TaskDelivery {
  readonly id: string;
  readonly event_type: string;
  readonly url: string;
  readonly state: string;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: Date;
}

function deliveryTable(deliveries: readonly TaskDelivery[], role: OperatorRole): Html {
  const columns: Column<TaskDelivery>[] = [
    ['Delivery', (delivery) => id(delivery.id)],
    ['Status', ({ state }) => plain(deliveryStatus(state))],
    ['Event', (delivery) => plain(delivery.event_type)],
    ['Receiver', ({ url }) => text(url)],
    ['Attempts', ({ attempts }) => number(attempts)],
    ['Last answer', (delivery) => text(lastAnswer(delivery.last_status, delivery.last_error))],
    ['Created', (delivery) => plain(when(delivery.created_at))],
  ];
  if (role === 'admin') columns.push(['Action', (delivery) => plain(redeliverForm(delivery.id))]);
  return table('Webhook deliveries of this task', columns, deliveries, 'None.');
}
