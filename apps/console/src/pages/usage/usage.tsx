import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { pathOf } from '../../api/call';
import { useMay, useRead } from '../../api/queries';
import type { ConsoleUsage, ConsoleUsageRecord, ConsoleUsageSum } from '../../api/types';
import { Button } from '../../components/button';
import { type DayRange, DayRangeFilters } from '../../components/day-range';
import { TextField } from '../../components/fields';
import { Icon } from '../../components/icons';
import { ListCard } from '../../components/list';
import { Card, Page } from '../../components/page';
import { TagLimitTable } from '../../components/spend-limits';
import { Empty, Loaded, Skeleton } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { Money, None, ShortId } from '../../components/values';
import { formatCount, shortId } from '../../format/number';
import { dayAgo, formatDay, formatSeconds } from '../../format/time';
import { useLanguage, useMessages } from '../../messages/language';
import { CHART_HEIGHT } from './series';

const UsageChart = lazy(() => import('./usage-chart'));
const route = getRouteApi('/shell/usage');
const DEFAULT_DAYS = 29;
const PARTS = ['day', 'model', 'key', 'tag'] as const;
const DEFAULT_PARTS = 'day,model';

export function UsagePage() {
  const { money, common, tasks, shell } = useMessages();
  const mayRun = useMay('tasks:run');
  const search = route.useSearch();
  const { tag, from, to } = search;
  const by = tag === undefined ? (search.by ?? DEFAULT_PARTS) : ofTags(search.by ?? DEFAULT_PARTS);
  // Days that nobody chose are left to the server: it knows the day of the account's time zone.
  const days = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const narrowed = { ...days, ...(tag !== undefined && { tag }) };
  const asked = { ...narrowed, group_by: by };
  const usage = useRead('GET /usage', { query: asked });
  const range = { from: from ?? usage.data?.from ?? dayAgo(DEFAULT_DAYS), to: to ?? usage.data?.to ?? dayAgo(0) };
  const navigate = route.useNavigate();
  const showRecords = () => void navigate({ search: (before) => ({ ...before, records: 'true' }), resetScroll: false });
  return (
    <Page
      title={shell.pages.usage}
      actions={
        <a className="button" href={pathOf('/usage', {}, { ...asked, format: 'csv' })} download>
          <Icon name="download" />
          {common.downloadCsv}
        </a>
      }
    >
      <Filters range={range} by={by} timeZone={usage.data?.time_zone ?? '…'} />
      <Loaded query={usage} height={560}>
        {(data) =>
          data.items.length === 0 ? (
            <section className="card">
              <Empty
                action={
                  mayRun && (
                    <Link className="button primary" to="/playground" search={{}}>
                      {tasks.makeOne}
                    </Link>
                  )
                }
              >
                {money.usage.empty}
              </Empty>
            </section>
          ) : (
            <Usage data={data} by={by.split(',')} />
          )
        }
      </Loaded>
      <TagLimits />
      {search.records === 'true' || search.request_id !== undefined ? (
        <Records of={search.request_id === undefined ? narrowed : { request_id: search.request_id }} />
      ) : (
        <p>
          <Button label={money.usage.showRecords} onClick={showRecords} />
        </p>
      )}
    </Page>
  );
}

interface FiltersProps {
  readonly range: DayRange;
  readonly by: string;
  readonly timeZone: string;
}

function Filters({ range, by, timeZone }: FiltersProps) {
  const { money, common } = useMessages();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const find = (id: string) =>
    void navigate({
      search: (before) => ({ ...before, request_id: id || undefined }),
      replace: true,
      resetScroll: false,
    });
  return (
    <DayRangeFilters
      range={range}
      timeZone={timeZone}
      parts={PARTS}
      offered={search.tag === undefined ? PARTS : TAG_PARTS}
      names={{ day: money.usage.day, model: common.model, key: common.key, tag: money.tags.tag }}
      chosen={by.split(',')}
      onChange={({ by: next, ...part }) =>
        void navigate({
          search: (before) => ({ ...before, ...part, ...(next !== undefined && { by: combined(next, by) }) }),
          replace: true,
        })
      }
    >
      <TextField
        label={money.tags.filter}
        type="search"
        maxLength={64}
        value={search.tag ?? ''}
        onChange={(event) =>
          void navigate({
            search: (before) => ({ ...before, tag: event.target.value.trim() || undefined }),
            replace: true,
            resetScroll: false,
          })
        }
      />
      <TextField
        label={common.requestId}
        type="search"
        value={search.request_id ?? ''}
        onType={(value) => find(value.trim())}
      />
    </DayRangeFilters>
  );
}

/** Sums by tag are kept for each day alone. */
const TAG_PARTS = ['day', 'tag'] as const;
const isOfTags = (part: string): boolean => part === 'tag' || part === 'day';

