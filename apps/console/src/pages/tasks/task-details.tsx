import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useLiveTasks } from '../../api/live-tasks';
import { useChange, useMay } from '../../api/queries';
import type { ConsoleTaskDetails } from '../../api/types';
import { Button, CopyButton } from '../../components/button';
import { ChargeLines } from '../../components/charge';
import { CodeBlock } from '../../components/code-block';
import { FormDialog } from '../../components/confirm-dialog';
import { Card, Facts, Notice } from '../../components/page';
import { Status } from '../../components/status';
import { Id, Money, Time } from '../../components/values';
import { formatSeconds } from '../../format/time';
import { useLanguage, useMessages } from '../../messages/language';
import { ResultMedia } from './media';
import { Progress } from './progress';

/** Everything about one task, on its page and in the drawer. */
export function TaskDetails({ task }: { readonly task: ConsoleTaskDetails }) {
  const { tasks, common, shell } = useMessages();
  useLiveTasks([task]);
  return (
    <div className="task-details">
      <div>
        <div className="stack">
          <p className="task-prompt">{task.prompt ?? <span className="muted">{tasks.promptGone}</span>}</p>
          <Outcome task={task} />
          <TaskActions task={task} />
          <Card title={common.request}>
            {task.request === null ? (
              <p className="muted">{tasks.requestGone}</p>
            ) : (
              <CodeBlock name={common.request} code={JSON.stringify(task.request, null, 2)} />
            )}
          </Card>
        </div>
        <div className="stack">
          <Card title={tasks.charge}>
            <Charge task={task} />
          </Card>
          <Card title={common.details}>
            <TaskFacts task={task} />
          </Card>
          <Card title={tasks.timeline}>
            <Timeline task={task} />
          </Card>
          <Card title={shell.pages.webhooks}>
            <Deliveries task={task} />
          </Card>
        </div>
      </div>
    </div>
  );
}

/** The result: files, progress, or why there is nothing. */
export function Outcome({ task }: { readonly task: ConsoleTaskDetails }) {
  const { messages, language } = useLanguage();
  const { tasks } = messages;
  if (task.status === 'completed') return <ResultMedia task={task} />;
  if (task.error) {
    const words = tasks.whoseFault as Readonly<Record<string, string>>;
    return (
      <Notice tone="bad">
        <p>{words[task.error.code] ?? task.error.message}</p>
        <p className="small-text">{tasks.costNothing}</p>
        <p className="small-text with-copy">
          <span lang="en" className="break">
            {task.error.message}
          </span>
          <CopyButton
            text={`${task.error.code}\n${task.error.message}\n${task.request_id}`}
            name={messages.failures.wholeError}
          />
        </p>
      </Notice>
    );
  }
  if (task.is_final) return <Notice tone="info">{tasks.costNothing}</Notice>;
  return (
    <div className="stack tight">
      <Progress task={task} />
      {task.typical_seconds !== null && (
        <p className="muted small-text">{tasks.typical(formatSeconds(task.typical_seconds, language))}</p>
      )}
      {task.cancellation && <Notice tone="info">{task.cancellation.message}</Notice>}
    </div>
  );
}

function TaskActions({ task }: { readonly task: ConsoleTaskDetails }) {
  const { tasks } = useMessages();
  const mayRun = useMay('tasks:run');
  const mayCancel = useMay('tasks:cancel');
  return (
    <div className="row">
      {mayRun && task.request && (
        <>
          <Link className="button" to="/playground" search={{ again: task.id }}>
            {tasks.runAgain}
          </Link>
          {'seed' in task.request && (
            <Link className="button" to="/playground" search={{ again: task.id, seed: 'new' }}>
              {tasks.anotherSeed}
            </Link>
          )}
        </>
      )}
      {mayRun && task.type === 'image' && task.files.some(({ url, is_expired: isGone }) => url !== null && !isGone) && (
        <Link className="button" to="/playground" search={{ frame: task.id }}>
          {tasks.useAsFirstFrame}
        </Link>
      )}
      {task.status === 'completed' && (
        <Link className="button quiet" to="/tasks" search={{ compare: task.id }}>
          {tasks.compare}
        </Link>
      )}
      {mayCancel && !task.is_final && <CancelButton task={task} />}
    </div>
  );
}

