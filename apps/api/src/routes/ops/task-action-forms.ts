import { formatMicros, isFinal } from '#contracts';
import type { TaskHistory } from '#features';
import { randomId } from '#platform';
import { html, type Html } from './html.js';

type Task = TaskHistory['task'];

const NOTICES = new Map<unknown, string>([
  ['cancel', 'Cancellation of the task was requested.'],
  ['refund', 'The money was given back.'],
  ['replayed', 'This reference was booked before: nothing was moved again.'],
  ['redrive', 'This task was made from the failed one.'],
]);

/** What was done on the page before. */
export function noticeOf(done: unknown): Html | null {
  const notice = NOTICES.get(done);
  return notice === undefined ? null : html`<p class="notice" role="status">${notice}</p>`;
}

/** The actions available in the task's current state. Each opens first, so that no single click changes anything. */
export function actionForms(task: Task): Html {
  const left = (task.charged_micros ?? 0n) - task.refunded_micros;
  const forms = [
    ...(isFinal(task.state) ? [] : [cancelForm(task)]),
    ...(left > 0n ? [refundForm(task, left)] : []),
    ...(task.state === 'failed' && task.redriven_as === null ? [redriveForm(task)] : []),
  ];
  return html`<h2>Actions</h2>
    ${forms.length === 0 ? html`<p class="quiet">There is nothing to do for this task.</p>` : forms}`;
}

const ACTOR = html`<label>Your name, for the audit <input name="actor" maxlength="100" autocomplete="name" /></label>`;

const cancelForm = ({ id }: Task): Html =>
  html`<details>
    <summary>Cancel</summary>
    <form method="post" action="/ops/tasks/${id}/cancel">
      <p class="quiet">Stops the task as its owner can. Where the vendor cannot stop it, it goes on and is charged.</p>
      <label>Reason <input name="reason" maxlength="1000" /></label>
      ${ACTOR}
      <button class="danger">Cancel the task</button>
    </form>
  </details>`;

/** The reference is made with the form, so that sending the form twice gives the money back once. */
const refundForm = ({ id }: Task, left: bigint): Html =>
  html`<details>
    <summary>Refund</summary>
    <form method="post" action="/ops/tasks/${id}/refund">
      <p class="quiet">Gives money back to the account, at most ${formatMicros(left)}.</p>
      <label
        >Amount, all that is left unless given
        <input name="amount" inputmode="decimal" placeholder="${formatMicros(left)}" maxlength="30"
      /></label>
      <label>Reason <input name="reason" required maxlength="1000" /></label>
      <label
        >Reference: the same one is booked once
        <input name="reference" required maxlength="100" value="${randomId('ops')}"
      /></label>
      ${ACTOR}
      <button class="danger">Give the money back</button>
    </form>
  </details>`;

const redriveForm = ({ id }: Task): Html =>
  html`<details>
    <summary>Send again</summary>
    <form method="post" action="/ops/tasks/${id}/redrive">
      <p class="quiet">Makes a new task from this failed one: at the same price, with a new hold on the account.</p>
      <label>Reason <input name="reason" maxlength="1000" /></label>
      ${ACTOR}
      <button>Send again</button>
    </form>
  </details>`;
