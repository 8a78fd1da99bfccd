import { useState } from 'react';
import { useChange, useMay } from '../../api/queries';
import type { ConsoleBalance } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { TextField, textOrNull, useInputs } from '../../components/fields';
import { Money } from '../../components/values';
import { useMessages } from '../../messages/language';

/** The balance below which the account gets a notice, and a link to change it. */
export function LowBalance({ of: balance }: { readonly of: Pick<ConsoleBalance, 'low_balance'> }) {
  const { common } = useMessages();
  const { billing } = useMessages().money;
  const [isEditing, setEditing] = useState(false);
  const mayManage = useMay('billing:manage');
  const { low_balance: below } = balance;
  return (
    <p className="muted small-text row">
      {below === null ? (
        billing.noticeNever
      ) : (
        <span>
          {billing.noticeBelow} <Money amount={below} />
        </span>
      )}
      {mayManage && (
        <Button
          look="small"
          label={common.change}
          aria-label={`${common.change}: ${billing.notice}`}
          onClick={() => setEditing(true)}
        />
      )}
      {isEditing && <NoticeDialog below={below} onClose={() => setEditing(false)} />}
    </p>
  );
}

function NoticeDialog({ below, onClose }: { readonly below: string | null; readonly onClose: () => void }) {
  const { money, common } = useMessages();
  const change = useChange('POST /billing/notice', ['GET /billing', 'GET /overview']);
  const form = useInputs({ low_balance: below ?? '' }, change.error);
  return (
    <FormDialog
      title={money.billing.notice}
      submit={common.save}
      change={change}
      onClose={onClose}
      send={{ body: { low_balance: textOrNull(form.values.low_balance) } }}
    >
      <TextField
        {...form.text('low_balance')}
        label={common.available}
        hint={money.billing.noticeHint}
        inputMode="decimal"
        autoFocus
      />
    </FormDialog>
  );
}
