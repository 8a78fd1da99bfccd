import { getRouteApi } from '@tanstack/react-router';
import { useRead } from '../../api/queries';
import type { AdminMargin, AdminMargins } from '../../api/types';
import { DayRangeFilters } from '../../components/day-range';
import { Card, Notice, Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { type Column, Table } from '../../components/table';
import { Tile } from '../../components/tile';
import { Money, None } from '../../components/values';
import { formatCount } from '../../format/number';
import { dayAgo, formatDay } from '../../format/time';
import { useLanguage, useMessages } from '../../messages/language';

const route = getRouteApi('/shell/admin/margins');
const DEFAULT_DAYS = 6;
const PARTS = ['day', 'upstream', 'model'] as const;

export function MarginsPage() {
  const { admin, money, common } = useMessages();
  const { margins: words } = admin;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const range = { from: search.from ?? dayAgo(DEFAULT_DAYS), to: search.to ?? dayAgo(0) };
  const by = search.by ?? 'upstream,model';
  const margins = useRead('GET /admin/margins', { query: { ...range, group_by: by } });
  return (
    <Page title={words.title} lead={words.lead}>
      <DayRangeFilters
        range={range}
        parts={PARTS}
        names={{ day: money.usage.day, upstream: words.upstream, model: common.model }}
        chosen={by.split(',')}
        onChange={(part) => void navigate({ search: (before) => ({ ...before, ...part }), replace: true })}
      />
      <Loaded query={margins} height={360}>
        {(data) =>
          data.items.length === 0 ? (
            <section className="card">
              <Empty>{words.none}</Empty>
            </section>
          ) : (
            <Margins data={data} by={by.split(',')} />
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

function Margins({ data, by }: { readonly data: AdminMargins; readonly by: readonly string[] }) {
  const { admin, common } = useMessages();
  const { margins: words } = admin;
  const { total } = data;
  return (
    <div className="stack">
      <div className="tiles">
        <Tile label={words.earned} value={<Money amount={total.earned} form="headline" />} />
        <Tile
          label={words.cost}
          value={isCostKnown(total) ? <Money amount={total.cost} form="headline" /> : common.unknown}
        />
        <Tile
          label={words.margin}
          value={total.margin === null ? common.unknown : <Money amount={total.margin} form="headline" />}
        />
      </div>
      {total.tasks_without_cost > 0 && <Notice tone="warn">{words.withoutCost(total.tasks_without_cost)}</Notice>}
      <Card title={words.sums} isFlush>
        <Sums items={data.items} by={by} />
      </Card>
    </div>
  );
}

function Sums({ items, by }: { readonly items: readonly AdminMargin[]; readonly by: readonly string[] }) {
  const { messages, language } = useLanguage();
  const { admin, common, money } = messages;
  const { margins: words } = admin;
  const number = (value: number) => formatCount(value, language);
  const part: Readonly<Record<string, Column<AdminMargin>>> = {
    day: { id: 'day', head: money.usage.day, cell: ({ day }) => (day === null ? <None /> : formatDay(day, language)) },
    upstream: { id: 'upstream', head: words.upstream, cell: ({ upstream }) => upstream ?? <None /> },
    model: { id: 'model', head: common.model, cell: ({ model }) => model ?? <None /> },
  };
  const columns: Column<AdminMargin>[] = [
    ...by.flatMap((name) => part[name] ?? []),
    { id: 'tasks', head: words.tasks, isNumber: true, cell: ({ tasks }) => number(tasks) },
    { id: 'completed', head: words.completed, isNumber: true, cell: (row) => number(row.completed_tasks) },
    { id: 'earned', head: words.earned, isNumber: true, cell: ({ earned }) => <Money amount={earned} form="full" /> },
    {
      id: 'vendor',
      head: words.vendorTook,
      isNumber: true,
      cell: ({ costs }) =>
        costs.length === 0 ? <None /> : costs.map(({ unit, amount }) => `${amount} ${unit}`).join(', '),
    },
    {
      id: 'cost',
      head: words.cost,
      isNumber: true,
      cell: (row) => (isCostKnown(row) ? <Money amount={row.cost} form="full" /> : common.unknown),
    },
    {
      id: 'margin',
      head: words.margin,
      isNumber: true,
      cell: ({ margin }) => (margin === null ? common.unknown : <Money amount={margin} form="full" />),
    },
  ];
  return (
    <Table
      label={words.sums}
      name={`margins.${by.join('-')}`}
      columns={columns}
      rows={items}
      keyOf={(row) => `${row.day} ${row.upstream} ${row.model}`}
    />
  );
}
