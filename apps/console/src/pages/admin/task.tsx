import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer, ReadRoute } from '../../api/call';
import { useChange, useMay, useRead } from '../../api/queries';
import { CodeBlock } from '../../components/code-block';
import { FormDialog } from '../../components/confirm-dialog';
import { TextField } from '../../components/fields';
import { Card, Facts, Page } from '../../components/page';
import { Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { Id, Money, None, Time } from '../../components/values';
import { useMessages } from '../../messages/language';

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
  const { admin } = useMessages();
  const { taskId } = route.useParams();
  const mayWrite = useMay('admin:write');
  const query = useRead('GET /admin/tasks/:task_id', { params: { task_id: taskId } });
  return (
    <Page
      title={query.data?.task.model ?? admin.tasks.title}
      actions={mayWrite && query.data && <Actions of={query.data.task} />}
    >
      <Loaded query={query} height={640}>
        {(data) => <TaskCards of={data} />}
      </Loaded>
    </Page>
  );
}

function TaskCards({ of: data }: { readonly of: Details }) {
  const { admin, common, tasks } = useMessages();
  const { task } = data;
  return (
    <div className="stack">
      <Card title={common.details}>
        <Facts
          of={[
            [common.state, <Status key="state" of={task.status} />],
            ['ID', <Id key="id" id={task.id} name={common.id} whole />],
            [tasks.requestId, <Id key="request" id={task.request_id} name={tasks.requestId} whole />],
            [
              admin.tasks.account,
              <Link key="account" to="/admin/accounts/$accountId" params={{ accountId: task.account_id }}>
                {task.account_id}
              </Link>,
            ],
            [admin.tasks.vendor, task.provider ?? <None key="vendor" />],
            [admin.tasks.attempt, task.attempt],
            [admin.tasks.failures, task.failures],
            [admin.tasks.lastFailure, task.last_failure ?? <None key="failure" />],
            [admin.tasks.errorCode, task.error_code ?? <None key="error" />],
            [common.amount, <Money key="amount" amount={task.charged ?? task.hold} form="full" />],
            [admin.tasks.refunded, <Money key="refunded" amount={task.refunded} form="full" />],
            ...(task.redriven_as === null
              ? []
              : [
                  [
                    admin.tasks.redriven,
                    <Link key="as" to="/admin/tasks/$taskId" params={{ taskId: task.redriven_as }}>
                      {task.redriven_as}
                    </Link>,
                  ] as const,
                ]),
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
      <details className="card folded">
        <summary>{admin.tasks.raw}</summary>
        <div className="card-body">
          <CodeBlock
            name={admin.tasks.raw}
            code={JSON.stringify({ entries: data.entries, usage: data.usage, deliveries: data.deliveries }, null, 2)}
          />
        </div>
      </details>
    </div>
  );
}

function Actions({ of: task }: { readonly of: Task }) {
  const { admin } = useMessages();
  const [doing, setDoing] = useState<'refund' | 'redrive' | 'cancel' | null>(null);
  const isOpen = !['completed', 'failed', 'cancelled'].includes(task.status);
  const close = () => setDoing(null);
  return (
    <>
      {isOpen && (
        <button type="button" className="button" onClick={() => setDoing('cancel')}>
          {admin.tasks.cancel}
        </button>
      )}
      {task.charged !== null && (
        <button type="button" className="button" onClick={() => setDoing('refund')}>
          {admin.tasks.refund}
        </button>
      )}
      {task.status === 'failed' && (
        <button type="button" className="button" onClick={() => setDoing('redrive')}>
          {admin.tasks.redrive}
        </button>
      )}
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
  const [amount, setAmount] = useState('');
  const [reference, setReference] = useState('');
  const [reason, setReason] = useState('');
  const refund = useChange('POST /admin/tasks/:task_id/refund', TOUCHED);
  return (
    <FormDialog
      title={admin.tasks.refund}
      submit={admin.tasks.refund}
      isReady={reference !== '' && reason !== ''}
      isBusy={refund.isPending}
      failure={refund.error}
      onClose={onClose}
      onSubmit={() =>
        refund.mutate(
          { params: { task_id: task.id }, body: { reference, reason, ...(amount !== '' && { amount }) } },
          { onSuccess: onClose },
        )
      }
    >
      <TextField
        label={common.amount}
        hint={admin.tasks.refundHint}
        inputMode="decimal"
        autoFocus
        value={amount}
        onChange={(event) => setAmount(event.target.value)}
      />
      <TextField
        label={admin.reference}
        hint={admin.referenceHint}
        value={reference}
        onChange={(event) => setReference(event.target.value)}
      />
      <TextField label={admin.tasks.reason} value={reason} onChange={(event) => setReason(event.target.value)} />
    </FormDialog>
  );
}

function ReasonDialog({ of: task, what, onClose }: OfTask & { readonly what: 'redrive' | 'cancel' }) {
  const { admin, tasks } = useMessages();
  const [reason, setReason] = useState('');
  const redrive = useChange('POST /admin/tasks/:task_id/redrive', TOUCHED);
  const cancel = useChange('POST /admin/tasks/:task_id/cancel', TOUCHED);
  const input = { params: { task_id: task.id }, body: reason === '' ? {} : { reason } };
  const title = what === 'redrive' ? admin.tasks.redrive : admin.tasks.cancel;
  return (
    <FormDialog
      title={title}
      submit={title}
      isBusy={redrive.isPending || cancel.isPending}
      failure={redrive.error ?? cancel.error}
      onClose={onClose}
      onSubmit={() =>
        what === 'redrive'
          ? redrive.mutate(input, { onSuccess: onClose })
          : cancel.mutate(input, { onSuccess: onClose })
      }
    >
      <p>{what === 'redrive' ? admin.tasks.redriveText : tasks.cancelText}</p>
      <TextField label={admin.tasks.reason} value={reason} onChange={(event) => setReason(event.target.value)} />
    </FormDialog>
  );
}
