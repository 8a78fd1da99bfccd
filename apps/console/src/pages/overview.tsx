import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useLiveTasks } from '../api/live-tasks';
import { useMay, useRead, useSession } from '../api/queries';
import type { ConsoleOverview } from '../api/types';
import { Card, Notice, Page } from '../components/page';
import { Loaded, Skeleton } from '../components/states';
import { Status } from '../components/status';
import { Tile } from '../components/tile';
import { Money, None, Time } from '../components/values';
import { formatHeadline } from '../format/money';
import { formatCount, formatShare } from '../format/number';
import { useLanguage, useMessages } from '../messages/language';
import { dayAgo } from '../format/time';
import { Gallery } from './tasks/gallery';
import { CHART_HEIGHT } from './usage/series';

const UsageChart = lazy(() => import('./usage/usage-chart'));

export function OverviewPage() {
  const { shell } = useMessages();
  const { sandbox } = useSession();
  const isHolder = useMay('overview:read');
  const isOperator = useMay('admin:read');
  return (
    <Page title={shell.pages.overview}>
      {isHolder && sandbox && <Notice tone="info">{shell.sandbox}</Notice>}
      {isHolder && <AccountOverview />}
      {isOperator && <OperatorOverview />}
    </Page>
  );
}

function AccountOverview() {
  const { overview } = useMessages();
  const query = useRead('GET /overview', {});
  return (
    <Loaded query={query} height={520}>
      {(data) => (
        <div className="stack">
          {data.warnings.map((warning) => (
            <Notice key={warning.code} tone="warn">
              {overview.warnings[warning.code]}
            </Notice>
          ))}
          <Numbers data={data} />
          <FirstSteps data={data} />
          {data.requests_7_days > 0 && <Spending />}
          <Latest data={data} />
        </div>
      )}
    </Loaded>
  );
}

function Numbers({ data }: { readonly data: ConsoleOverview }) {
  const { messages, language } = useLanguage();
  const { overview, common, shell } = messages;
  const { currency } = useSession();
  const { balance } = data;
  const today = dayAgo(0, balance.time_zone);
  const isHeld = /[1-9]/.test(balance.held);
  // A forecast beyond a year is useless.
  const lasts =
    data.days_left === null || data.days_left > 365 ? undefined : shell.daysLeft(Math.floor(data.days_left));
  return (
    <div className="tiles">
      <Link to="/billing" className="tile-around">
        <Tile
          label={common.available}
          value={balance.is_unlimited ? common.unlimited : <Money amount={balance.available} form="headline" />}
          note={isHeld ? overview.held(formatHeadline(balance.held, currency)) : lasts}
        />
      </Link>
      <Link to="/usage" search={{ from: today, to: today }} className="tile-around">
        <Tile label={overview.today(balance.time_zone)} value={<Money amount={data.spent_today} form="headline" />} />
      </Link>
      <Link to="/usage" search={{ from: dayAgo(6, balance.time_zone), to: today }} className="tile-around">
        <Tile label={overview.week} value={<Money amount={data.spent_7_days} form="headline" />} />
      </Link>
      <Link to="/usage" search={{ from: dayAgo(6, balance.time_zone), to: today }} className="tile-around">
        <Tile
          label={overview.success}
          value={
            data.requests_7_days === 0 ? <None /> : formatShare(1 - data.failed_7_days / data.requests_7_days, language)
          }
          note={overview.requests(formatCount(data.requests_7_days, language))}
        />
      </Link>
      <Link to="/tasks" search={{ status: 'in_progress' }} className="tile-around">
        <Tile label={overview.openTasks} value={formatCount(data.open_tasks, language)} />
      </Link>
    </div>
  );
}

/** Money by day of the last 30 days, as the server has them unless asked for others. */
function Spending() {
  const { overview, money } = useMessages();
  const mayReadUsage = useMay('usage:read');
  const usage = useRead('GET /usage', { query: { group_by: 'day,model' } }, { enabled: mayReadUsage });
  if (!mayReadUsage) return null;
  return (
    <Card title={money.usage.chart(usage.data?.time_zone ?? '…')} actions={<Link to="/usage">{overview.seeAll}</Link>}>
      <Loaded query={usage} height={CHART_HEIGHT}>
        {(data) => (
          <Suspense fallback={<Skeleton height={CHART_HEIGHT} />}>
            <UsageChart data={data} />
          </Suspense>
        )}
      </Loaded>
    </Card>
  );
}

/** What a new account does first, until all of it is done. */
function FirstSteps({ data: { checklist } }: { readonly data: ConsoleOverview }) {
  const { overview } = useMessages();
  const mayRun = useMay('tasks:run');
  const mayMakeKeys = useMay('keys:own');
  const steps = [
    { name: 'run', to: '/playground', may: mayRun },
    { name: 'key', to: '/keys', may: mayMakeKeys },
    { name: 'webhook', to: '/webhooks', may: mayRun },
  ] as const;
  const shown = steps.filter(({ may }) => may);
  if (shown.every(({ name }) => checklist[name])) return null;
  return (
    <Card title={overview.start}>
      <ol className="first-steps">
        {shown.map(({ name, to }) => (
          <li key={name}>
            <span aria-hidden="true" className={checklist[name] ? 'copied' : 'muted'}>
              {checklist[name] ? '✓' : '○'}
            </span>
            <Link to={to}>{overview.step[name]}</Link>
            {checklist[name] && <span className="muted small-text">{overview.done}</span>}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Latest({ data }: { readonly data: ConsoleOverview }) {
  const { overview } = useMessages();
  useLiveTasks(data.latest_tasks);
  if (data.latest_tasks.length === 0) return null;
  return (
    <Card title={overview.latest} actions={<Link to="/tasks">{overview.seeAll}</Link>} isFlush>
      <Gallery items={data.latest_tasks} label={overview.latest} />
    </Card>
  );
}

function OperatorOverview() {
  const { messages, language } = useLanguage();
  const { overview, shell } = messages;
  const query = useRead('GET /admin/overview', {});
  return (
    <Loaded query={query} height={140}>
      {(data) => (
        <section className="stack tight" aria-label={overview.operator}>
          <h2>{overview.operator}</h2>
          <div className="tiles">
            <Link to="/admin/tasks" className="tile-around">
              <Tile label={overview.openTasks} value={formatCount(data.open_tasks, language)} />
            </Link>
            <Link to="/admin/tasks" className="tile-around">
              <Tile
                label={overview.needAttention}
                value={formatCount(data.parked_tasks + data.unconfirmed_tasks + data.orphans, language)}
              />
            </Link>
            <Link to="/admin/upstreams" className="tile-around">
              <Tile
                label={shell.pages.upstreams}
                value={formatCount(data.upstreams, language)}
                note={data.upstreams_not_serving > 0 ? overview.notServing(data.upstreams_not_serving) : undefined}
              />
            </Link>
            <Tile label={shell.pages.workers} value={formatCount(data.workers, language)} />
            <Link to="/admin/reconciliation" className="tile-around">
              <Tile
                label={overview.books}
                value={
                  data.last_reconciliation ? (
                    <Status of={data.last_reconciliation.balanced ? 'balanced' : 'broken'} />
                  ) : (
                    <None />
                  )
                }
                note={data.last_reconciliation && <Time at={data.last_reconciliation.finished_at} />}
              />
            </Link>
          </div>
        </section>
      )}
    </Loaded>
  );
}
