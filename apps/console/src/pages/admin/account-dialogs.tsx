import { useState } from 'react';
import type { ReadRoute } from '../../api/call';
import { changesOf } from '../../api/changes';
import { useChange } from '../../api/queries';
import type { AdminAccount } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { Dialog } from '../../components/dialog';
import { Check, numberOrNull, TextField, textOrNull, typed, useInputs } from '../../components/fields';
import { Notice } from '../../components/page';
import { Money } from '../../components/values';
import { useMessages } from '../../messages/language';

const TOUCHED: readonly ReadRoute[] = [
  'GET /admin/accounts',
  'GET /admin/accounts/:account_id',
  'GET /admin/accounts/:account_id/entries',
  'GET /admin/audit',
];

interface OfAccount {
  readonly of: AdminAccount;
  readonly onClose: () => void;
}

/** Money in, or a correction; a reference makes a second click the same booking. */
export function FundingDialog({
  of: account,
  kind,
  onClose,
}: OfAccount & { readonly kind: 'top-ups' | 'adjustments' }) {
  const { admin, common } = useMessages();
  const book = useChange(`POST /admin/accounts/:account_id/${kind}`, TOUCHED);
  const form = useInputs({ amount: '', reference: '', note: '' }, book.error);
  const { note, ...booked } = form.values;
  const title = `${kind === 'top-ups' ? admin.topUp : admin.adjust}: ${account.name}`;
  if (book.data) {
    return (
      <Dialog title={title} onClose={onClose} footer={<Button look="primary" label={common.close} onClick={onClose} />}>
        <Notice tone={book.data.replayed ? 'warn' : 'good'}>
          {book.data.replayed ? admin.replayed : admin.booked} <Money amount={book.data.available} form="full" />
        </Notice>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={title}
      submit={kind === 'top-ups' ? admin.topUp : admin.adjust}
      isReady={booked.amount !== '' && booked.reference !== ''}
      change={book}
      onClose={onClose}
      onSubmit={() =>
        book.mutate({ params: { account_id: account.id }, body: { ...booked, ...(note !== '' && { note }) } })
      }
    >
      <TextField
        {...form.text('amount')}
        label={common.amount}
        hint={kind === 'adjustments' ? admin.adjustHint : undefined}
        inputMode="decimal"
        autoFocus
      />
      <TextField {...form.text('reference')} label={common.reference} hint={admin.referenceHint} />
      <TextField {...form.text('note')} label={admin.note} aside={common.optional} />
    </FormDialog>
  );
}

/** Those that browsers know; others are typed, and the server says whether its database knows them. */
const TIME_ZONES = Intl.supportedValuesOf('timeZone');

const toDraft = (account: AdminAccount) => ({
  name: account.name,
  priority: String(account.priority),
  requests_per_minute: typed(account.requests_per_minute),
  tokens_per_minute: typed(account.tokens_per_minute),
  max_running_tasks: typed(account.max_running_tasks),
  daily_limit: typed(account.daily_limit),
  monthly_limit: typed(account.monthly_limit),
  time_zone: typed(account.time_zone),
  unlimited: account.unlimited,
  disabled: account.disabled_at !== null,
});

const toSettings = (draft: ReturnType<typeof toDraft>) => ({
  ...draft,
  priority: Number(draft.priority),
  requests_per_minute: numberOrNull(draft.requests_per_minute),
  tokens_per_minute: numberOrNull(draft.tokens_per_minute),
  max_running_tasks: numberOrNull(draft.max_running_tasks),
  daily_limit: textOrNull(draft.daily_limit),
  monthly_limit: textOrNull(draft.monthly_limit),
  time_zone: textOrNull(draft.time_zone),
});

export function EditAccountDialog({ of: account, onClose }: OfAccount) {
  const { admin, common, keys } = useMessages();
  const [before] = useState(() => toDraft(account));
  const change = useChange('POST /admin/accounts/:account_id', TOUCHED);
  const form = useInputs(before, change.error);
  return (
    <FormDialog
      title={`${common.edit}: ${account.name}`}
      submit={common.save}
      change={change}
      onClose={onClose}
      send={{ params: { account_id: account.id }, body: changesOf(toSettings(before), toSettings(form.values)) }}
    >
      <TextField {...form.text('name')} label={common.name} />
      <TextField {...form.text('priority')} label={admin.priority} type="number" />
      <TextField {...form.text('daily_limit')} label={keys.dailyLimit} />
      <TextField {...form.text('monthly_limit')} label={keys.monthlyLimit} />
      <TextField
        {...form.text('time_zone')}
        label={admin.timeZone}
        hint={admin.timeZoneHint}
        placeholder="UTC"
        list="time-zones"
      />
      <datalist id="time-zones">
        {TIME_ZONES.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <TextField {...form.text('requests_per_minute')} label={keys.requestsPerMinute} type="number" />
      <TextField {...form.text('tokens_per_minute')} label={keys.tokensPerMinute} type="number" />
      <TextField {...form.text('max_running_tasks')} label={keys.maxRunningTasks} type="number" />
      <Check {...form.check('unlimited')} label={admin.unlimited} />
      <Check {...form.check('disabled')} label={admin.disabled} />
    </FormDialog>
  );
}
