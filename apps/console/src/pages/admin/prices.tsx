import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRead } from '../../api/queries';
import type { AdminPrice } from '../../api/types';
import { Check, TextField } from '../../components/fields';
import { Icon } from '../../components/icons';
import { Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { Money, None, Time } from '../../components/values';
import { useMessages } from '../../messages/language';
import { UnitText } from '../models/price-text';
import { NewPriceDialog } from './new-price-dialog';

const route = getRouteApi('/shell/admin/prices');

/** Which of the prices of the same thing are in force: the newest that has begun. */
function statesOf(prices: readonly AdminPrice[]): ReadonlyMap<string, 'active' | 'future' | 'past'> {
  const now = Date.now();
  const inForce = new Map<string, AdminPrice>();
  const thing = (price: AdminPrice) => `${price.model} ${price.unit} ${price.variant}`;
  for (const price of prices) {
    const before = inForce.get(thing(price));
    const from = Date.parse(price.effective_from);
    if (from <= now && (!before || Date.parse(before.effective_from) <= from)) inForce.set(thing(price), price);
  }
  return new Map(
    prices.map((price) => [
      price.id,
      inForce.get(thing(price)) === price ? 'active' : Date.parse(price.effective_from) > now ? 'future' : 'past',
    ]),
  );
}

export function PricesPage() {
  const { admin, common } = useMessages();
  const { prices: words } = admin;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const mayWrite = useMay('admin:write');
  const [isAdding, setAdding] = useState(false);
  const query = useRead('GET /admin/prices', { query: search.history ? { history: search.history } : {} });
  const set = (part: { model?: string | undefined; history?: 'true' | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={
        mayWrite && (
          <button type="button" className="button primary" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            {words.add}
          </button>
        )
      }
    >
      <form className="filters" role="search" aria-label={common.filter} onSubmit={(event) => event.preventDefault()}>
        <TextField
          label={words.model}
          type="search"
          value={search.model ?? ''}
          onChange={(event) => set({ model: event.target.value || undefined })}
        />
        <Check
          label={words.history}
          checked={search.history === 'true'}
          onChange={(event) => set({ history: event.target.checked ? 'true' : undefined })}
        />
      </form>
      <Loaded query={query} height={640}>
        {({ items }) => <PriceTable items={items.filter(({ model }) => model.includes(search.model ?? ''))} />}
      </Loaded>
      {isAdding && <NewPriceDialog onClose={() => setAdding(false)} />}
    </Page>
  );
}

function PriceTable({ items }: { readonly items: readonly AdminPrice[] }) {
  const { admin, common } = useMessages();
  const { prices: words } = admin;
  const states = statesOf(items);
  const columns: Column<AdminPrice>[] = [
    { id: 'model', head: words.model, cell: ({ model }) => model },
    { id: 'variant', head: words.variant, cell: ({ variant }) => variant || <None /> },
    { id: 'amount', head: common.amount, isNumber: true, cell: ({ amount }) => <Money amount={amount} form="full" /> },
    { id: 'unit', head: words.unit, cell: (price) => <UnitText unit={price.unit} perQuantity={price.per_quantity} /> },
    { id: 'state', head: common.state, cell: ({ id }) => <Status of={states.get(id) ?? 'past'} /> },
    { id: 'since', head: words.since, cell: ({ effective_from: at }) => <Time at={at} /> },
    { id: 'by', head: words.by, isHidden: true, cell: (price) => price.created_by },
  ];
  return (
    <section className="card">
      {items.length === 0 ? (
        <Empty>{words.none}</Empty>
      ) : (
        <Table label={words.title} name="prices" columns={columns} rows={items} keyOf={({ id }) => id} />
      )}
    </section>
  );
}
