import { useState } from 'react';
import { ApiError } from '../../api/api-error';
import type { ReadRoute } from '../../api/call';
import { useChange, useRead } from '../../api/queries';
import type { AdminNewPriceRule, ConsoleModel } from '../../api/types';
import { FormDialog } from '../../components/confirm-dialog';
import { Choice, Segments, TextField } from '../../components/fields';
import { unitName } from '../../format/number';
import { useMessages } from '../../messages/language';
import { BelowCost, MILLION, TOKEN_PRICES } from './price-parts';

const TOUCHED: readonly ReadRoute[] = ['GET /admin/price-lists', 'GET /admin/price-lists/:list_id', 'GET /admin/audit'];

interface Draft {
  readonly kind: string;
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly band: string;
  readonly factor: string;
  readonly amount: string;
  /** Local time of the reader, as the field gives it; empty: now. */
  readonly from: string;
}

const EMPTY: Draft = { kind: 'factor', model: '*', unit: '', variant: '', band: '', factor: '', amount: '', from: '' };

const isToken = ({ unit }: Draft): boolean => unit.endsWith('token');

/** A rule as it is sent. */
const ruleOf = (draft: Draft): AdminNewPriceRule => ({
  model: draft.model,
  ...(draft.unit !== '' && { unit: draft.unit }),
  ...(draft.variant.trim() !== '' && { variant: draft.variant.trim() }),
  ...(draft.band.trim() !== '' && { from_input_tokens: Number(draft.band) }),
  ...(draft.kind === 'amount'
    ? { amount: draft.amount.trim(), per_quantity: isToken(draft) ? MILLION : 1 }
    : { factor: draft.factor.trim() }),
  ...(draft.from !== '' && { effective_from: new Date(draft.from).toISOString() }),
});

/** A later rule of a list, which replaces one of the same scope. */
export function RuleDialog({ listId, onClose }: { readonly listId: string; readonly onClose: () => void }) {
  const { selling, common, admin } = useMessages();
  const { lists: words } = selling;
  const [draft, setDraft] = useState(EMPTY);
  const add = useChange('POST /admin/price-lists/:list_id/rules', TOUCHED);
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const isAmount = draft.kind === 'amount';
  const about = (field: string) => (add.error instanceof ApiError ? add.error.about(`rules[0].${field}`) : undefined);
  if (add.data && add.data.warnings.length > 0)
    return <BelowCost title={words.addRule} of={add.data.warnings} onClose={onClose} />;
  return (
    <FormDialog
      title={words.addRule}
      submit={words.addRule}
      isReady={isAmount ? ![draft.amount, draft.unit, draft.model].includes('') : draft.factor !== ''}
      change={add}
      onClose={onClose}
      onSubmit={() =>
        add.mutate(
          { params: { list_id: listId }, body: { rules: [ruleOf(draft)] } },
          { onSuccess: ({ warnings }) => warnings.length === 0 && onClose() },
        )
      }
    >
      <Segments
        label={words.rule}
        choices={(['factor', 'amount'] as const).map((value) => ({ value, label: words.kinds[value] }))}
        value={draft.kind}
        onChoose={(kind) => change({ kind, ...(kind === 'amount' && draft.model === '*' && { model: '' }) })}
      />
      <Scope draft={draft} onChange={change} about={about} />
      {isAmount ? (
        <TextField
          label={isToken(draft) ? words.amountMillion : common.amount}
          error={about('amount')}
          inputMode="decimal"
          value={draft.amount}
          onType={(value) => change({ amount: value })}
        />
      ) : (
        <TextField
          label={words.factor}
          hint={words.factorHint}
          error={about('factor')}
          inputMode="decimal"
          placeholder="0.9"
          value={draft.factor}
          onType={(value) => change({ factor: value })}
        />
      )}
      <TextField
        label={admin.prices.from}
        error={about('effective_from')}
        type="datetime-local"
        value={draft.from}
        onType={(value) => change({ from: value })}
      />
    </FormDialog>
  );
}

/** What a model is sold by. */
const unitsOf = (model: ConsoleModel | undefined): readonly string[] =>
  model && model.kind !== 'text' && model.kind !== 'embedding'
    ? [...new Set(model.variants.map(({ unit }) => unit))]
    : TOKEN_PRICES;

/** What the rule is about. */
function Scope({
  draft,
  onChange,
  about,
}: {
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
  readonly about: (field: string) => string | undefined;
}) {
  const { selling, common, admin, money } = useMessages();
  const { lists: words } = selling;
  const models = useRead('GET /models', {});
  const isAmount = draft.kind === 'amount';
  const units = unitsOf(models.data?.items.find(({ id }) => id === draft.model));
  return (
    <>
      <Choice
        label={common.model}
        error={about('model')}
        value={draft.model}
        onChoose={(value) => onChange({ model: value, unit: '', variant: '' })}
        choices={[
          isAmount ? ['', ''] : ['*', words.everything],
          ...(models.data?.items ?? []).map(({ id }) => [id, id] as const),
        ]}
      />
      <Choice
        label={admin.prices.unit}
        error={about('unit')}
        value={draft.unit}
        onChoose={(value) => onChange({ unit: value })}
        none={isAmount ? '' : words.allUnits}
        choices={units.map((unit) => [unit, unitName(money.units, unit, MILLION)])}
      />
      <TextField
        label={admin.prices.variant}
        aside={common.optional}
        hint={isAmount ? words.variantAmount : words.variantFactor}
        error={about('variant')}
        value={draft.variant}
        onType={(value) => onChange({ variant: value })}
      />
      {(isToken(draft) || draft.unit === '') && (
        <TextField
          label={words.bandFrom}
          aside={common.optional}
          error={about('from_input_tokens')}
          type="number"
          min={0}
          value={draft.band}
          onType={(value) => onChange({ band: value })}
        />
      )}
    </>
  );
}
