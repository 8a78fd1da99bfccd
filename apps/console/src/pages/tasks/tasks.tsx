import { getRouteApi, Link } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useState } from 'react';
import { useLiveTasks } from '../../api/live-tasks';
import { useMay, useRead } from '../../api/queries';
import type { ConsoleTask } from '../../api/types';
import { CodeBlock } from '../../components/code-block';
import { Dialog } from '../../components/dialog';
import { Choice, TextField } from '../../components/fields';
import { Filters, useFilters } from '../../components/filters';
import { Icon } from '../../components/icons';
import { ListCard } from '../../components/list';
import { Notice, Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { useMessages } from '../../messages/language';
import { readStored, writeStored } from '../../preferences/stored';
import { Compare } from './compare';
import { Gallery } from './gallery';
import { TaskDetails } from './task-details';

const route = getRouteApi('/shell/tasks');
const STATUSES = ['submitted', 'in_progress', 'completed', 'failed', 'cancelled'] as const;

export function TasksPage() {
  const { tasks, shell } = useMessages();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const view = search.view ?? (readStored('tasks.view') === 'table' ? 'table' : 'gallery');
  const close = () => void navigate({ search: ({ task: _task, ...rest }) => rest });
  return (
    <Page title={shell.pages.tasks} actions={<ViewSwitch view={view} />}>
      <TaskFilters />
      {search.compare !== undefined && search.task === undefined && <Notice tone="info">{tasks.comparing}</Notice>}
      <TaskList view={view} />
      {search.task !== undefined &&
        (search.compare !== undefined && search.compare !== search.task ? (
          <Compare
            ids={[search.compare, search.task]}
            onClose={() => void navigate({ search: ({ task: _task, compare: _compare, ...rest }) => rest })}
          />
        ) : (
          <TaskDrawer id={search.task} onClose={close} />
        ))}
    </Page>
  );
}

function ViewSwitch({ view }: { readonly view: 'gallery' | 'table' }) {
  const { tasks } = useMessages();
  const navigate = route.useNavigate();
  const choose = (chosen: 'gallery' | 'table') => {
    writeStored('tasks.view', chosen);
    void navigate({ search: (before) => ({ ...before, view: chosen }), replace: true });
  };
  return (
    <div className="row" role="group" aria-label={tasks.view}>
      {(['gallery', 'table'] as const).map((each) => (
        <button
          key={each}
          type="button"
          className={view === each ? 'button chosen' : 'button'}
          aria-pressed={view === each}
          onClick={() => choose(each)}
        >
          <Icon name={each === 'gallery' ? 'grid' : 'list'} />
          {tasks[each]}
        </button>
      ))}
    </div>
  );
}

function TaskFilters() {
  const { tasks, common, status } = useMessages();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState(search.text ?? '');
  const settled = useDeferredValue(text);
  useEffect(() => {
    if (settled === (search.text ?? '')) return;
    const timer = setTimeout(
      () => void navigate({ search: (before) => ({ ...before, text: settled || undefined }), replace: true }),
      250,
    );
    return () => clearTimeout(timer);
  }, [settled, search.text, navigate]);
  const filters = useFilters(search);
  return (
    <Filters>
      <TextField label={tasks.text} type="search" value={text} onType={setText} />
      <Choice
        {...filters.choice('status')}
        label={common.state}
        choices={STATUSES.map((each) => [each, status[each]])}
      />
      <Choice
        {...filters.choice('type')}
        label={common.kind}
        choices={(['video', 'image'] as const).map((each) => [each, tasks.types[each]])}
      />
      <ModelFilter {...filters.choice('model')} />
      <TextField {...filters.text('from')} label={common.from} type="date" />
      <TextField {...filters.text('to')} label={common.to('UTC')} type="date" />
    </Filters>
  );
}

function ModelFilter({ value, ...filter }: ReturnType<ReturnType<typeof useFilters>['choice']>) {
  const { common } = useMessages();
  // The catalogue is loaded only when the user is about to choose.
  const [isWanted, setWanted] = useState(false);
  const models = useRead('GET /models', {}, { enabled: isWanted });
  const ids = (models.data?.items ?? []).filter(({ kind }) => kind === 'video' || kind === 'image').map(({ id }) => id);
  return (
    <Choice
      {...filter}
      label={common.model}
      value={value}
      onFocus={() => setWanted(true)}
      onPointerEnter={() => setWanted(true)}
      choices={[...new Set([...(value === '' ? [] : [value]), ...ids])].map((id) => [id, id])}
    />
  );
}

function TaskList({ view }: { readonly view: 'gallery' | 'table' }) {
  const { shell } = useMessages();
  const { status, type, model, key, from, to, text } = route.useSearch();
  const filter = {
    ...(status && { status }),
    ...(type && { type }),
    ...(model && { model }),
    ...(key && { key_id: key }),
    ...(from && { from }),
    ...(to && { to }),
    ...(text && { text }),
  };
  const columns = useColumns();
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <ListCard
      route="GET /tasks"
      input={{ query: { limit: 48, ...filter } }}
      label={shell.pages.tasks}
      name="tasks"
      columns={columns}
      empty={isFiltered ? <NothingFits /> : <NoTasks />}
      isLinked
    >
      {(items) => <LiveItems items={items} view={view} columns={columns} />}
    </ListCard>
  );
}

