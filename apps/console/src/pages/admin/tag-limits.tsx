import { useState } from 'react';
import { useChange, useMay, useRead } from '../../api/queries';
import type { ConsoleTagLimit } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { TextField, textOrNull } from '../../components/fields';
import { Card } from '../../components/page';
import { TagLimitTable } from '../../components/spend-limits';
import { Loaded } from '../../components/states';
import { useMessages } from '../../messages/language';
import { shortAmount } from '../prices/price-parts';

/** What the work under tags of an account may cost, for operators. */
export function TagLimits({ accountId, timeZone }: { readonly accountId: string; readonly timeZone: string }) {
  const { common } = useMessages();
  const { tagLimits: words } = useMessages().admin;
  const mayWrite = useMay('admin:write');
  const [isEditing, setEditing] = useState(false);
  const query = useRead('GET /admin/accounts/:account_id/tag-limits', { params: { account_id: accountId } });
  return (
    <Card
      title={common.tagLimits}
      actions={mayWrite && query.data && <Button look="small" label={words.edit} onClick={() => setEditing(true)} />}
      isFlush
    >
      <Loaded query={query} height={80}>
        {({ items }) => <TagLimitTable items={items} empty={words.none} />}
      </Loaded>
      {isEditing && query.data && (
        <EditDialog
          accountId={accountId}
          timeZone={timeZone}
          before={query.data.items}
          onClose={() => setEditing(false)}
        />
      )}
    </Card>
  );
}

interface Row {
  readonly tag: string;
  readonly daily: string;
  readonly monthly: string;
}

const rowOf = ({ tag, daily_limit: daily, monthly_limit: monthly }: ConsoleTagLimit): Row => ({
  tag,
  daily: shortAmount(daily ?? ''),
  monthly: shortAmount(monthly ?? ''),
});

/** Its amounts would be lost. */
const isWithoutTag = ({ tag, daily, monthly }: Row): boolean =>
  tag.trim() === '' && (daily.trim() !== '' || monthly.trim() !== '');

interface EditDialogProps {
  readonly accountId: string;
  /** In which days and months of the account begin. */
  readonly timeZone: string;
  readonly before: readonly ConsoleTagLimit[];
  readonly onClose: () => void;
}

/** All limits of the account as they are typed; an empty row is left out. */
function EditDialog({ accountId, timeZone, before, onClose }: EditDialogProps) {
  const { admin, common, money } = useMessages();
  const { tagLimits: words } = admin;
  const { tags } = money;
  const [rows, setRows] = useState<readonly Row[]>(() => [...before.map(rowOf), { tag: '', daily: '', monthly: '' }]);
  const save = useChange('POST /admin/accounts/:account_id/tag-limits', [
    'GET /admin/accounts/:account_id/tag-limits',
    'GET /admin/audit',
  ]);
  const change = (place: number, part: Partial<Row>) =>
    setRows(rows.map((row, index) => (index === place ? { ...row, ...part } : row)));
  const limits = rows
    .filter(({ tag }) => tag.trim() !== '')
    .map(({ tag, daily, monthly }) => ({
      tag: tag.trim(),
      daily_limit: textOrNull(daily),
      monthly_limit: textOrNull(monthly),
    }));
  return (
    <FormDialog
      title={common.tagLimits}
      submit={common.save}
      isReady={!rows.some(isWithoutTag)}
      change={save}
      onClose={onClose}
      send={{ params: { account_id: accountId }, body: { limits } }}
    >
      <p className="muted small-text">{words.hint(timeZone)}</p>
      {rows.map((row, place) => (
        // Rows are only added at the end, so that their places name them.
        <div key={place} className="three-fields">
          <TextField
            label={tags.tag}
            error={isWithoutTag(row) ? words.tagMissing : undefined}
            maxLength={64}
            value={row.tag}
            onType={(value) => change(place, { tag: value })}
          />
          {(['daily', 'monthly'] as const).map((name) => (
            <TextField
              key={name}
              label={tags[name]}
              inputMode="decimal"
              value={row[name]}
              onType={(value) => change(place, { [name]: value })}
            />
          ))}
        </div>
      ))}
      <p>
        <Button
          look="small"
          icon="plus"
          label={words.add}
          onClick={() => setRows([...rows, { tag: '', daily: '', monthly: '' }])}
        />
      </p>
    </FormDialog>
  );
}
