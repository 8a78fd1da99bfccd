import { useChange, useRead } from '../../api/queries';
import { FormDialog } from '../../components/confirm-dialog';
import { beginning, Choice, TextField, textOrNull, useInputs } from '../../components/fields';
import { useMessages } from '../../messages/language';

const ACCOUNTS_OFFERED = 100;

interface AssignDialogProps {
  /** Absent: to be chosen. */
  readonly account?: { readonly id: string; readonly name: string };
  readonly list?: string;
  readonly onClose: () => void;
}

/** Gives an account a price list, or the book, from now or from a moment on. */
export function AssignDialog({ account, list, onClose }: AssignDialogProps) {
  const { selling, admin, common } = useMessages();
  const { lists: words } = selling;
  const assign = useChange('POST /admin/accounts/:account_id/price-list', [
    'GET /admin/price-lists',
    'GET /admin/price-lists/:list_id',
    'GET /admin/accounts/:account_id',
    'GET /admin/audit',
  ]);
  const form = useInputs(
    { account_id: account?.id ?? '', search: '', list: list ?? '', effective_from: '' },
    assign.error,
  );
  const { account_id: accountId, search, list: chosen, effective_from: from } = form.values;
  const lists = useRead('GET /admin/price-lists', {});
  const accounts = useRead(
    'GET /admin/accounts',
    { query: { limit: ACCOUNTS_OFFERED, name: search.trim() || undefined } },
    { enabled: account === undefined },
  );
  return (
    <FormDialog
      title={account ? words.changeOf(account.name) : words.assign}
      submit={words.assign}
      isReady={accountId !== ''}
      change={assign}
      onClose={onClose}
      send={{ params: { account_id: accountId }, body: { list: textOrNull(chosen), ...beginning(from) } }}
    >
      {!account && (
        <>
          <TextField
            label={words.accountSearch}
            type="search"
            value={search}
            // The one that was chosen may not be among those that are found now.
            onType={(value) => form.set({ search: value, account_id: '' })}
          />
          <Choice
            {...form.choice('account_id')}
            label={common.account}
            none=""
            choices={(accounts.data?.items ?? []).map(({ id, name }) => [id, name])}
          />
        </>
      )}
      <Choice
        {...form.choice('list')}
        label={common.priceList}
        none={words.book}
        choices={(lists.data?.items ?? []).map(({ id, name }) => [id, name])}
      />
      <TextField
        {...form.text('effective_from')}
        label={admin.prices.from}
        hint={words.assignHint}
        type="datetime-local"
      />
    </FormDialog>
  );
}
