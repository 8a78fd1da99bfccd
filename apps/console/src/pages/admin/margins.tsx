import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { useRead } from '../../api/queries';
import type { AdminMargin, AdminMargins } from '../../api/types';
import { type DayRange, DayRangeFilters } from '../../components/day-range';
import { MoneyBars } from '../prices/money-bars';
import { Card, Notice, Page } from '../../components/page';
import { Empty, Loaded, Skeleton } from '../../components/states';
import { type Column, Table } from '../../components/table';
import { Tile } from '../../components/tile';
import { Id, Money } from '../../components/values';
import { toMicros } from '../../format/money';
import { formatCount } from '../../format/number';
import { dayAgo, formatDay } from '../../format/time';
import { useLanguage, useMessages } from '../../messages/language';
import { CHART_HEIGHT, type DaySeries, listDays } from '../usage/series';

const DayChart = lazy(() => import('../usage/usage-chart').then(({ DayChart: Chart }) => ({ default: Chart })));

const route = getRouteApi('/shell/admin/margins');
const DEFAULT_DAYS = 29;
const BARS_MAX = 8;
const MICROS = 1_000_000;
const PARTS = ['day', 'upstream', 'model', 'account', 'kind', 'band', 'tag'] as const;

export function MarginsPage() {
  const { admin, money, common, shell } = useMessages();
  const { margins: words } = admin;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const range = { from: search.from ?? dayAgo(DEFAULT_DAYS), to: search.to ?? dayAgo(0) };
  const by = search.by ?? 'upstream,model';
  const margins = useRead('GET /admin/margins', { query: { ...range, group_by: by } });
  return (
    <Page title={shell.pages.margins} lead={words.lead}>
      <DayRangeFilters
        range={range}
        parts={PARTS}
        names={{ day: money.usage.day, upstream: common.upstream, model: common.model, ...words.parts }}
        chosen={by.split(',')}
        onChange={(part) => void navigate({ search: (before) => ({ ...before, ...part }), replace: true })}
      />
      <Loaded query={margins} height={920}>
        {(data) =>
          data.items.length === 0 ? (
            <section className="card">
              <Empty>{words.none}</Empty>
            </section>
          ) : (
            <Margins data={data} by={by.split(',')} range={range} />
          )
        }
      </Loaded>
    </Page>
  );
}

/** Whether the cost is known: a missing cost is not zero. */
const isCostKnown = ({
  completed_tasks: completed,
  tasks_without_cost: without,
}: Pick<AdminMargin, 'completed_tasks' | 'tasks_without_cost'>): boolean => without === 0 || without < completed;

interface MarginsProps {
  readonly data: AdminMargins;
  readonly by: readonly string[];
  readonly range: DayRange;
}

function Margins({ data, by, range }: MarginsProps) {
  const { admin, common } = useMessages();
  const { margins: words } = admin;
  const { total } = data;
  return (
    <div className="stack">
      <div className="tiles">
        <Tile label={common.earned} value={<Money amount={total.earned} form="headline" />} />
        <Tile
          label={common.cost}
          value={isCostKnown(total) ? <Money amount={total.cost} form="headline" /> : common.unknown}
        />
        <Tile
          label={common.margin}
          value={total.margin === null ? common.unknown : <Money amount={total.margin} form="headline" />}
        />
      </div>
      {total.tasks_without_cost > 0 && <Notice tone="warn">{words.withoutCost(total.tasks_without_cost)}</Notice>}
      <Charts range={range} />
      <Card title={common.totals} isFlush>
        <Sums items={data.items} by={by} />
      </Card>
    </div>
  );
}

