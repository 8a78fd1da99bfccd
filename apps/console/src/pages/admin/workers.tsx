import { getRouteApi } from '@tanstack/react-router';
import { useRead } from '../../api/queries';
import type { AdminWorker } from '../../api/types';
import { Check } from '../../components/fields';
import { useFilters } from '../../components/filters';
import { Page } from '../../components/page';
import { Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { ShortId } from '../../components/values';
import { useMessages } from '../../messages/language';

const route = getRouteApi('/shell/admin/workers');
const REFRESH_MS = 15_000;

export function WorkersPage() {
  const { admin, common, shell } = useMessages();
  const { workers: words } = admin;
  const search = route.useSearch();
  const filters = useFilters(search);
  const query = useRead('GET /admin/workers', { query: { all: search.all ?? 'false' } }, { refetchMs: REFRESH_MS });
  const columns: Column<AdminWorker>[] = [
    { id: 'role', head: common.role, cell: ({ role }) => role },
    { id: 'state', head: common.state, cell: ({ status }) => <Status of={status} /> },
    { id: 'heard', head: words.heartbeat, time: ({ last_heartbeat_at: at }) => at },
    { id: 'tasks', head: words.tasks, isNumber: true, cell: ({ tasks_in_hand: tasks }) => tasks },
    { id: 'most', head: words.atMost, isNumber: true, cell: ({ concurrency }) => concurrency },
    { id: 'version', head: words.version, cell: ({ version }) => version },
    { id: 'host', head: words.host, cell: ({ host, pid }) => <span className="break">{`${host}, ${pid}`}</span> },
    { id: 'since', head: words.since, time: ({ started_at: at }) => at },
    { id: 'id', head: 'ID', isHidden: true, cell: ({ id }) => <ShortId of={id} /> },
  ];
  return (
    <Page title={shell.pages.workers} lead={words.lead}>
      <Check {...filters.check('all')} label={words.all} />
      <Loaded query={query} height={320}>
        {({ items }) => (
          <section className="card">
            <Table label={shell.pages.workers} name="admin.workers" columns={columns} rows={items} empty={words.none} />
          </section>
        )}
      </Loaded>
    </Page>
  );
}
