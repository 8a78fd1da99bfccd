import { getRouteApi, Link } from '@tanstack/react-router';
import { useChange, useMay } from '../../api/queries';
import type { AdminDelivery } from '../../api/types';
import { Button } from '../../components/button';
import { Choice, TextField } from '../../components/fields';
import { Filters, useFilters } from '../../components/filters';
import { ListCard } from '../../components/list';
import { Notice, Page } from '../../components/page';
import { Failure } from '../../components/states';
import { Status } from '../../components/status';
import type { Column } from '../../components/table';
import { ShortId } from '../../components/values';
import { useMessages } from '../../messages/language';

const route = getRouteApi('/shell/admin/deliveries');
const STATUSES = ['pending', 'delivered', 'failed'] as const;

/** What a table shows of a delivery, on this page and on that of a task; a resend where the person may. */
export function useDeliveryColumns(): {
  readonly columns: Column<Omit<AdminDelivery, 'account_id' | 'task_id'>>[];
  readonly resend: ReturnType<typeof useResend>;
} {
  const { common, webhooks } = useMessages();
  const mayWrite = useMay('admin:write');
  const resend = useResend();
  const columns: Column<Omit<AdminDelivery, 'account_id' | 'task_id'>>[] = [
    { id: 'id', head: 'ID', cell: ({ id }) => <ShortId of={id} /> },
    { id: 'state', head: common.state, cell: ({ status }) => <Status of={status} /> },
    { id: 'event', head: webhooks.event, cell: ({ event_type: type }) => type },
    { id: 'url', head: common.address, cell: ({ url }) => <span className="break">{url}</span> },
    { id: 'attempts', head: webhooks.attempts, isNumber: true, isHidden: true, cell: ({ attempts }) => attempts },
    {
      id: 'last',
      head: webhooks.lastAnswer,
      cell: ({ last_status: status, last_error: error }) =>
        (status ?? error) === null ? null : (
          <span className="break">{[status, error].filter((part) => part !== null).join(' ')}</span>
        ),
    },
    { id: 'created', head: common.created, time: ({ created_at: at }) => at },
    { id: 'next', head: webhooks.next, isHidden: true, time: ({ next_attempt_at: at }) => at },
  ];
  if (mayWrite)
    columns.push({
      id: 'actions',
      head: common.actions,
      isActions: true,
      cell: ({ id }) => (
        <Button
          look="small"
          label={webhooks.resend}
          disabled={resend.isPending}
          onClick={() => resend.mutate({ params: { delivery_id: id }, body: {} })}
        />
      ),
    });
  return { columns, resend };
}

const useResend = () =>
  useChange('POST /admin/deliveries/:delivery_id/resend', ['GET /admin/deliveries', 'GET /admin/tasks/:task_id']);

export function Resent({ of: resend }: { readonly of: ReturnType<typeof useResend> }) {
  const { webhooks } = useMessages();
  if (resend.error) return <Failure of={resend.error} />;
  return resend.data ? <Notice tone="good">{webhooks.resent}</Notice> : null;
}

export function DeliveriesPage() {
  const { admin, common, shell, status, webhooks } = useMessages();
  const search = route.useSearch();
  const filters = useFilters(search);
  const { columns, resend } = useDeliveryColumns();
  const all: Column<AdminDelivery>[] = [
    ...columns.slice(0, 3),
    {
      id: 'task',
      head: common.task,
      cell: ({ task_id: id }) =>
        id && (
          <Link to="/admin/tasks/$taskId" params={{ taskId: id }}>
            <ShortId of={id} />
          </Link>
        ),
    },
    { id: 'account', head: common.account, isHidden: true, cell: ({ account_id: id }) => <ShortId of={id} /> },
    ...columns.slice(3),
  ];
  return (
    <Page title={shell.pages.deliveries}>
      <Filters>
        <Choice
          {...filters.choice('status')}
          label={common.state}
          choices={STATUSES.map((each) => [each, status[each]])}
        />
        {(['task_id', 'account_id', 'endpoint_id'] as const).map((name) => (
          <TextField key={name} {...filters.text(name)} label={admin.deliveries.filters[name]} />
        ))}
      </Filters>
      <Resent of={resend} />
      <ListCard
        route="GET /admin/deliveries"
        input={{ query: search }}
        label={shell.pages.deliveries}
        name="admin.deliveries"
        columns={all}
        empty={webhooks.noDeliveries}
      />
    </Page>
  );
}
