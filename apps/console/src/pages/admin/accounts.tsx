import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange, useMay } from '../../api/queries';
import type { AdminAccount } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { TextField } from '../../components/fields';
import { ListCard } from '../../components/list';
import { Page } from '../../components/page';
import { Empty } from '../../components/states';
import { Status } from '../../components/status';
import type { Column } from '../../components/table';
import { Money, Time } from '../../components/values';
import { useMessages } from '../../messages/language';

const route = getRouteApi('/shell/admin/accounts');

export function AccountsPage() {
  const { admin, common } = useMessages();
  const { name } = route.useSearch();
  const navigate = route.useNavigate();
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
      head: admin.available,
      isNumber: true,
      cell: (account) => (account.unlimited ? common.unlimited : <Money amount={account.available} form="full" />),
    },
    { id: 'held', head: admin.held, isNumber: true, cell: ({ held }) => <Money amount={held} form="full" /> },
    { id: 'used', head: admin.used, isNumber: true, cell: ({ used }) => <Money amount={used} form="full" /> },
    {
      id: 'owed',
      head: admin.owed,
      isNumber: true,
      isHidden: true,
      cell: ({ owed }) => <Money amount={owed} form="full" />,
    },
    { id: 'created', head: common.created, cell: ({ created_at: at }) => <Time at={at} /> },
  ];
  return (
    <Page
      title={admin.accounts}
      actions={
        mayWrite && <Button look="primary" icon="plus" label={admin.createAccount} onClick={() => setCreating(true)} />
      }
    >
      <form className="filters" role="search" aria-label={common.filter} onSubmit={(event) => event.preventDefault()}>
        <TextField
          label={common.name}
          type="search"
          value={name ?? ''}
          onChange={(event) =>
            void navigate({ search: event.target.value === '' ? {} : { name: event.target.value }, replace: true })
          }
        />
      </form>
      <ListCard
        route="GET /admin/accounts"
        input={{ query: name === undefined ? {} : { name } }}
        label={admin.accounts}
        name="accounts"
        columns={columns}
        keyOf={({ id }) => id}
        isLinked
        empty={<Empty>{admin.noAccounts}</Empty>}
      />
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}

function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const { admin, common } = useMessages();
  const [name, setName] = useState('');
  const create = useChange('POST /admin/accounts', ['GET /admin/accounts', 'GET /admin/overview']);
  return (
    <FormDialog
      title={admin.createAccount}
      submit={common.create}
      isReady={name.trim() !== ''}
      change={create}
      onClose={onClose}
      onSubmit={() => create.mutate({ body: { name: name.trim() } }, { onSuccess: onClose })}
    >
      <TextField label={common.name} autoFocus value={name} onType={setName} />
    </FormDialog>
  );
}
