import { useState } from 'react';
import { useChange } from '../../api/queries';
import type { AdminNewPrice, AdminPrice } from '../../api/types';
import { Button } from '../../components/button';
import { Select, TextField } from '../../components/fields';
import { Card, Notice } from '../../components/page';
import { Failure } from '../../components/states';
import { toMicros } from '../../format/money';
import { unitName } from '../../format/number';
import { useMessages } from '../../messages/language';
import { ProofRefused } from '../../api/api-error';
import { columnKey, columnsOf, type PriceColumn, shownQuantity, UnitHead, unitsOf, useColumnName } from './price-grid';
import { amountFor, FEWER_DAYS, lastDays, shortAmount, sortOf, tierName, TOKEN_PRICES } from './price-parts';
import { SimulationFailed, SimulationResult, useSimulation } from './simulation-result';

const TIERS = ['flex', 'priority', 'ultrafast', 'batch'] as const;
const AMOUNT = /^\d{1,12}(\.\d{1,6})?$/;

interface PriceEditorProps {
  readonly model: string;
  readonly prices: readonly AdminPrice[];
  readonly onClose: (isSet: boolean) => void;
}

/** The prices of a model as a form: one date for all, gaps named before they are sent. */
export function PriceEditor({ model, prices, onClose }: PriceEditorProps) {
  const { selling, admin, common, money } = useMessages();
  const { model: words } = selling;
  const draft = useDraft(prices);
  const [from, setFrom] = useState('');
  const check = useChange('POST /admin/prices/set');
  const simulate = useSimulation();
  const set = useChange('POST /admin/prices/set', ['GET /admin/prices', 'GET /models', 'GET /admin/audit']);
  const nameOf = useColumnName();
  const changed = draft.changed(model);
  const missing = draft.missing();
  const begin = from === '' ? {} : { effective_from: new Date(from).toISOString() };
  const isReady = changed.length > 0 && missing.length === 0 && draft.isRight;
  const isChecked = check.data !== undefined;
  const change = (apply: () => void) => {
    check.reset();
    simulate.reset();
    apply();
  };
  const simulateDays = (days?: number) => simulate.mutate({ body: { ...lastDays(days), prices: changed } });
  const failure = set.error ?? check.error;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isReady) return;
        if (isChecked) set.mutate({ body: { prices: changed, ...begin } }, { onSuccess: () => onClose(true) });
        else {
          check.mutate({ body: { prices: changed, ...begin, dry_run: true } });
          simulateDays();
        }
      }}
    >
      <Card title={words.edit} isFlush>
        <EditedGrid draft={draft} prices={prices} onChange={change} />
        <div className="card-body stack">
          <Adders draft={draft} onChange={change} />
          <div className="filters">
            <TextField
              label={admin.prices.from}
              type="datetime-local"
              value={from}
              onType={(value) => change(() => setFrom(value))}
            />
          </div>
          {missing.length > 0 && (
            <Notice tone="warn">
              {words.missing(
                missing
                  .map(([unit, column]) => words.amountOf(unitName(money.units, unit, 2), nameOf(column)))
                  .join('; '),
              )}
            </Notice>
          )}
          {isChecked && (
            <Notice tone={check.data.warnings.length > 0 ? 'warn' : 'info'}>
              <p role="status">{words.differs(check.data.added + check.data.changed)}</p>
              {check.data.warnings.map((warning) => (
                <p key={warning} lang="en" className="small-text">
                  {warning}
                </p>
              ))}
            </Notice>
          )}
          <Failure of={failure} />
          <div className="row">
            <Button
              type="submit"
              look="primary"
              label={isChecked ? words.set : words.check}
              disabled={!isReady || check.isPending || set.isPending}
            />
            <Button label={common.cancel} onClick={() => onClose(false)} />
            {changed.length === 0 && <span className="muted small-text">{words.nothing}</span>}
          </div>
        </div>
      </Card>
      {simulate.error && !(simulate.error instanceof ProofRefused) && (
        <SimulationFailed of={simulate.error} onFewer={() => simulateDays(FEWER_DAYS)} />
      )}
      {simulate.data && <SimulationResult of={simulate.data} />}
    </form>
  );
}

type Draft = ReturnType<typeof useDraft>;

const cellKey = (unit: string, column: PriceColumn): string => sortOf({ unit, ...column });