/** Stops a task, after showing what happens to the money. */
export function CancelButton({ task }: { readonly task: Pick<ConsoleTaskDetails, 'id' | 'amount'> }) {
  const { tasks, common } = useMessages();
  const [isAsking, setAsking] = useState(false);
  const cancel = useChange('POST /tasks/:task_id/cancel', ['GET /tasks', 'GET /tasks/:task_id', 'GET /billing']);
  return (
    <>
      <Button label={common.cancel} onClick={() => setAsking(true)} />
      {isAsking && (
        <FormDialog
          title={tasks.cancelTitle}
          submit={tasks.doCancel}
          cancel={tasks.keepRunning}
          isDangerous
          change={cancel}
          onClose={() => setAsking(false)}
          send={{ params: { task_id: task.id }, body: {} }}
        >
          <p>
            {tasks.cancelText} (<Money amount={task.amount} />)
          </p>
        </FormDialog>
      )}
    </>
  );
}

function TaskFacts({ task }: { readonly task: ConsoleTaskDetails }) {
  const { tasks, common } = useMessages();
  return (
    <Facts
      of={[
        [common.state, <Status key="state" of={task.status} />],
        [
          common.model,
          <Link key="model" to="/models/$model" params={{ model: task.model }}>
            {task.model}
          </Link>,
        ],
        [tasks.mode, task.mode],
        [common.key, task.key.name],
        ['ID', <Id key="id" id={task.id} name={common.id} whole />],
        [common.requestId, <Id key="request" id={task.request_id} name={common.requestId} whole />],
        [common.created, <Time key="created" at={task.created_at} absolute />],
        task.started_at !== null && [tasks.started, <Time key="started" at={task.started_at} absolute />],
        task.completed_at !== null && [tasks.ended, <Time key="ended" at={task.completed_at} absolute />],
        ...task.notices.map((notice) => ['!', notice] as const),
      ]}
    />
  );
}

function Charge({ task }: { readonly task: ConsoleTaskDetails }) {
  const { tasks, money } = useMessages();
  const mayReadLedger = useMay('ledger:read');
  const lines = task.usage.flatMap((record) => record.lines);
  return (
    <div className="stack tight">
      {!task.is_final && (
        <p>
          {tasks.heldNow}: <Money amount={task.amount} form="full" />
        </p>
      )}
      {task.is_final && lines.length === 0 && <p className="muted">{tasks.costNothing}</p>}
      {lines.length > 0 && <ChargeLines lines={lines} />}
      {task.is_final && lines.length > 0 && (
        <p className="row between strong">
          <span>{money.total}</span>
          <Money amount={task.amount} form="full" />
        </p>
      )}
      {mayReadLedger && task.entries[0] && (
        <Link to="/billing/entries/$entryId" params={{ entryId: task.entries.at(-1)?.id ?? task.entries[0].id }}>
          {money.explain}
        </Link>
      )}
    </div>
  );
}

const MONEY_EVENTS: ReadonlySet<string> = new Set(['held', 'captured', 'released', 'refunded']);

function Timeline({ task }: { readonly task: ConsoleTaskDetails }) {
  const { tasks } = useMessages();
  return (
    <ol className="timeline">
      {task.timeline.map((event) => (
        <li key={`${event.time} ${event.event}`}>
          <Time at={event.time} isClock />
          <span>
            {tasks.events[event.event] ?? event.event}
            {event.detail !== null && (
              <span className="muted break">
                {' '}
                {MONEY_EVENTS.has(event.event) ? <Money amount={event.detail} form="full" /> : event.detail}
              </span>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Deliveries({ task }: { readonly task: ConsoleTaskDetails }) {
  const { tasks } = useMessages();
  if (task.deliveries.length === 0) return <p className="muted">{tasks.noDeliveries}</p>;
  return (
    <ul className="stack tight">
      {task.deliveries.map((delivery) => (
        <li key={delivery.id} className="row">
          <Status of={delivery.status} />
          <Link to="/webhooks/deliveries/$deliveryId" params={{ deliveryId: delivery.id }} className="break">
            {delivery.event_type}
          </Link>
        </li>
      ))}
    </ul>
  );
}