interface LiveItemsProps {
  readonly items: readonly ConsoleTask[];
  readonly view: 'gallery' | 'table';
  readonly columns: Column<ConsoleTask>[];
}

function LiveItems({ items, view, columns }: LiveItemsProps) {
  const { shell } = useMessages();
  useLiveTasks(items);
  if (view === 'gallery') return <Gallery items={items} label={shell.pages.tasks} />;
  return <Table label={shell.pages.tasks} name="tasks" columns={columns} rows={items} isLinked />;
}

function useColumns(): Column<ConsoleTask>[] {
  const { tasks, common } = useMessages();
  return [
    {
      id: 'prompt',
      head: tasks.prompt,
      cell: (task) => (
        <Link
          className="clipped"
          to="/tasks"
          search={(before) => ({ ...before, task: task.id })}
          title={task.prompt ?? ''}
        >
          {task.prompt ?? tasks.noPrompt}
        </Link>
      ),
    },
    { id: 'state', head: common.state, cell: ({ status }) => <Status of={status} /> },
    { id: 'model', head: common.model, cell: ({ model }) => model },
    { id: 'key', head: common.key, cell: ({ key }) => key.name, isHidden: true },
    { id: 'amount', head: common.amount, money: ({ amount }) => amount },
    { id: 'created', head: common.created, time: ({ created_at: at }) => at },
  ];
}

function NothingFits() {
  const { common } = useMessages();
  return (
    <Empty
      action={
        <Link className="button" to="/tasks" search={{}}>
          {common.clearFilter}
        </Link>
      }
    >
      {common.nothingFits}
    </Empty>
  );
}

function NoTasks() {
  const { tasks } = useMessages();
  const mayRun = useMay('tasks:run');
  const body =
    '{"model":"beta-2.5-preview","prompt":"waves against a lighthouse","resolution":"480p","size":"16:9","duration":5}';
  return (
    <Empty
      action={
        <>
          {mayRun && (
            <Link className="button primary" to="/playground" search={{}}>
              {tasks.makeOne}
            </Link>
          )}
          <CodeBlock
            name="curl"
            code={`curl -s ${location.origin}/v1/videos/generations -H "Authorization: Bearer $GATEWAY_API_KEY" \\\n  -H "Content-Type: application/json" -d '${body}'`}
          />
        </>
      }
    >
      {tasks.empty}
    </Empty>
  );
}

function TaskDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { tasks, shell } = useMessages();
  const task = useRead('GET /tasks/:task_id', { params: { task_id: id } });
  return (
    <Dialog kind="drawer" title={task.data?.model ?? shell.pages.tasks} onClose={onClose}>
      <div className="stack tight">
        <p>
          <Link to="/tasks/$taskId" params={{ taskId: id }}>
            {tasks.open} →
          </Link>
        </p>
        <Loaded query={task} height={640}>
          {(data) => <TaskDetails task={data} />}
        </Loaded>
      </div>
    </Dialog>
  );
}
