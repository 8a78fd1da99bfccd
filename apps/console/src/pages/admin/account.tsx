import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRead } from '../../api/queries';
import type { AdminAccount, AdminAccountDetails, ConsoleEntry, ConsoleKey } from '../../api/types';
import { Button } from '../../components/button';
import { ListCard } from '../../components/list';
import { Card, Facts, Page } from '../../components/page';
import { Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { Id, Money, Time } from '../../components/values';
import { shortId } from '../../format/number';
import { useMessages } from '../../messages/language';
import { Change, useKindName } from '../billing/entry-parts';
import { AssignDialog } from '../prices/assign-dialog';
import { EditAccountDialog, FundingDialog } from './account-dialogs';
import { TagLimits } from './tag-limits';

const route = getRouteApi('/shell/admin/accounts/$accountId');

export function AdminAccountPage() {
  const { shell } = useMessages();
  const { accountId } = route.useParams();
  const mayRead = useMay('admin:accounts');
  const query = useRead('GET /admin/accounts/:account_id', { params: { account_id: accountId } });
  return (
    <Page title={query.data?.name ?? shell.pages.accounts} actions={query.data && <Actions of={query.data} />}>
      <Loaded query={query} height={360}>
        {(data) => <AccountFacts of={data} />}
      </Loaded>
      {query.data && <AccountPrices of={query.data} />}
      {mayRead && query.data && <TagLimits accountId={accountId} timeZone={query.data.time_zone ?? 'UTC'} />}
      {mayRead && <Keys accountId={accountId} />}
      {mayRead && <Entries accountId={accountId} />}
    </Page>
  );
}

function Actions({ of: account }: { readonly of: AdminAccount }) {
  const { admin, shell, common } = useMessages();
  const [doing, setDoing] = useState<'top-ups' | 'adjustments' | 'edit' | null>(null);
  const close = () => setDoing(null);
  if (!useMay('admin:write')) return null;
  return (
    <>
      <Button look="primary" label={admin.topUp} onClick={() => setDoing('top-ups')} />
      <Button label={admin.adjust} onClick={() => setDoing('adjustments')} />
      <Button label={common.edit} onClick={() => setDoing('edit')} />
      <Link className="button" to="/admin/accounts/$accountId/prompt-log" params={{ accountId: account.id }}>
        {shell.pages.promptLog}
      </Link>
      {doing === 'edit' && <EditAccountDialog of={account} onClose={close} />}
      {(doing === 'top-ups' || doing === 'adjustments') && <FundingDialog of={account} kind={doing} onClose={close} />}
    </>
  );
}

/** Which price list it has, and the way to another. */
function AccountPrices({ of: account }: { readonly of: AdminAccountDetails }) {
  const { selling, common } = useMessages();
  const { lists: words } = selling;
  const [isChanging, setChanging] = useState(false);
  const mayWrite = useMay('admin:write');
  const list = account.price_list;
  return (
    <Card
      title={common.priceList}
      actions={
        mayWrite && (
          <Button
            look="small"
            label={common.change}
            aria-label={`${common.change}: ${common.priceList}`}
            onClick={() => setChanging(true)}
          />
        )
      }
    >
      {list ? (
        <Link to="/admin/prices/lists/$listId" params={{ listId: list.id }}>
          {list.name}
        </Link>
      ) : (
        words.book
      )}
      {isChanging && (
        <AssignDialog account={account} onClose={() => setChanging(false)} {...(list && { list: list.id })} />
      )}
    </Card>
  );
}

function AccountFacts({ of: account }: { readonly of: AdminAccount }) {
  const { admin, common, keys } = useMessages();
  const limit = (value: number | null) => value ?? common.unlimited;
  const amount = (value: string | null) => (value === null ? common.unlimited : <Money amount={value} form="full" />);
  return (
    <Card title={common.details}>
      <Facts
        of={[
          [common.state, <Status key="state" of={account.disabled_at === null ? 'active' : 'disabled'} />],
          ['ID', <Id key="id" id={account.id} name={common.id} whole />],
          [
            common.available,
            account.unlimited ? common.unlimited : <Money key="available" amount={account.available} form="full" />,
          ],
          [common.held, <Money key="held" amount={account.held} form="full" />],
          [admin.used, <Money key="used" amount={account.used} form="full" />],
          [common.owed, <Money key="owed" amount={account.owed} form="full" />],
          [admin.priority, account.priority],
          [keys.dailyLimit, amount(account.daily_limit)],
          [keys.monthlyLimit, amount(account.monthly_limit)],
          [admin.timeZone, account.time_zone ?? 'UTC'],
          [keys.requestsPerMinute, limit(account.requests_per_minute)],
          [keys.tokensPerMinute, limit(account.tokens_per_minute)],
          [keys.maxRunningTasks, limit(account.max_running_tasks)],
          [common.created, <Time key="created" at={account.created_at} absolute />],
        ]}
      />
    </Card>
  );
}

function Keys({ accountId }: { readonly accountId: string }) {
  const { admin, keys, common, shell } = useMessages();
  const query = useRead('GET /admin/accounts/:account_id/keys', { params: { account_id: accountId } });
  const columns: Column<ConsoleKey>[] = [
    { id: 'name', head: common.name, cell: (key) => (key.kind === 'console' ? shell.pages.playground : key.name) },
    { id: 'state', head: common.state, cell: ({ state }) => <Status of={state} /> },
    { id: 'prefix', head: keys.prefix, cell: ({ prefix }) => <code>{prefix}…</code> },
    { id: 'used', head: keys.used, money: ({ used }) => used },
    {
      id: 'last',
      head: keys.lastUsed,
      cell: ({ last_used_at: at }) => (at === null ? common.never : <Time at={at} />),
    },
  ];
  return (
    <Card title={shell.pages.keys} isFlush>
      <Loaded query={query} height={120}>
        {({ items }) => (
          <Table label={shell.pages.keys} name="admin.keys" columns={columns} rows={items} empty={admin.noKeys} />
        )}
      </Loaded>
    </Card>
  );
}

function Entries({ accountId }: { readonly accountId: string }) {
  const { admin, money, common } = useMessages();
  const kindName = useKindName();
  const columns: Column<ConsoleEntry>[] = [
    { id: 'kind', head: money.billing.kind, cell: ({ kind }) => kindName(kind) },
    {
      id: 'for',
      head: money.billing.belongsTo,
      cell: (entry) =>
        entry.task_id === null ? (
          (entry.usage?.model ?? entry.reference)
        ) : (
          <Link to="/admin/tasks/$taskId" params={{ taskId: entry.task_id }}>
            {entry.usage?.model ?? shortId(entry.task_id)}
          </Link>
        ),
    },
    { id: 'time', head: common.time, time: ({ time }) => time },
    { id: 'change', head: money.billing.change, isNumber: true, cell: (entry) => <Change of={entry} /> },
  ];
  return (
    <ListCard
      route="GET /admin/accounts/:account_id/entries"
      input={{ params: { account_id: accountId } }}
      label={common.ledger}
      name="admin.entries"
      columns={columns}
      head={<h2>{common.ledger}</h2>}
      empty={admin.noEntries}
    />
  );
}
