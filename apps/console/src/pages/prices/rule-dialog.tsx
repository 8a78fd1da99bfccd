import type { ReadRoute } from '../../api/call';
import { useChange, useRead } from '../../api/queries';
import type { AdminNewPriceRule, ConsoleModel } from '../../api/types';
import { FormDialog } from '../../components/confirm-dialog';
import { beginning, Choice, type Inputs, Segments, TextField, useInputs } from '../../components/fields';
import { unitName } from '../../format/number';
import { useMessages } from '../../messages/language';
import { BelowCost, MILLION, TOKEN_PRICES } from './price-parts';

const TOUCHED: readonly ReadRoute[] = ['GET /admin/price-lists', 'GET /admin/price-lists/:list_id', 'GET /admin/audit'];

/** `from`: local time of the reader, as the field gives it; empty: now. */
const EMPTY = { kind: 'factor', model: '*', unit: '', variant: '', band: '', factor: '', amount: '', from: '' };
type Draft = typeof EMPTY;

const isToken = ({ unit }: Draft): boolean => unit.endsWith('token');

const ruleOf = (draft: Draft): AdminNewPriceRule => ({
  model: draft.model,
  ...(draft.unit !== '' && { unit: draft.unit }),
  ...(draft.variant.trim() !== '' && { variant: draft.variant.trim() }),
  ...(draft.band.trim() !== '' && { from_input_tokens: Number(draft.band) }),
  ...(draft.kind === 'amount'
    ? { amount: draft.amount.trim(), per_quantity: isToken(draft) ? MILLION : 1 }
    : { factor: draft.factor.trim() }),
  ...beginning(draft.from),
});

/** A later rule of a list, which replaces one of the same scope. */
export function RuleDialog({ listId, onClose }: { readonly listId: string; readonly onClose: () => void }) {
  const { selling, common, admin } = useMessages();
  const { lists: words } = selling;
  const add = useChange('POST /admin/price-lists/:list_id/rules', TOUCHED);
  const form = useInputs(EMPTY, add.error);
  const draft = form.values;
  const isAmount = draft.kind === 'amount';
  if (add.data && add.data.warnings.length > 0)
    return <BelowCost title={words.addRule} of={add.data.warnings} onClose={onClose} />;
  return (
    <FormDialog
      title={words.addRule}
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
        onChoose={(kind) => form.set({ kind, ...(kind === 'amount' && draft.model === '*' && { model: '' }) })}
      />
      <Scope form={form} />
      {isAmount ? (
        <TextField
          {...form.text('amount', 'rules[0].amount')}
          label={isToken(draft) ? words.amountMillion : common.amount}
          inputMode="decimal"
        />
      ) : (
        <TextField
          {...form.text('factor', 'rules[0].factor')}
          label={common.factor}
          hint={words.factorHint}
          inputMode="decimal"
          placeholder="0.9"
        />
      )}
      <TextField {...form.text('from', 'rules[0].effective_from')} label={admin.prices.from} type="datetime-local" />
    </FormDialog>
  );
}

const unitsOf = (model: ConsoleModel | undefined): readonly string[] =>
  model && model.kind !== 'text' && model.kind !== 'embedding'
    ? [...new Set(model.variants.map(({ unit }) => unit))]
    : TOKEN_PRICES;

function Scope({ form }: { readonly form: Inputs<Draft> }) {
  const { selling, common, money } = useMessages();
  const { lists: words } = selling;
  const models = useRead('GET /models', {});
  const { kind, model, unit } = form.values;
  const isAmount = kind === 'amount';
  const units = unitsOf(models.data?.items.find(({ id }) => id === model));
  return (
    <>
      <Choice
        {...form.choice('model', 'rules[0].model')}
        label={common.model}
        onChoose={(value) => form.set({ model: value, unit: '', variant: '' })}
        choices={[
          isAmount ? ['', ''] : ['*', words.everything],
          ...(models.data?.items ?? []).map(({ id }) => [id, id] as const),
        ]}
      />
      <Choice
        {...form.choice('unit', 'rules[0].unit')}
        label={common.unit}
        none={isAmount ? '' : words.allUnits}
        choices={units.map((each) => [each, unitName(money.units, each, MILLION)])}
      />
      <TextField
        {...form.text('variant', 'rules[0].variant')}
        label={common.variant}
        aside={common.optional}
        hint={isAmount ? words.variantAmount : words.variantFactor}
      />
      {(isToken(form.values) || unit === '') && (
        <TextField
          {...form.text('band', 'rules[0].from_input_tokens')}
          label={words.bandFrom}
          aside={common.optional}
          type="number"
          min={0}
        />
      )}
    </>
  );
}
