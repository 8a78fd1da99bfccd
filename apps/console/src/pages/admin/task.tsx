import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer, ReadRoute } from '../../api/call';
import { useChange, useMay, useRead } from '../../api/queries';
import { Button } from '../../components/button';
import { CodeBlock } from '../../components/code-block';
import { FormDialog } from '../../components/confirm-dialog';
import { TextField, useInputs } from '../../components/fields';
import { Card, Facts, Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table, TableCard } from '../../components/table';
import { Id, Money, None, Time } from '../../components/values';
import { useMessages } from '../../messages/language';
import { Resent, useDeliveryColumns } from './deliveries';

const route = getRouteApi('/shell/admin/tasks/$taskId');
const TOUCHED: readonly ReadRoute[] = ['GET /admin/tasks', 'GET /admin/tasks/:task_id', 'GET /admin/audit'];

type Details = Answer<'GET /admin/tasks/:task_id'>;
type Event = Details['timeline'][number];

/** The event by the name that logs have, where it is shown under another, and what it came with. */
const describeEvent = ({ event, name, detail }: Event): string =>
  [
    ...(name === null ? [] : [event]),
    ...Object.entries(detail ?? {})
      .filter(([, value]) => value !== null)
      .map(([fact, value]) => `${fact}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ].join(' · ');

type Task = Details['task'];

export function AdminTaskPage() {
  const { shell } = useMessages();
  const { taskId } = route.useParams();
  const mayWrite = useMay('admin:write');
  const query = useRead('GET /admin/tasks/:task_id', { params: { task_id: taskId } });
  return (
    <Page
      title={query.data?.task.model ?? shell.pages.adminTasks}
      actions={mayWrite && query.data && <Actions of={query.data.task} />}
    >
      <Loaded query={query} height={640}>
        {(data) => <TaskCards of={data} />}
      </Loaded>
    </Page>
  );
}

function TaskCards({ of: data }: { readonly of: Details }) {
  const { admin, common, tasks, shell } = useMessages();
  const { task } = data;
  return (
    <div className="stack">
      <Card title={common.details}>
        <Facts
          of={[
            [common.state, <Status key="state" of={task.status} />],
            ['ID', <Id key="id" id={task.id} name={common.id} whole />],
            [common.requestId, <Id key="request" id={task.request_id} name={common.requestId} whole />],
            [
              common.account,
              <Link key="account" to="/admin/accounts/$accountId" params={{ accountId: task.account_id }}>
                {task.account_id}
              </Link>,
            ],
            [common.upstream, task.provider],
            [admin.tasks.step, task.state],
            [tasks.progress, `${task.progress} %`],
            [
              admin.tasks.vendorId,
              task.vendor_ids && (
                <code key="vendor" className="break">
                  {JSON.stringify(task.vendor_ids)}
                </code>
              ),
            ],
            [admin.tasks.keyId, <Id key="api-key" id={task.api_key_id} name={common.id} whole />],
            [admin.tasks.attempt, task.attempt],
            [admin.tasks.failures, task.failures],
            [common.lastFailure, task.last_failure],
            [admin.tasks.errorCode, task.error_code],
            [admin.tasks.message, task.error_message],
            [admin.tasks.cancelled, task.cancel_outcome],
            [admin.tasks.lease, task.lease_owner],
            [admin.tasks.leaseUntil, task.lease_until && <Time key="until" at={task.lease_until} absolute />],
            [common.amount, <Money key="amount" amount={task.charged ?? task.hold} form="full" />],
            [admin.tasks.refunded, <Money key="refunded" amount={task.refunded} form="full" />],
            [common.cost, <Cost key="cost" of={task} />],
            task.redrive_of !== null && [
              admin.tasks.redriveOf,
              <Link key="of" to="/admin/tasks/$taskId" params={{ taskId: task.redrive_of }}>
                {task.redrive_of}
              </Link>,
            ],
            task.redriven_as !== null && [
              admin.tasks.redriven,
              <Link key="as" to="/admin/tasks/$taskId" params={{ taskId: task.redriven_as }}>
                {task.redriven_as}
              </Link>,
            ],
            [common.created, <Time key="created" at={task.created_at} absolute />],
            [admin.tasks.deadline, <Time key="deadline" at={task.deadline_at} absolute />],
          ]}
        />
      </Card>
      <Card title={admin.tasks.calls}>
        <ol className="timeline">
          {data.timeline.map((event, index) => (
            // Two events may happen in the same millisecond under the same name.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={index}>
              <Time at={event.time} isClock />
              <span className="break">
                {event.name === null ? event.event : tasks.events[event.name]}
                <span className="muted small-text"> {describeEvent(event)}</span>
              </span>
            </li>
          ))}
        </ol>
      </Card>
      {data.files && <Files of={data.files} />}
      <Entries of={data.entries} />
      <Deliveries of={data.deliveries} />
      <details className="card folded">
        <summary>{shell.pages.usage}</summary>
        <div className="card-body">
          <CodeBlock name={shell.pages.usage} code={JSON.stringify(data.usage, null, 2)} />
        </div>
      </details>
    </div>
  );
}

/** Links to what was made. */
function Files({ of: files }: { readonly of: NonNullable<Details['files']> }) {
  const { admin, common } = useMessages();
  const { tasks } = admin;
  return (
    <Card title={common.result}>
      {files.length === 0 ? (
        <Empty>{tasks.noFiles}</Empty>
      ) : (
        <ul>
          {files.map(({ url, is_expired: isExpired, content_type: type, bytes, width, height }, index) => (
            // Files have no name of their own.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={index}>
              {url === null || isExpired ? (
                <span className="muted">{tasks.expired}</span>
              ) : (
                <a className="button small" href={url} target="_blank" rel="noreferrer noopener">
                  {common.file} {index + 1}
                </a>
              )}{' '}
              <span className="muted small-text">
                {[type, width !== null && `${width} × ${height}`, `${bytes} B`].filter(Boolean).join(' · ')}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

type Entry = Details['entries'][number];

/** Every movement of money for the task. */
function Entries({ of: entries }: { readonly of: readonly Entry[] }) {
  const { admin, common } = useMessages();
  const { tasks } = admin;
  const columns: Column<Entry>[] = [
    { id: 'time', head: common.time, cell: ({ created_at: at }) => <Time at={at} absolute /> },
    { id: 'kind', head: common.kind, cell: ({ kind }) => kind },
    { id: 'books', head: tasks.books, cell: ({ debit, credit }) => `${debit} → ${credit}` },
    { id: 'amount', head: common.amount, money: ({ amount }) => amount },
    { id: 'reference', head: common.reference, cell: ({ reference }) => reference },
    { id: 'note', head: admin.note, cell: ({ note }) => note && <span className="break">{note}</span> },
  ];
  return (
    <TableCard
      label={common.ledger}
      name="admin.task.entries"
      columns={columns}
      rows={entries}
      empty={admin.noEntries}
    />
  );
}

function Deliveries({ of: deliveries }: { readonly of: Details['deliveries'] }) {
  const { common } = useMessages();
  const { columns, resend } = useDeliveryColumns();
  if (deliveries.length === 0) return null;
  return (
    <Card title={common.webhookDeliveries} isFlush>
      <Resent of={resend} />
      <Table label={common.webhookDeliveries} name="admin.task.deliveries" columns={columns} rows={deliveries} />
    </Card>
  );
}

function Actions({ of: task }: { readonly of: Task }) {
  const { admin, tasks } = useMessages();
  const [doing, setDoing] = useState<'refund' | 'redrive' | 'cancel' | null>(null);
  const isOpen = !['completed', 'failed', 'cancelled'].includes(task.status);
  const close = () => setDoing(null);
  return (
    <>
      {isOpen && <Button label={tasks.doCancel} onClick={() => setDoing('cancel')} />}
      {task.charged !== null && <Button label={admin.tasks.refund} onClick={() => setDoing('refund')} />}
      {task.status === 'failed' && <Button label={admin.tasks.redrive} onClick={() => setDoing('redrive')} />}
      {doing === 'refund' && <RefundDialog of={task} onClose={close} />}
      {(doing === 'redrive' || doing === 'cancel') && <ReasonDialog of={task} what={doing} onClose={close} />}
    </>
  );
}

interface OfTask {
  readonly of: Task;
  readonly onClose: () => void;
}

function RefundDialog({ of: task, onClose }: OfTask) {
  const { admin, common } = useMessages();
  const refund = useChange('POST /admin/tasks/:task_id/refund', TOUCHED);
  const form = useInputs({ amount: '', reference: '', reason: '' }, refund.error);
  const { amount, ...required } = form.values;
  return (
    <FormDialog
      title={admin.tasks.refund}
      isReady={required.reference !== '' && required.reason !== ''}
      change={refund}
      onClose={onClose}
      send={{ params: { task_id: task.id }, body: { ...required, ...(amount !== '' && { amount }) } }}
    >
      <TextField
        {...form.text('amount')}
        label={common.amount}
        hint={admin.tasks.refundHint}
        inputMode="decimal"
        autoFocus
      />
      <TextField {...form.text('reference')} label={common.reference} hint={admin.referenceHint} />
      <TextField {...form.text('reason')} label={admin.tasks.reason} />
    </FormDialog>
  );
}

function ReasonDialog({ of: task, what, onClose }: OfTask & { readonly what: 'redrive' | 'cancel' }) {
  const { admin, tasks } = useMessages();
  const [reason, setReason] = useState('');
  const change = useChange(`POST /admin/tasks/:task_id/${what}`, TOUCHED);
  const input = { params: { task_id: task.id }, body: reason === '' ? {} : { reason } };
  const title = what === 'redrive' ? admin.tasks.redrive : tasks.doCancel;
  return (
    <FormDialog title={title} change={change} onClose={onClose} send={input}>
      <p>{what === 'redrive' ? admin.tasks.redriveText : tasks.cancelText}</p>
      <TextField label={admin.tasks.reason} value={reason} onType={setReason} />
    </FormDialog>
  );
}

/** What the order cost the operator, in the vendor's own currency; unknown is not 0. */
function Cost({ of: { cost, cost_currency: currency, cost_source: source } }: { readonly of: Details['task'] }) {
  const { admin } = useMessages();
  if (cost === null) return <None />;
  return (
    <>
      {cost} {currency} {source !== null && <span className="muted">({admin.tasks.costSources[source]})</span>}
    </>
  );
}
