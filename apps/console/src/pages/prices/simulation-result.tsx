import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { call, type CallInput } from '../../api/call';
import type { AdminPriceSimulation } from '../../api/types';
import { Button } from '../../components/button';
import { MoneyBars } from './money-bars';
import { Card, Notice } from '../../components/page';
import { Empty } from '../../components/states';
import { type Column, TableCard } from '../../components/table';
import { Tile } from '../../components/tile';
import { Money } from '../../components/values';
import { fromMicros, toMicros } from '../../format/money';
import { formatCount } from '../../format/number';
import { formatDay } from '../../format/time';
import { useLanguage, useMessages } from '../../messages/language';

const BARS_MAX = 8;

type Sum = AdminPriceSimulation['total'];

type Asked = CallInput<'POST /admin/price-simulations'>;

/** Charges past usage again. A run that nobody waits for any more is given up, also at the server. */
export function useSimulation() {
  const running = useRef<AbortController>(null);
  const stop = () => running.current?.abort();
  useEffect(() => stop, []);
  const { mutate, reset, data, error, isPending } = useMutation({
    mutationFn: (asked: Asked) => {
      stop();
      const begun = new AbortController();
      running.current = begun;
      return call('POST /admin/price-simulations', asked, { signal: begun.signal });
    },
  });
  return {
    mutate,
    data,
    error,
    isPending,
    reset: () => {
      stop();
      reset();
    },
  };
}

/** That a simulation failed beside what it is only a help for, and a way to one that takes less. */
export function SimulationFailed({ of: failure, onFewer }: { readonly of: Error; readonly onFewer: () => void }) {
  const { simulation: words } = useMessages().selling;
  return (
    <Notice tone="warn">
      <div className="row between">
        <span className="prose">{words.failed}</span>
        <Button look="small" label={words.fewerDays} onClick={onFewer} />
      </div>
      <p lang="en" className="small-text">
        {failure.message}
      </p>
    </Notice>
  );
}

/** What usage brought, and would have brought at other prices. */
export function SimulationResult({ of: result }: { readonly of: AdminPriceSimulation }) {
  const { messages, language } = useLanguage();
  const { selling, common } = messages;
  const { simulation: words } = selling;
  const sums = useSums();
  const { total } = result;
  const days = words.days(formatDay(result.from, language), formatDay(result.to, language));
  if (total.records === 0)
    return (
      <section className="card">
        <Empty>{`${days} ${words.none}`}</Empty>
      </section>
    );
  return (
    <div className="stack">
      <p className="muted" role="status">
        {days} {words.records(formatCount(total.records, language))}
      </p>
      <Totals of={total} />
      {total.records_without_cost > 0 && (
        <Notice tone="warn">{words.withoutCost(formatCount(total.records_without_cost, language))}</Notice>
      )}
      {result.unpriced_records > 0 && (
        <p className="muted small-text">{words.unpriced(formatCount(result.unpriced_records, language))}</p>
      )}
      <Card title={words.byModel}>
        <MoneyBars
          rows={result.models.slice(0, BARS_MAX).map((sum) => ({
            name: sum.model,
            bars: [
              { label: words.before, earned: sum.earned_before, cost: costOf(sum) },
              { label: words.after, earned: sum.earned_after, cost: costOf(sum) },
            ],
          }))}
        />
      </Card>
      <TableCard
        label={words.models}
        name="simulated-models"
        rows={result.models}
        columns={[{ id: 'model', head: common.model, cell: ({ model }) => <Name of={model} /> }, ...sums]}
        keyOf={({ model }) => model}
      />
      <TableCard
        label={words.accounts}
        name="simulated-accounts"
        rows={result.accounts}
        columns={[
          {
            id: 'account',
            head: common.account,
            cell: (sum) => (
              <Link to="/admin/accounts/$accountId" params={{ accountId: sum.account_id }}>
                {sum.account_name || sum.account_id}
              </Link>
            ),
          },
          ...sums,
        ]}
        keyOf={(sum) => sum.account_id}
      />
    </div>
  );
}

/** In one line; whole under the pointer. */
const Name = ({ of: name }: { readonly of: string }) => (
  <span className="clipped" title={name}>
    {name}
  </span>
);

/** Null while some of it is unknown. */
const costOf = ({ cost, records_without_cost: without }: Sum): string | null => (without > 0 ? null : cost);

function Totals({ of: total }: { readonly of: Sum }) {
  const { selling, common } = useMessages();
  const { simulation: words } = selling;
  const margin = (amount: string | null) =>
    amount === null ? common.unknown : <Money amount={amount} form="headline" />;
  return (
    <div className="tiles">
      <Tile label={common.earned} value={<Money amount={total.earned_before} form="headline" />} />
      <Tile
        label={words.earnedAfter}
        value={<Money amount={total.earned_after} form="headline" />}
        note={<Change from={total.earned_before} to={total.earned_after} />}
      />
      <Tile label={common.margin} value={margin(total.margin_before)} />
      <Tile
        label={words.marginAfter}
        value={margin(total.margin_after)}
        note={
          total.margin_before !== null &&
          total.margin_after !== null && <Change from={total.margin_before} to={total.margin_after} />
        }
      />
    </div>
  );
}

/** How much more or less. */
function Change({ from, to }: { readonly from: string; readonly to: string }) {
  const difference = toMicros(to) - toMicros(from);
  return (
    <span className={difference < 0n ? 'bad-text' : difference > 0n ? 'good-text' : undefined}>
      {difference > 0n && '+'}
      <Money amount={fromMicros(difference)} />
    </span>
  );
}

function useSums(): Column<Sum>[] {
  const { selling, common } = useMessages();
  const { simulation: words } = selling;
  const money = (amount: string | null) => (amount === null ? common.unknown : <Money amount={amount} form="full" />);
  return [
    { id: 'records', head: common.requestsAndTasks, count: ({ records }) => records },
    { id: 'before', head: common.earned, money: (row) => row.earned_before },
    { id: 'after', head: words.earnedAfter, money: (row) => row.earned_after },
    {
      id: 'change',
      head: words.change,
      isNumber: true,
      cell: (row) => <Change from={row.earned_before} to={row.earned_after} />,
    },
    { id: 'cost', head: common.cost, isNumber: true, cell: (row) => money(costOf(row)) },
    { id: 'margin', head: words.marginAfter, isNumber: true, cell: (row) => money(row.margin_after) },
  ];
}
