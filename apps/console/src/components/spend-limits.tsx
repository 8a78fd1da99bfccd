import type { ConsoleSpendLimit, ConsoleTagLimit } from '../api/types';
import { useMessages } from '../messages/language';
import { type Column, Table } from './table';
import { Money, Time } from './values';

/** How far the limits of the day and the month are used, and when they begin again. */
export function SpendLimits({ of: limits }: { readonly of: readonly ConsoleSpendLimit[] }) {
  const { keys } = useMessages();
  return limits.map(({ period, limit, spent, held, resets_at: resetsAt }) => (
    <p key={period}>
      {keys.limitOf[period]}: <Money amount={spent} />{' '}
      {/[1-9]/.test(held) && (
        <>
          + <Money amount={held} />{' '}
        </>
      )}
      {keys.limitUsed} <Money amount={limit} />
      <span className="muted">
        , {keys.limitResets} <Time at={resetsAt} absolute withZone />
      </span>
    </p>
  ));
}

interface TagLimitTableProps {
  readonly items: readonly ConsoleTagLimit[];
  readonly empty?: string;
}

/** What the work under tags may cost, and has cost. */
export function TagLimitTable({ items, empty }: TagLimitTableProps) {
  const { common, money } = useMessages();
  const { tags: words } = money;
  const limit = (amount: string | null) => (amount === null ? common.unlimited : <Money amount={amount} />);
  const columns: Column<ConsoleTagLimit>[] = [
    { id: 'tag', head: words.tag, cell: ({ tag }) => tag },
    { id: 'today', head: words.today, isNumber: true, cell: (row) => <Money amount={row.spent_today} /> },
    { id: 'daily', head: words.daily, isNumber: true, cell: (row) => limit(row.daily_limit) },
    { id: 'month', head: words.month, isNumber: true, cell: (row) => <Money amount={row.spent_this_month} /> },
    { id: 'monthly', head: words.monthly, isNumber: true, cell: (row) => limit(row.monthly_limit) },
    { id: 'held', head: common.held, isNumber: true, cell: ({ held }) => <Money amount={held} /> },
  ];
  return (
    <Table
      label={common.tagLimits}
      name="tag-limits"
      columns={columns}
      rows={items}
      keyOf={({ tag }) => tag}
      {...(empty !== undefined && { empty })}
    />
  );
}
