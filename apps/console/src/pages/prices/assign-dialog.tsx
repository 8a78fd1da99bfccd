import { useState } from 'react';
import { ApiError } from '../../api/api-error';
import { useChange, useRead } from '../../api/queries';
import { FormDialog } from '../../components/confirm-dialog';
import { Choice, TextField } from '../../components/fields';
import { useMessages } from '../../messages/language';

const ACCOUNTS_OFFERED = 100;

/** Gives an account a price list, or the book, from now or from a moment on. */
export function AssignDialog({
  account,
  list,
  onClose,
}: {
  /** Absent: to be chosen. */
  readonly account?: { readonly id: string; readonly name: string };
  readonly list?: string;
  readonly onClose: () => void;
}) {
  const { selling, admin } = useMessages();
  const { lists: words } = selling;
  const [accountId, setAccountId] = useState(account?.id ?? '');
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState(list ?? '');
  const [from, setFrom] = useState('');
  const lists = useRead('GET /admin/price-lists', {});
  const accounts = useRead(
    'GET /admin/accounts',
    { query: { limit: ACCOUNTS_OFFERED, name: search.trim() || undefined } },
    { enabled: account === undefined },
  );
  const assign = useChange('POST /admin/accounts/:account_id/price-list', [
    'GET /admin/price-lists',
    'GET /admin/price-lists/:list_id',
    'GET /admin/accounts/:account_id',
    'GET /admin/audit',
  ]);
  const about = (field: string) => (assign.error instanceof ApiError ? assign.error.about(field) : undefined);
  return (
    <FormDialog
      title={account ? words.changeOf(account.name) : words.assign}
      submit={words.assign}
      isReady={accountId !== ''}
      change={assign}
      onClose={onClose}
      onSubmit={() =>
        assign.mutate(
          {
            params: { account_id: accountId },
            body: {
              list: chosen === '' ? null : chosen,
              ...(from !== '' && { effective_from: new Date(from).toISOString() }),
            },
          },
          { onSuccess: onClose },
        )
      }
    >
      {!account && (
        <>
          <TextField
            label={words.accountSearch}
            type="search"
            value={search}
            onType={(value) => {
              setSearch(value);
              // The one that was chosen may not be among those that are found now.
              setAccountId('');
            }}
          />
          <Choice
            label={words.account}
            error={about('account_id')}
            value={accountId}
            onChoose={setAccountId}
            none=""
            choices={(accounts.data?.items ?? []).map(({ id, name }) => [id, name])}
          />
        </>
      )}
      <Choice
        label={words.list}
        error={about('list')}
        value={chosen}
        onChoose={setChosen}
        none={words.book}
        choices={(lists.data?.items ?? []).map(({ id, name }) => [id, name])}
      />
      <TextField
        label={admin.prices.from}
        hint={words.assignHint}
        error={about('effective_from')}
        type="datetime-local"
        value={from}
        onType={setFrom}
      />
    </FormDialog>
  );
}
