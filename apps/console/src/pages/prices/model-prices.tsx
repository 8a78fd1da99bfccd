import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRead } from '../../api/queries';
import type { AdminPrice } from '../../api/types';
import { Button } from '../../components/button';
import { Card, Notice, Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table, TableCard } from '../../components/table';
import { Money, None } from '../../components/values';
import { useMessages } from '../../messages/language';
import { PriceEditor } from './price-editor';
import { columnKey, columnsOf, shownQuantity, UnitHead, unitsOf, useColumnName } from './price-grid';
import { amountFor, PriceName, priceStates, PriceTabs, sortOf } from './price-parts';

const route = getRouteApi('/shell/admin/prices/models/$model');

/** The prices of one model: units down, service tiers and bands across. */
export function ModelPricesPage() {
  const { selling } = useMessages();
  const { model: words } = selling;
  const { model } = route.useParams();
  const mayWrite = useMay('admin:write');
  const [isEditing, setEditing] = useState(false);
  const [isDone, setDone] = useState(false);
  const query = useRead('GET /admin/prices', { query: { model, history: 'true' } });
  return (
    <Page
      title={words.title(model)}
      actions={mayWrite && !isEditing && <Button look="primary" label={words.edit} onClick={() => setEditing(true)} />}
    >
      <PriceTabs />
      {isDone && <Notice tone="good">{words.done}</Notice>}
      <Loaded query={query} height={520}>
        {({ items }) => (
          <div className="stack">
            {isEditing ? (
              <PriceEditor
                model={model}
                prices={inForce(items)}
                onClose={(isSet) => {
                  setEditing(false);
                  setDone(isSet);
                }}
              />
            ) : (
              <Card title={words.now} isFlush>
                {inForce(items).length === 0 ? <Empty>{words.none}</Empty> : <Grid prices={inForce(items)} />}
              </Card>
            )}
            {items.length > 0 && <History items={items} />}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

const inForce = (prices: readonly AdminPrice[]): readonly AdminPrice[] => {
  const states = priceStates(prices);
  return prices.filter(({ id }) => states.get(id) === 'active');
};

function Grid({ prices }: { readonly prices: readonly AdminPrice[] }) {
  const { common } = useMessages();
  const { model: words } = useMessages().selling;
  const nameOf = useColumnName();
  const columns: Column<string>[] = [
    { id: 'unit', head: common.unit, cell: (unit) => <UnitHead unit={unit} quantity={shownQuantity(unit, prices)} /> },
    ...columnsOf(prices).map((column) => ({
      id: columnKey(column),
      head: nameOf(column),
      isNumber: true,
      cell: (unit: string) => {
        const price = prices.find((each) => sortOf(each) === sortOf({ ...column, unit }));
        return price ? <Money amount={amountFor(price, shownQuantity(unit, prices))} /> : <None />;
      },
    })),
  ];
  return (
    <Table label={words.now} name="model-prices" columns={columns} rows={unitsOf(prices)} keyOf={(unit) => unit} />
  );
}

function History({ items }: { readonly items: readonly AdminPrice[] }) {
  const { selling, common, admin } = useMessages();
  const { model: words } = selling;
  const states = priceStates(items);
  const columns: Column<AdminPrice>[] = [
    { id: 'price', head: common.unit, cell: (price) => <PriceName of={price} /> },
    { id: 'amount', head: common.amount, money: ({ amount }) => amount },
    { id: 'state', head: common.state, cell: ({ id }) => <Status of={states.get(id) ?? 'past'} /> },
    { id: 'since', head: admin.prices.since, time: ({ effective_from: at }) => at },
    { id: 'withdrawn', head: words.withdrawn, time: ({ withdrawn_at: at }) => at },
    {
      id: 'by',
      head: admin.prices.by,
      cell: ({ created_by: by, proposal_id: proposal }) =>
        proposal === null ? (
          by
        ) : (
          <Link to="/admin/prices/proposals/$proposalId" params={{ proposalId: proposal }}>
            {words.fromProposal}
          </Link>
        ),
    },
  ];
  return <TableCard label={words.history} name="model-history" columns={columns} rows={items} />;
}
