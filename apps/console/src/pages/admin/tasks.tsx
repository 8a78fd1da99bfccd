import { getRouteApi, Link } from '@tanstack/react-router';
import type { AdminTask } from '../../api/types';
import { Select, TextField } from '../../components/fields';
import { ListCard } from '../../components/list';
import { Page } from '../../components/page';
import { Empty } from '../../components/states';
import { Status } from '../../components/status';
import type { Column } from '../../components/table';
import { Money, None, ShortId, Time } from '../../components/values';
import { useMessages } from '../../messages/language';

const route = getRouteApi('/shell/admin/tasks');
const STATUSES = ['submitted', 'in_progress', 'completed', 'failed', 'cancelled'] as const;

export function AdminTasksPage() {
  const { admin, common } = useMessages();
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
    { id: 'account', head: admin.tasks.account, cell: (task) => <ShortId of={task.account_id} /> },
    { id: 'vendor', head: admin.tasks.vendor, cell: ({ provider }) => provider ?? <None /> },
    { id: 'error', head: admin.tasks.errorCode, cell: (task) => task.error_code ?? <None /> },
    { id: 'attempt', head: admin.tasks.attempt, isNumber: true, isHidden: true, cell: ({ attempt }) => attempt },
    {
      id: 'charged',
      head: common.amount,
      isNumber: true,
      cell: ({ charged, hold }) => <Money amount={charged ?? hold} form="full" />,
    },
    { id: 'created', head: common.created, cell: ({ created_at: at }) => <Time at={at} /> },
  ];
  return (
    <Page title={admin.tasks.title}>
      <Filters />
      <ListCard
        route="GET /admin/tasks"
        input={{ query: search }}
        label={admin.tasks.title}
        name="admin.tasks"
        columns={columns}
        keyOf={({ id }) => id}
        isLinked
        empty={<Empty>{admin.tasks.none}</Empty>}
      />
    </Page>
  );
}

function Filters() {
  const { admin, common, status } = useMessages();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: keyof typeof search, value: string) =>
    void navigate({ search: (before) => ({ ...before, [name]: value === '' ? undefined : value }), replace: true });
  return (
    <form className="filters" role="search" aria-label={common.filter} onSubmit={(event) => event.preventDefault()}>
      <Select label={common.state} value={search.status ?? ''} onChange={(event) => set('status', event.target.value)}>
        <option value="">{common.any}</option>
        {STATUSES.map((each) => (
          <option key={each} value={each}>
            {status[each]}
          </option>
        ))}
      </Select>
      <TextField
        label={common.model}
        type="search"
        value={search.model ?? ''}
        onChange={(event) => set('model', event.target.value)}
      />
      <TextField
        label={admin.tasks.account}
        type="search"
        value={search.account_id ?? ''}
        onChange={(event) => set('account_id', event.target.value)}
      />
      <TextField
        label={admin.tasks.errorCode}
        type="search"
        value={search.error_code ?? ''}
        onChange={(event) => set('error_code', event.target.value)}
      />
    </form>
  );
}
