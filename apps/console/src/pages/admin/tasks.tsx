import { getRouteApi, Link } from '@tanstack/react-router';
import type { AdminTask } from '../../api/types';
import { Choice, TextField } from '../../components/fields';
import { Filters, useFilters } from '../../components/filters';
import { ListCard } from '../../components/list';
import { Page } from '../../components/page';
import { Status } from '../../components/status';
import type { Column } from '../../components/table';
import { ShortId } from '../../components/values';
import { useMessages } from '../../messages/language';

const route = getRouteApi('/shell/admin/tasks');
const MEDIA = ['video', 'image'] as const;
const STATUSES = ['submitted', 'in_progress', 'completed', 'failed', 'cancelled'] as const;

export function AdminTasksPage() {
  const { admin, common, shell } = useMessages();
  const search = route.useSearch();
  const columns: Column<AdminTask>[] = [
    {
      id: 'id',
      head: 'ID',
      cell: ({ id }) => (
        <Link to="/admin/tasks/$taskId" params={{ taskId: id }}>
          <ShortId of={id} />
        </Link>
      ),
    },
    { id: 'state', head: common.state, cell: ({ status }) => <Status of={status} /> },
    { id: 'model', head: common.model, cell: ({ model }) => model },
    { id: 'account', head: common.account, cell: (task) => <ShortId of={task.account_id} /> },
    { id: 'vendor', head: common.upstream, cell: ({ provider }) => provider },
    { id: 'error', head: admin.tasks.errorCode, cell: (task) => task.error_code },
    { id: 'attempt', head: admin.tasks.attempt, isNumber: true, isHidden: true, cell: ({ attempt }) => attempt },
    { id: 'charged', head: common.amount, money: ({ charged, hold }) => charged ?? hold },
    { id: 'created', head: common.created, time: ({ created_at: at }) => at },
  ];
  return (
    <Page title={shell.pages.adminTasks}>
      <TaskFilters />
      <ListCard
        route="GET /admin/tasks"
        input={{ query: search }}
        label={shell.pages.adminTasks}
        name="admin.tasks"
        columns={columns}
        isLinked
        empty={admin.tasks.none}
      />
    </Page>
  );
}

function TaskFilters() {
  const { admin, common, status, tasks } = useMessages();
  const fields = [
    ['task_id', common.task],
    ['request_id', common.requestId],
    ['account_id', common.account],
    ['api_key_id', admin.tasks.keyId],
    ['vendor_id', admin.tasks.vendorId],
    ['vendor_request_id', admin.tasks.vendorRequestId],
    ['model', common.model],
    ['error_code', admin.tasks.errorCode],
  ] as const;
  const search = route.useSearch();
  const filters = useFilters(search);
  return (
    <Filters>
      <Choice
        {...filters.choice('status')}
        label={common.state}
        choices={STATUSES.map((each) => [each, status[each]])}
      />
      <Choice
        {...filters.choice('type')}
        label={common.kind}
        choices={MEDIA.map((each) => [each, tasks.types[each]])}
      />
      {fields.map(([name, label]) => (
        <TextField key={name} {...filters.text(name)} label={label} />
      ))}
      {(['created_from', 'created_to'] as const).map((name) => (
        <TextField
          key={name}
          label={name === 'created_from' ? admin.tasks.submittedFrom : admin.tasks.submittedTo}
          type="datetime-local"
          value={search[name]?.replace(/Z$/, '') ?? ''}
          // The fields of browsers name no zone.
          onType={(value) => filters.set(name, value && `${value}Z`)}
        />
      ))}
    </Filters>
  );
}
