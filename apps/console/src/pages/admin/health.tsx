import { Link, type LinkProps } from '@tanstack/react-router';
import { useRead } from '../../api/queries';
import type { AdminHealth, TasksNeedingAttention } from '../../api/types';
import { Card, Facts, Notice, Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, TableCard } from '../../components/table';
import { Money, ShortId, Time } from '../../components/values';
import { useMessages } from '../../messages/language';

const REFRESH_MS = 15_000;
const ROWS_SHOWN = 20;

/** How the whole gateway stands: first what an operator should check. */
export function HealthPage() {
  const { shell } = useMessages();
  const health = useRead('GET /admin/health', {}, { refetchMs: REFRESH_MS });
  const tasks = useRead('GET /admin/tasks-needing-attention', {});
  return (
    <Page title={shell.pages.health}>
      <Loaded query={health} height={640}>
        {(data) => (
          <div className="stack">
            <Attention of={data} />
            <Sums of={data} />
            <OpenTasks of={data} />
            <Queues of={data} />
            <Late of={data} />
            <Failures of={data} />
            <Unpriced of={data} />
          </div>
        )}
      </Loaded>
      <Loaded query={tasks} height={200}>
        {(data) => <NeedingAttention of={data} />}
      </Loaded>
    </Page>
  );
}

interface OfHealth {
  readonly of: AdminHealth;
}
type Concern = AdminHealth['attention'][number];

/** Where more is told about a concern. */
const PLACES: Partial<Record<Concern['code'], LinkProps>> = {
  books_differ: { to: '/admin/reconciliation' },
  reconciliation_findings: { to: '/admin/reconciliation' },
  reconciliation_old: { to: '/admin/reconciliation' },
  tasks_late: { to: '/admin/tasks', search: { status: 'submitted' } },
  polls_late: { to: '/admin/tasks', search: { status: 'in_progress' } },
  webhooks_late: { to: '/admin/deliveries', search: { status: 'pending' } },
  webhooks_failed: { to: '/admin/deliveries', search: { status: 'failed' } },
  no_worker: { to: '/admin/workers', search: { all: 'true' } },
  workers_silent: { to: '/admin/workers', search: { all: 'true' } },
  upstream_cooling: { to: '/admin/upstreams' },
  upstream_problem: { to: '/admin/upstreams' },
};

function Attention({ of: { attention, as_of: at, version } }: OfHealth) {
  const { admin } = useMessages();
  const { health } = admin;
  return (
    <Card
      title={health.attention}
      actions={
        <span className="muted small-text">
          <Time at={at} isClock /> · {version}
        </span>
      }
    >
      <div className="stack tight">
        {attention.length === 0 && <Notice tone="good">{health.allWell}</Notice>}
        {attention.map((each) => {
          const place = PLACES[each.code];
          const sentence = health.concerns[each.code](each);
          return (
            <Notice key={`${each.code} ${each.name}`} tone={each.tone}>
              {place ? <Link {...place}>{sentence}</Link> : sentence}
            </Notice>
          );
        })}
      </div>
    </Card>
  );
}

/** What stands in place of numbers that did not come in time. */
const NoAnswer = () => <Empty>{useMessages().admin.health.noAnswer}</Empty>;

function Sums({ of: { money } }: OfHealth) {
  const { admin, common } = useMessages();
  return (
    <Card title={admin.health.money}>
      {money ? (
        <Facts
          of={[
            [common.available, <Money key="available" amount={money.available} form="full" />],
            [common.held, <Money key="held" amount={money.held} form="full" />],
            [admin.used, <Money key="used" amount={money.used} form="full" />],
          ]}
        />
      ) : (
        <NoAnswer />
      )}
    </Card>
  );
}

function OpenTasks({ of: { open_tasks: rows } }: OfHealth) {
  const { admin, common } = useMessages();
  const columns: Column<NonNullable<typeof rows>[number]>[] = [
    {
      id: 'type',
      head: admin.health.medium,
      cell: ({ type, state }) => (
        <Link to="/admin/tasks" search={{ type: type === 'image' ? 'image' : 'video', state }}>
          {type}
        </Link>
      ),
    },
    { id: 'state', head: common.state, cell: ({ state }) => state },
    { id: 'count', head: admin.health.count, count: ({ count }) => count },
  ];
  return (
    <TableCard
      label={admin.health.openTasks}
      name="health.open"
      columns={columns}
      rows={rows ?? []}
      keyOf={({ type, state }) => `${type} ${state}`}
      empty={rows ? admin.health.noOpenTasks : admin.health.noAnswer}
    />
  );
}

