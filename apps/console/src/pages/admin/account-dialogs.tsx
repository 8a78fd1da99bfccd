import { useState } from 'react';
import { ApiError } from '../../api/api-error';
import type { ReadRoute } from '../../api/call';
import { changesOf } from '../../api/changes';
import { useChange } from '../../api/queries';
import type { AdminAccount } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { Dialog } from '../../components/dialog';
import { Check, TextField } from '../../components/fields';
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
  const [amount, setAmount] = useState('');
  const [reference, setReference] = useState('');
  const [note, setNote] = useState('');
  const topUp = useChange('POST /admin/accounts/:account_id/top-ups', TOUCHED);
  const adjust = useChange('POST /admin/accounts/:account_id/adjustments', TOUCHED);
  const book = kind === 'top-ups' ? topUp : adjust;
  const title = `${kind === 'top-ups' ? admin.topUp : admin.adjust}: ${account.name}`;
  const about = (field: string) => (book.error instanceof ApiError ? book.error.about(field) : undefined);
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
      isReady={amount !== '' && reference !== ''}
      change={book}
      onClose={onClose}
      onSubmit={() =>
        book.mutate({ params: { account_id: account.id }, body: { amount, reference, ...(note !== '' && { note }) } })
      }
    >
      <TextField
        label={common.amount}
        hint={kind === 'adjustments' ? admin.adjustHint : undefined}
        error={about('amount')}
        inputMode="decimal"
        autoFocus
        value={amount}
        onType={setAmount}
      />
      <TextField
        label={admin.reference}
        hint={admin.referenceHint}
        error={about('reference')}
        value={reference}
        onType={setReference}
      />
      <TextField label={admin.note} aside={common.optional} error={about('note')} value={note} onType={setNote} />
    </FormDialog>
  );
}

const numberOrNull = (value: string): number | null => (value.trim() === '' ? null : Number(value));
const textOrNull = (value: string): string | null => (value.trim() === '' ? null : value.trim());
const text = (value: number | null): string => (value === null ? '' : String(value));

/** Those that browsers know; others are typed, and the server says whether its database knows them. */
const TIME_ZONES = Intl.supportedValuesOf('timeZone');

const toDraft = (account: AdminAccount) => ({
  name: account.name,
  priority: String(account.priority),
  requests: text(account.requests_per_minute),
  tokens: text(account.tokens_per_minute),
  tasks: text(account.max_running_tasks),
  daily: account.daily_limit ?? '',
  monthly: account.monthly_limit ?? '',
  zone: account.time_zone ?? '',
  unlimited: account.unlimited,
  disabled: account.disabled_at !== null,
});

const toSettings = (draft: ReturnType<typeof toDraft>) => ({
  name: draft.name,
  priority: Number(draft.priority),
  requests_per_minute: numberOrNull(draft.requests),
  tokens_per_minute: numberOrNull(draft.tokens),
  max_running_tasks: numberOrNull(draft.tasks),
  daily_limit: textOrNull(draft.daily),
  monthly_limit: textOrNull(draft.monthly),
  time_zone: textOrNull(draft.zone),
  unlimited: draft.unlimited,
  disabled: draft.disabled,
});

export function EditAccountDialog({ of: account, onClose }: OfAccount) {
  const { admin, common, keys } = useMessages();
  const [before] = useState(() => toDraft(account));
  const [draft, setDraft] = useState(before);
  const change = useChange('POST /admin/accounts/:account_id', TOUCHED);
  const field = (
    name: 'name' | 'priority' | 'requests' | 'tokens' | 'tasks' | 'daily' | 'monthly',
    label: string,
    type = 'number',
  ) => (
    <TextField
      label={label}
      type={type}
      value={draft[name]}
      onType={(value) => setDraft({ ...draft, [name]: value })}
    />
  );
  return (
    <FormDialog
      title={`${admin.edit}: ${account.name}`}
      submit={common.save}
      change={change}
      onClose={onClose}
      onSubmit={() => {
        const body = changesOf(toSettings(before), toSettings(draft));
        change.mutate({ params: { account_id: account.id }, body }, { onSuccess: onClose });
      }}
    >
      {field('name', common.name, 'text')}
      {field('priority', admin.priority)}
      {field('daily', keys.dailyLimit, 'text')}
      {field('monthly', keys.monthlyLimit, 'text')}
      <TextField
        label={admin.timeZone}
        hint={admin.timeZoneHint}
        placeholder="UTC"
        list="time-zones"
        value={draft.zone}
        onType={(value) => setDraft({ ...draft, zone: value })}
      />
      <datalist id="time-zones">
        {TIME_ZONES.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      {field('requests', keys.requestsPerMinute)}
      {field('tokens', keys.tokensPerMinute)}
      {field('tasks', keys.maxRunningTasks)}
      <Check
        label={admin.unlimited}
        checked={draft.unlimited}
        onChange={(event) => setDraft({ ...draft, unlimited: event.target.checked })}
      />
      <Check
        label={admin.disabled}
        checked={draft.disabled}
        onChange={(event) => setDraft({ ...draft, disabled: event.target.checked })}
      />
    </FormDialog>
  );
}