/** What the sums of one tag are grouped by. */
const ofTags = (by: string): string => by.split(',').filter(isOfTags).join(',') || 'tag';

/** What is grouped by once a box is ticked or not. */
function combined(next: string, before: string): string {
  const parts = next.split(',');
  if (!parts.includes('tag') || parts.every(isOfTags)) return next;
  const isNew = !before.split(',').includes('tag');
  return parts.filter((part) => (isNew ? isOfTags(part) : part !== 'tag')).join(',');
}

/** What the work under tags may cost, where an operator has set it. */
function TagLimits() {
  const { common } = useMessages();
  const { data } = useRead('GET /tag-limits', {});
  if (!data || data.items.length === 0) return null;
  return (
    <Card title={common.tagLimits} isFlush>
      <TagLimitTable items={data.items} />
    </Card>
  );
}

function Usage({ data, by }: { readonly data: ConsoleUsage; readonly by: readonly string[] }) {
  const { money, common } = useMessages();
  return (
    <div className="stack">
      {by.includes('day') && (
        <Card title={money.usage.chart(data.time_zone)}>
          <Suspense fallback={<Skeleton height={CHART_HEIGHT} />}>
            <UsageChart data={data} />
          </Suspense>
        </Card>
      )}
      <Card
        title={common.totals}
        actions={
          <strong className="strong">
            <Money amount={data.total.amount} form="full" />
          </strong>
        }
        isFlush
      >
        <Sums data={data} by={by} />
      </Card>
    </div>
  );
}

function Sums({ data, by }: { readonly data: ConsoleUsage; readonly by: readonly string[] }) {
  const { messages, language } = useLanguage();
  const { money, common } = messages;
  const number = (value: number) => formatCount(value, language);
  const part: Readonly<Record<string, Column<ConsoleUsageSum>>> = {
    day: {
      id: 'day',
      head: money.usage.day,
      cell: ({ day }) => day && <time dateTime={day}>{formatDay(day, language)}</time>,
    },
    model: { id: 'model', head: common.model, cell: ({ model }) => model },
    tag: { id: 'tag', head: money.tags.tag, cell: ({ tag }) => tag },
    key: { id: 'key', head: common.key, cell: ({ api_key_id: id }) => id && (data.key_names[id] ?? shortId(id)) },
  };
  const columns: Column<ConsoleUsageSum>[] = [
    ...by.flatMap((name) => part[name] ?? []),
    { id: 'requests', head: money.usage.requests, isNumber: true, cell: ({ requests }) => number(requests) },
    { id: 'failed', head: common.failed, isNumber: true, cell: ({ failed_requests: failed }) => number(failed) },
    {
      id: 'quantity',
      head: money.usage.quantity,
      isNumber: true,
      isHidden: true,
      cell: ({ quantity }) => number(quantity),
    },
    { id: 'input', head: money.usage.input, isNumber: true, cell: (sum) => number(sum.input_tokens) },
    { id: 'output', head: money.usage.output, isNumber: true, cell: (sum) => number(sum.output_tokens) },
    { id: 'amount', head: common.amount, money: ({ amount }) => amount },
  ];
  return (
    <Table
      label={common.totals}
      name={`usage.${by.join('-')}`}
      columns={columns}
      rows={data.items}
      keyOf={(sum) => `${sum.day} ${sum.model} ${sum.api_key_id} ${sum.tag}`}
    />
  );
}

/** The records of days, or of one request on whatever day. */
function Records({
  of: asked,
}: {
  readonly of: (Partial<DayRange> & { readonly tag?: string }) | { readonly request_id: string };
}) {
  const { messages, language } = useLanguage();
  const { money, common } = messages;
  const columns: Column<ConsoleUsageRecord>[] = [
    { id: 'model', head: common.model, cell: ({ model }) => model },
    { id: 'state', head: common.state, cell: ({ status }) => <Status of={status} /> },
    { id: 'time', head: common.time, time: ({ time }) => time },
    { id: 'input', head: money.usage.input, count: (record) => record.input_tokens },
    { id: 'output', head: money.usage.output, count: (record) => record.output_tokens },
    {
      id: 'took',
      head: common.took,
      isNumber: true,
      cell: ({ duration_ms: ms }) => (ms === null ? <None /> : formatSeconds(ms / 1000, language)),
    },
    { id: 'request', head: common.requestId, isHidden: true, cell: (record) => <ShortId of={record.request_id} /> },
    { id: 'amount', head: common.amount, money: ({ amount }) => amount },
  ];
  return (
    <ListCard
      route="GET /usage/records"
      input={{ query: asked }}
      label={money.usage.records}
      name="records"
      columns={columns}
      head={<h2>{money.usage.records}</h2>}
      empty={money.usage.empty}
    />
  );
}
