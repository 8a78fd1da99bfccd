import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRead } from '../../api/queries';
import type { AdminPrice } from '../../api/types';
import { Button } from '../../components/button';
import { Check, TextField } from '../../components/fields';
import { Filters, useFilters } from '../../components/filters';
import { Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { Time } from '../../components/values';
import { formatCount } from '../../format/number';
import { useLanguage, useMessages } from '../../messages/language';
import { UnitText } from '../models/price-text';
import { NewPriceDialog } from './new-price-dialog';
import { priceStates, PriceTabs, tierName } from './price-parts';

const route = getRouteApi('/shell/admin/prices');

export function PricesPage() {
  const { admin, common, shell } = useMessages();
  const { prices: words } = admin;
  const search = route.useSearch();
  const mayWrite = useMay('admin:write');
  const [isAdding, setAdding] = useState(false);
  const query = useRead('GET /admin/prices', { query: search.history ? { history: search.history } : {} });
  const filters = useFilters(search);
  return (
    <Page
      title={shell.pages.prices}
      lead={words.lead}
      actions={mayWrite && <Button look="primary" icon="plus" label={words.add} onClick={() => setAdding(true)} />}
    >
      <PriceTabs />
      <Filters>
        <TextField {...filters.text('model')} label={common.model} />
        <Check {...filters.check('history')} label={words.history} />
      </Filters>
      <Loaded query={query} height={640}>
        {({ items }) => <PriceTable items={items.filter(({ model }) => model.includes(search.model ?? ''))} />}
      </Loaded>
      {isAdding && <NewPriceDialog onClose={() => setAdding(false)} />}
    </Page>
  );
}

function PriceTable({ items }: { readonly items: readonly AdminPrice[] }) {
  const { messages, language } = useLanguage();
  const { admin, common, selling, shell } = messages;
  const { prices: words } = admin;
  const states = priceStates(items);
  const columns: Column<AdminPrice>[] = [
    {
      id: 'model',
      head: common.model,
      cell: ({ model }) => (
        <Link className="clipped" title={model} to="/admin/prices/models/$model" params={{ model }}>
          {model}
        </Link>
      ),
    },
    {
      id: 'variant',
      head: common.variant,
      cell: ({ variant, from_input_tokens: from }) =>
        [
          ...(variant === 'default' ? [] : [tierName(selling.tiers, variant)]),
          ...(from === 0 ? [] : [selling.band(formatCount(from, language))]),
        ].join(' · '),
    },
    { id: 'amount', head: common.amount, money: ({ amount }) => amount },
    { id: 'unit', head: common.unit, cell: (price) => <UnitText unit={price.unit} perQuantity={price.per_quantity} /> },
    { id: 'state', head: common.state, cell: ({ id }) => <Status of={states.get(id) ?? 'past'} /> },
    {
      id: 'since',
      head: words.since,
      cell: ({ effective_from: at, withdrawn_at: end }) => (
        <>
          <Time at={at} />
          {end !== null && (
            <span className="muted small-text">
              {' '}
              {selling.model.withdrawn} <Time at={end} />
            </span>
          )}
        </>
      ),
    },
    { id: 'by', head: words.by, isHidden: true, cell: (price) => price.created_by },
  ];
  return (
    <section className="card">
      {items.length === 0 ? (
        <Empty>{words.none}</Empty>
      ) : (
        <Table label={shell.pages.prices} name="prices" columns={columns} rows={items} isLinked />
      )}
    </section>
  );
}