/** The grid as it is typed. */
function useDraft(prices: readonly AdminPrice[]) {
  const [units, setUnits] = useState<readonly string[]>(() => {
    const known = unitsOf(prices);
    return known.length > 0 ? known : ['input_token', 'output_token'];
  });
  const [columns, setColumns] = useState<readonly PriceColumn[]>(() => {
    const known = columnsOf(prices);
    return known.length > 0 ? known : [{ variant: 'default', from_input_tokens: 0 }];
  });
  const before = new Map(prices.map((price) => [sortOf(price), amountFor(price, shownQuantity(price.unit, prices))]));
  const [typed, setTyped] = useState<ReadonlyMap<string, string>>(
    () => new Map([...before].map(([key, amount]) => [key, shortAmount(amount)])),
  );
  const cells = units.flatMap((unit) => columns.map((column) => ({ unit, column, key: cellKey(unit, column) })));
  const text = (key: string): string => (typed.get(key) ?? '').trim();
  return {
    units,
    columns,
    textOf: (unit: string, column: PriceColumn) => typed.get(cellKey(unit, column)) ?? '',
    type: (unit: string, column: PriceColumn, value: string) =>
      setTyped(new Map([...typed, [cellKey(unit, column), value]])),
    addUnit: (unit: string) => setUnits(unitsOf([...units, unit].map((each) => ({ unit: each })))),
    addColumns: (added: readonly PriceColumn[]) => setColumns(columnsOf([...columns, ...added])),
    isRight: cells.every(({ key }) => text(key) === '' || AMOUNT.test(text(key))),
    /** What bands lack: each has every kind of token that its tier has, and each tier has every band. */
    missing: (): (readonly [unit: string, column: PriceColumn])[] => {
      const tokens = units.filter((unit) => unit.endsWith('token'));
      const isUsed = (column: PriceColumn): boolean => tokens.some((unit) => text(cellKey(unit, column)) !== '');
      const used = columns.filter(isUsed);
      const variants = new Set(used.map(({ variant }) => variant));
      const starts = new Set([0, ...used.map(({ from_input_tokens: from }) => from)]);
      const hasSome = (unit: string, variant: string): boolean =>
        used.some((column) => column.variant === variant && text(cellKey(unit, column)) !== '');
      return [...variants].flatMap((variant) =>
        [...starts].flatMap((from) =>
          tokens.flatMap((unit) => {
            const column = { variant, from_input_tokens: from };
            const isGap = hasSome(unit, variant) && text(cellKey(unit, column)) === '';
            return isGap ? [[unit, column] as const] : [];
          }),
        ),
      );
    },
    /** What differs from the book. */
    changed: (model: string): AdminNewPrice[] =>
      cells.flatMap(({ unit, column, key }) => {
        const amount = text(key);
        const was = before.get(key);
        if (!AMOUNT.test(amount) || (was !== undefined && toMicros(was) === toMicros(amount))) return [];
        const { variant, from_input_tokens: from } = column;
        return {
          model,
          unit,
          variant,
          ...(from > 0 && { from_input_tokens: from }),
          amount,
          per_quantity: shownQuantity(unit, prices),
        };
      }),
  };
}

interface EditedGridProps {
  readonly draft: Draft;
  readonly prices: readonly AdminPrice[];
  readonly onChange: (apply: () => void) => void;
}

function EditedGrid({ draft, prices, onChange }: EditedGridProps) {
  const { selling, money, common } = useMessages();
  const { model: words } = selling;
  const nameOf = useColumnName();
  return (
    <div className="table-region" role="region" aria-label={words.edit} tabIndex={0}>
      <table className="price-grid">
        <thead>
          <tr>
            <th scope="col">{common.unit}</th>
            {draft.columns.map((column) => (
              <th key={columnKey(column)} scope="col" className="number">
                {nameOf(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {draft.units.map((unit) => (
            <tr key={unit}>
              <th scope="row">
                <UnitHead unit={unit} quantity={shownQuantity(unit, prices)} />
              </th>
              {draft.columns.map((column) => (
                <td key={columnKey(column)} className="number">
                  <input
                    inputMode="decimal"
                    aria-label={words.amountOf(unitName(money.units, unit, 2), nameOf(column))}
                    aria-invalid={
                      (draft.textOf(unit, column).trim() !== '' && !AMOUNT.test(draft.textOf(unit, column).trim())) ||
                      undefined
                    }
                    value={draft.textOf(unit, column)}
                    onChange={({ target: { value } }) => onChange(() => draft.type(unit, column, value))}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Adders({ draft, onChange }: { readonly draft: Draft; readonly onChange: (apply: () => void) => void }) {
  const { selling, money } = useMessages();
  const { model: words } = selling;
  const [band, setBand] = useState('');
  const isText = draft.units.some((unit) => unit.endsWith('token'));
  if (!isText) return null;
  const tiers = [...new Set(draft.columns.map(({ variant }) => variant))];
  const bands = [...new Set(draft.columns.map(({ from_input_tokens: from }) => from))];
  const count = Number(band);
  return (
    <div className="filters">
      <TextField label={words.bandFrom} type="number" min={1} placeholder="200001" value={band} onType={setBand} />
      <Button
        label={words.addBand}
        disabled={!Number.isSafeInteger(count) || count < 1}
        onClick={() =>
          onChange(() => {
            draft.addColumns(tiers.map((variant) => ({ variant, from_input_tokens: count })));
            setBand('');
          })
        }
      />
      <Select
        label={words.addTier}
        value=""
        onChange={({ target: { value } }) =>
          value !== '' &&
          onChange(() => draft.addColumns(bands.map((from) => ({ variant: value, from_input_tokens: from }))))
        }
      >
        <option value="" />
        {TIERS.filter((tier) => !tiers.includes(tier)).map((tier) => (
          <option key={tier} value={tier}>
            {tierName(selling.tiers, tier)}
          </option>
        ))}
      </Select>
      <Select
        label={words.addUnit}
        value=""
        onChange={({ target: { value } }) => value !== '' && onChange(() => draft.addUnit(value))}
      >
        <option value="" />
        {TOKEN_PRICES.filter((unit) => !draft.units.includes(unit)).map((unit) => (
          <option key={unit} value={unit}>
            {unitName(money.units, unit, 2)}
          </option>
        ))}
      </Select>
    </div>
  );
}
