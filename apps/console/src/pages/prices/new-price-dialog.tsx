import { useNavigate } from '@tanstack/react-router';
import { useChange, useRead } from '../../api/queries';
import type { AdminPricePreview } from '../../api/types';
import { FormDialog } from '../../components/confirm-dialog';
import { beginning, Choice, TextField, useInputs } from '../../components/fields';
import { Notice } from '../../components/page';
import { type Column, Table } from '../../components/table';
import { Money } from '../../components/values';
import { formatDay } from '../../format/time';
import { useLanguage, useMessages } from '../../messages/language';
import { BelowCost } from './price-parts';

/** `sold`: unit and variant, one a line. `from`: local time of the reader, as the field gives it; empty: now. */
const EMPTY = { model: '', sold: '', amount: '', perQuantity: '1', from: '' };

/** The request body for the server. */
function toPrice(draft: typeof EMPTY) {
  const [unit = '', variant = ''] = draft.sold.split('\n');
  return {
    model: draft.model,
    unit,
    ...(variant !== '' && { variant }),
    amount: draft.amount,
    per_quantity: Number(draft.perQuantity),
    ...beginning(draft.from),
  };
}

/** A new price, first with what it would have changed. */
export function NewPriceDialog({ onClose }: { readonly onClose: () => void }) {
  const { admin, common, selling } = useMessages();
  const { prices: words } = admin;
  const navigate = useNavigate();
  const models = useRead('GET /models', {});
  const preview = useChange('POST /admin/prices/preview');
  const set = useChange('POST /admin/prices', ['GET /admin/prices', 'GET /models', 'GET /admin/audit']);
  const failure = set.error ?? preview.error;
  // What was previewed no longer holds.
  const form = useInputs(EMPTY, failure, preview.reset);
  const draft = form.values;
  const model = models.data?.items.find(({ id }) => id === draft.model);
  const body = toPrice(draft);
  const isText = model?.kind === 'text' || model?.kind === 'embedding';
  const openModel = () => void navigate({ to: '/admin/prices/models/$model', params: { model: draft.model } });
  if (set.data && set.data.warnings.length > 0)
    return <BelowCost title={words.add} of={set.data.warnings} onClose={onClose} />;
  return (
    <FormDialog
      title={words.add}
      submit={isText ? selling.model.open : preview.data ? words.set : words.preview}
      isReady={isText || [draft.model, body.unit, draft.amount].every((each) => each !== '')}
      change={{ isPending: preview.isPending || set.isPending, error: failure }}
      onClose={onClose}
      onSubmit={() =>
        isText
          ? openModel()
          : preview.data
            ? set.mutate({ body }, { onSuccess: ({ warnings }) => warnings.length === 0 && onClose() })
            : preview.mutate({ body })
      }
    >
      <Choice
        {...form.choice('model')}
        label={common.model}
        onChoose={(value) => form.set({ model: value, sold: '' })}
        none=""
        choices={(models.data?.items ?? []).map(({ id }) => [id, id])}
      />
      {isText ? (
        <p>{selling.model.together}</p>
      ) : (
        <>
          <Choice
            {...form.choice('sold')}
            label={common.variant}
            error={form.about('variant') ?? form.about('unit')}
            none=""
            choices={(model?.variants ?? []).map((each) => [
              `${each.unit}\n${each.variant}`,
              `${each.variant} / ${each.unit}`,
            ])}
          />
          <TextField {...form.text('amount')} label={common.amount} inputMode="decimal" />
          <TextField {...form.text('perQuantity', 'per_quantity')} label={words.perQuantity} type="number" min={1} />
          <TextField {...form.text('from', 'effective_from')} label={words.from} type="datetime-local" />
        </>
      )}
      {preview.data && <Preview of={preview.data} />}
    </FormDialog>
  );
}

function Preview({ of: preview }: { readonly of: AdminPricePreview }) {
  const { messages, language } = useLanguage();
  const { admin, common } = messages;
  const { prices: words } = admin;
  const columns: Column<AdminPricePreview['accounts'][number]>[] = [
    { id: 'account', head: common.account, cell: (account) => account.account_name },
    { id: 'charged', head: words.charged, money: ({ charged }) => charged },
    { id: 'repriced', head: words.repriced, money: ({ repriced }) => repriced },
  ];
  return (
    <div className="stack tight" role="status">
      {preview.warnings.length > 0 && (
        <Notice tone="warn">
          <p>{messages.selling.wouldBeBelowCost}</p>
          {preview.warnings.map((warning) => (
            <p key={warning} lang="en" className="small-text">
              {warning}
            </p>
          ))}
        </Notice>
      )}
      <p>{words.previewText(formatDay(preview.from, language), formatDay(preview.to, language))}</p>
      {preview.accounts.length === 0 ? (
        <p className="muted">{words.noUse}</p>
      ) : (
        <>
          <p className="row between strong">
            <span>{messages.money.total}</span>
            <span>
              <Money amount={preview.charged} form="full" /> → <Money amount={preview.repriced} form="full" />
            </span>
          </p>
          <Table
            label={words.preview}
            name="preview"
            columns={columns}
            rows={preview.accounts}
            keyOf={(account) => account.account_id}
          />
        </>
      )}
    </div>
  );
}