function Queues({ of: { queues } }: OfHealth) {
  const { admin, common, shell } = useMessages();
  const { health } = admin;
  const columns: Column<AdminHealth['queues'][number]>[] = [
    { id: 'name', head: common.name, cell: ({ name }) => <a href={`/ops/queues/queue/${name}`}>{name}</a> },
    { id: 'state', head: common.state, cell: ({ state }) => <Status of={state} /> },
    { id: 'waiting', head: health.waiting, count: ({ waiting }) => waiting },
    { id: 'active', head: health.active, count: ({ active }) => active },
    { id: 'failed', head: common.failed, count: ({ failed }) => failed },
  ];
  return (
    <TableCard
      label={shell.pages.queues}
      name="health.queues"
      columns={columns}
      rows={queues}
      keyOf={({ name }) => name}
    />
  );
}

function Late({ of: { late } }: OfHealth) {
  const { common } = useMessages();
  const { health } = useMessages().admin;
  return (
    <Card title={health.late}>
      {late ? (
        <Facts
          of={[
            [health.polls, health.withAge(late.polls, late.oldest_poll)],
            [
              common.webhookDeliveries,
              <Link key="deliveries" to="/admin/deliveries" search={{ status: 'pending' }}>
                {health.withAge(late.deliveries, late.oldest_delivery)}
              </Link>,
            ],
          ]}
        />
      ) : (
        <NoAnswer />
      )}
    </Card>
  );
}

function Failures({ of: { failures: rows } }: OfHealth) {
  const { admin, common } = useMessages();
  const columns: Column<NonNullable<typeof rows>[number]>[] = [
    {
      id: 'model',
      head: common.model,
      cell: ({ model, error_code }) => (
        <Link to="/admin/tasks" search={{ model, error_code }}>
          {model}
        </Link>
      ),
    },
    { id: 'code', head: admin.tasks.errorCode, cell: ({ error_code: code }) => code },
    { id: 'count', head: admin.health.count, count: ({ count }) => count },
  ];
  return (
    <TableCard
      label={admin.health.failures}
      name="health.failures"
      columns={columns}
      rows={rows ?? []}
      keyOf={({ model, error_code: code }) => `${model} ${code}`}
      empty={rows ? admin.health.noFailures : admin.health.noAnswer}
    />
  );
}

function Unpriced({ of: { unpriced } }: OfHealth) {
  const { shell } = useMessages();
  const { health } = useMessages().admin;
  return (
    <Card title={health.unpriced} actions={<Link to="/admin/prices">{shell.pages.prices}</Link>}>
      {!unpriced && <NoAnswer />}
      {unpriced?.length === 0 && <Empty>{health.allPriced}</Empty>}
      {unpriced && unpriced.length > 0 && <p className="break">{unpriced.join(', ')}</p>}
    </Card>
  );
}

/** Tasks that need a human. Only lists that are not empty are shown. */
function NeedingAttention({ of: { parked, unconfirmed, orphans } }: { readonly of: TasksNeedingAttention }) {
  const { admin, common } = useMessages();
  const { health } = admin;
  const tasks: Column<TasksNeedingAttention['parked'][number]>[] = [
    { id: 'id', head: 'ID', cell: ({ id }) => <TaskLink id={id} /> },
    { id: 'model', head: common.model, cell: ({ model }) => model },
    { id: 'upstream', head: common.upstream, cell: ({ provider }) => provider },
    { id: 'failures', head: admin.tasks.failures, isNumber: true, cell: ({ failures }) => failures },
    {
      id: 'last',
      head: common.lastFailure,
      cell: ({ last_failure: last }) => last && <span className="break">{last}</span>,
    },
    { id: 'created', head: common.created, time: ({ created_at: at }) => at },
    { id: 'deadline', head: admin.tasks.deadline, time: ({ deadline_at: at }) => at },
  ];
  const jobs: Column<TasksNeedingAttention['orphans'][number]>[] = [
    { id: 'id', head: health.ofTask, cell: ({ task_id: id }) => <TaskLink id={id} /> },
    { id: 'upstream', head: common.upstream, cell: ({ provider }) => provider },
    { id: 'created', head: common.created, time: ({ created_at: at }) => at },
  ];
  const lists = [
    { title: health.parked, name: 'health.parked', rows: parked },
    { title: health.unconfirmed, name: 'health.unconfirmed', rows: unconfirmed },
  ];
  return (
    <div className="stack">
      {lists
        .filter(({ rows }) => rows.length > 0)
        .map(({ title, name, rows }) => (
          <TableCard key={name} label={title} name={name} columns={tasks} rows={rows.slice(0, ROWS_SHOWN)} isLinked />
        ))}
      {orphans.length > 0 && (
        <TableCard
          label={health.orphans}
          name="health.orphans"
          columns={jobs}
          rows={orphans.slice(0, ROWS_SHOWN)}
          keyOf={({ task_id: id, created_at: at }) => `${id} ${at}`}
          isLinked
        />
      )}
    </div>
  );
}

const TaskLink = ({ id }: { readonly id: string }) => (
  <Link to="/admin/tasks/$taskId" params={{ taskId: id }}>
    <ShortId of={id} />
  </Link>
);
