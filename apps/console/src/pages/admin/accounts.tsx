import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange, useMay } from '../../api/queries';
import type { AdminAccount } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { TextField, useInputs } from '../../components/fields';
import { Filters, useFilters } from '../../components/filters';
import { ListCard } from '../../components/list';
import { Page } from '../../components/page';
import { Status } from '../../components/status';
import type { Column } from '../../components/table';
import { Money } from '../../components/values';
import { useMessages } from '../../messages/language';

const route = getRouteApi('/shell/admin/accounts');

export function AccountsPage() {
  const { admin, common, shell } = useMessages();
  const search = route.useSearch();
  const filters = useFilters(search);
  const mayWrite = useMay('admin:write');
  const [isCreating, setCreating] = useState(false);
  const columns: Column<AdminAccount>[] = [
    {
      id: 'name',
      head: common.name,
      cell: (account) => (
        <Link to="/admin/accounts/$accountId" params={{ accountId: account.id }}>
          {account.name}
        </Link>
      ),
    },
    {
      id: 'state',
      head: common.state,
      cell: ({ disabled_at: at }) => <Status of={at === null ? 'active' : 'disabled'} />,
    },
    {
      id: 'available',
      head: common.available,
      isNumber: true,
      cell: (account) => (account.unlimited ? common.unlimited : <Money amount={account.available} form="full" />),
    },
    { id: 'held', head: common.held, money: ({ held }) => held },
    { id: 'used', head: admin.used, money: ({ used }) => used },
    { id: 'owed', head: common.owed, isHidden: true, money: ({ owed }) => owed },
    { id: 'created', head: common.created, time: ({ created_at: at }) => at },
  ];
  return (
    <Page
      title={shell.pages.accounts}
      actions={
        mayWrite && <Button look="primary" icon="plus" label={admin.createAccount} onClick={() => setCreating(true)} />
      }
    >
      <Filters>
        <TextField {...filters.text('name')} label={common.name} />
      </Filters>
      <ListCard
        route="GET /admin/accounts"
        input={{ query: search }}
        label={shell.pages.accounts}
        name="accounts"
        columns={columns}
        isLinked
        empty={admin.noAccounts}
      />
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}

function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const { admin, common } = useMessages();
  const create = useChange('POST /admin/accounts', ['GET /admin/accounts', 'GET /admin/overview']);
  const form = useInputs({ name: '' }, create.error);
  const name = form.values.name.trim();
  return (
    <FormDialog
      title={admin.createAccount}
      submit={common.create}
      isReady={name !== ''}
      change={create}
      onClose={onClose}
      send={{ body: { name } }}
    >
      <TextField {...form.text('name')} label={common.name} autoFocus />
    </FormDialog>
  );
}
