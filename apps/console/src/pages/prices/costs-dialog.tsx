import { useState } from 'react';
import { useChange, useRead, useSession } from '../../api/queries';
import type { AdminProposalItem, JsonObject, JsonValue } from '../../api/types';
import { FormDialog } from '../../components/confirm-dialog';
import { TextField } from '../../components/fields';
import { toMicros } from '../../format/money';
import { useMessages } from '../../messages/language';
import { isObject, servedBy } from '../admin/upstream-models';
import { amountFor, MILLION } from './price-parts';
import { UpstreamField } from './read-list';

interface CostsDialogProps {
  readonly items: readonly AdminProposalItem[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Makes the prices of a list what an upstream is known to take. */
export function CostsDialog({ items, onClose, onDone }: CostsDialogProps) {
  const { proposals: words } = useMessages().selling;
  const { currency } = useSession();
  const [upstream, setUpstream] = useState('');
  const [typedFactor, setFactor] = useState<string>();
  const [typedRate, setRate] = useState<string>();
  const upstreams = useRead('GET /admin/upstreams', {});
  const only = (upstreams.data?.items ?? []).filter(({ kind, source }) => kind === 'text' && source === 'database');
  const chosen = only.find(({ id }) => id === (upstream || (only.length === 1 ? only[0]?.id : '')));
  const change = useChange('POST /admin/upstreams/:upstream_id', ['GET /admin/upstreams', 'GET /admin/audit']);
  const isForeign = currency !== 'USD';
  const prior = isObject(chosen?.settings['costs']) ? chosen.settings['costs'] : {};
  const priorRate = isObject(prior['rates']) ? prior['rates']['USD'] : undefined;
  const factor = typedFactor ?? textOf(prior['factor'], '1');
  const rate = typedRate ?? textOf(priorRate, '');
  const served = new Set(chosen && servedBy(chosen).map(({ model }) => model));
  const taken = items.flatMap((item) =>
    item.model !== null && served.has(item.model) ? [[item.model, item] as const] : [],
  );
  const removed = modelsInOtherUnits(prior).filter((model) => taken.every(([name]) => name !== model));
  return (
    <FormDialog
      title={words.takeCostsTitle}
      submit={words.takeCosts}
      isReady={taken.length > 0 && Number(factor) > 0 && (!isForeign || Number(rate) > 0)}
      change={change}
      onClose={onClose}
      onSubmit={() => {
        if (!chosen) return;
        const costs = {
          // What is not said stays as it is, so figures of another unit are taken away.
          ...Object.fromEntries(removed.map((model) => [model, null])),
          unit: 'USD',
          per_quantity: MILLION,
          factor: Number(factor),
          ...(isForeign && { rates: { USD: Number(rate) } }),
          ...Object.fromEntries(taken.map(([model, item]) => [model, costsOf(item)])),
        };
        change.mutate(
          { params: { upstream_id: chosen.id }, body: { costs } },
          {
            onSuccess: () => {
              onClose();
              onDone();
            },
          },
        );
      }}
    >
      <UpstreamField
        value={chosen?.id ?? ''}
        hint={words.costsFromFile}
        isEditable
        onChoose={(id) => {
          setUpstream(id);
          setFactor(undefined);
          setRate(undefined);
        }}
      />
      {chosen && <p className="prose">{words.takeCostsText(taken.length, items.length)}</p>}
      {removed.length > 0 && <p className="prose">{words.costsRemoved(removed.join(', '))}</p>}
      <TextField
        label={words.costFactor}
        hint={words.costFactorHint}
        inputMode="decimal"
        value={factor}
        onType={setFactor}
      />
      {isForeign && <TextField label={words.costRate(currency)} inputMode="decimal" value={rate} onType={setRate} />}
    </FormDialog>
  );
}

/** A number as the settings have it, to be typed over. */
const textOf = (said: JsonValue | undefined, otherwise: string): string =>
  typeof said === 'number' || typeof said === 'string' ? String(said) : otherwise;

/** The models whose figures would be misread beside those in USD for each million. */
function modelsInOtherUnits({
  unit,
  per_quantity: quantity = 1,
  factor: _factor,
  rates: _rates,
  ...models
}: JsonObject) {
  return unit === 'USD' && quantity === MILLION ? [] : Object.keys(models);
}

/** What one model takes: for each service tier and band, its units. */
function costsOf({ proposed }: AdminProposalItem): JsonObject[] {
  const rows = new Map<string, Record<string, string | number>>();
  for (const price of proposed) {
    const { variant, from_input_tokens: from, unit, listed, per_quantity: quantity } = price;
    const key = `${variant} ${from}`;
    const row = rows.get(key) ?? {
      ...(variant !== 'default' && { tier: variant }),
      ...(from > 0 && { from_input_tokens: from }),
    };
    row[unit] = Number(toMicros(amountFor({ amount: listed, per_quantity: quantity }, MILLION))) / MILLION;
    rows.set(key, row);
  }
  return [...rows.values()];
}