/** What was earned by day and by model, and what of it vendors took. */
function Charts({ range }: { readonly range: DayRange }) {
  const { margins: words } = useMessages().admin;
  const byDay = useRead('GET /admin/margins', { query: { ...range, group_by: 'day' } });
  const byModel = useRead('GET /admin/margins', { query: { ...range, group_by: 'model' } });
  return (
    <>
      <Card title={words.byDay}>
        <Loaded query={byDay} height={CHART_HEIGHT}>
          {(data) => (
            <Suspense fallback={<Skeleton height={CHART_HEIGHT} />}>
              <ByDay data={data} />
            </Suspense>
          )}
        </Loaded>
      </Card>
      <Card title={words.byModel}>
        <Loaded query={byModel} height={CHART_HEIGHT}>
          {({ items }) => (
            <MoneyBars
              rows={items
                .toSorted((one, other) => Number(toMicros(other.earned) - toMicros(one.earned)))
                .slice(0, BARS_MAX)
                .map((row) => ({
                  name: row.model ?? '–',
                  bars: [{ earned: row.earned, cost: row.margin === null ? null : row.cost }],
                }))}
            />
          )}
        </Loaded>
      </Card>
    </>
  );
}

function ByDay({ data }: { readonly data: AdminMargins }) {
  const { admin, selling } = useMessages();
  const shown = useMemo(() => daysOf(data, selling.bars), [data, selling.bars]);
  return <DayChart of={shown} label={admin.margins.byDay} />;
}

/** Of each day what vendors took of its earnings, and what stayed, or was lost. Together the first two are what was earned. */
function daysOf(data: AdminMargins, words: Readonly<Record<'cost' | 'margin' | 'loss', string>>): DaySeries {
  const days = listDays(data);
  const known = new Map(data.items.map((row) => [row.day, row]));
  const amounts = (of: (earned: number, cost: number) => number) =>
    days.map((day) => {
      const row = known.get(day);
      return row ? Math.max(0, of(Number(toMicros(row.earned)), Number(toMicros(row.cost)))) / MICROS : 0;
    });
  return {
    days,
    series: [
      { name: words.cost, color: '--series-6', amounts: amounts((earned, cost) => Math.min(earned, cost)) },
      { name: words.margin, color: '--series-5', amounts: amounts((earned, cost) => earned - cost) },
      { name: words.loss, color: '--bad-fill', amounts: amounts((earned, cost) => cost - earned) },
    ],
  };
}

function Sums({ items, by }: { readonly items: readonly AdminMargin[]; readonly by: readonly string[] }) {
  const { messages, language } = useLanguage();
  const { admin, common, money } = messages;
  const { margins: words } = admin;
  const number = (value: number) => formatCount(value, language);
  const part: Readonly<Record<string, Column<AdminMargin>>> = {
    day: { id: 'day', head: money.usage.day, cell: ({ day }) => day && formatDay(day, language) },
    upstream: { id: 'upstream', head: common.upstream, cell: ({ upstream }) => upstream },
    model: { id: 'model', head: common.model, cell: ({ model }) => model },
    account: {
      id: 'account',
      head: words.parts.account,
      cell: ({ account }) => account && <Id id={account} name={words.parts.account} />,
    },
    kind: { id: 'kind', head: words.parts.kind, cell: ({ kind }) => kind },
    band: { id: 'band', head: words.parts.band, isNumber: true, cell: ({ band }) => words.from(number(band ?? 0)) },
    tag: { id: 'tag', head: words.parts.tag, cell: ({ tag }) => tag },
  };
  const columns: Column<AdminMargin>[] = [
    ...by.flatMap((name) => part[name] ?? []),
    { id: 'tasks', head: common.requestsAndTasks, isNumber: true, cell: ({ tasks }) => number(tasks) },
    { id: 'completed', head: words.completed, isNumber: true, cell: (row) => number(row.completed_tasks) },
    { id: 'earned', head: common.earned, money: ({ earned }) => earned },
    {
      id: 'vendor',
      head: words.vendorTook,
      isNumber: true,
      cell: ({ costs }) => costs.map(({ unit, amount }) => `${amount} ${unit}`).join(', '),
    },
    {
      id: 'cost',
      head: common.cost,
      isNumber: true,
      cell: (row) => (isCostKnown(row) ? <Money amount={row.cost} form="full" /> : common.unknown),
    },
    {
      id: 'margin',
      head: common.margin,
      isNumber: true,
      cell: ({ margin }) => (margin === null ? common.unknown : <Money amount={margin} form="full" />),
    },
  ];
  return (
    <Table
      label={common.totals}
      name={`margins.${by.join('-')}`}
      columns={columns}
      rows={items}
      keyOf={(row) => PARTS.map((part) => row[part] ?? '').join(' ')}
    />
  );
}
