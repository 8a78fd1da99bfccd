import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { AdminAgentSession, AdminSessionRequest, ConsoleAgentSession, ConsoleUsageRecord } from '../../api/types';
import { TextField } from '../../components/fields';
import { ListCard } from '../../components/list';
import { Page } from '../../components/page';
import { Empty } from '../../components/states';
import { Status } from '../../components/status';
import type { Column } from '../../components/table';
import { Money, None, ShortId, Time } from '../../components/values';
import { formatCount, formatShare } from '../../format/number';
import { formatSeconds } from '../../format/time';
import { useLanguage, useMessages } from '../../messages/language';

const route = getRouteApi('/shell/agent-sessions');
const adminRoute = getRouteApi('/shell/admin/agent-sessions');

/** How long somebody must have stopped typing before the server searches, in milliseconds. */
const SEARCH_AFTER_MS = 300;

/** What the agents of the account did, session by session, and the requests of the one that is chosen. */
export function AgentSessionsPage() {
  const { sessions: words } = useMessages().money;
  const { session, text } = route.useSearch();
  const navigate = route.useNavigate();
  const sums = useSums<ConsoleAgentSession>();
  const shown = useRequestColumns<ConsoleUsageRecord>();
  if (session !== undefined)
    return (
      <Requests session={session} back={<Link to="/agent-sessions">{words.all}</Link>}>
        <ListCard
          route="GET /agent-sessions/requests"
          input={{ query: { session } }}
          label={words.requests}
          name="session-requests"
          columns={shown}
          keyOf={({ id }) => id}
          empty={<Empty>{words.noRequests}</Empty>}
        />
      </Requests>
    );
  const columns: Column<ConsoleAgentSession>[] = [
    {
      id: 'session',
      head: words.session,
      cell: (row) => (
        <Link to="/agent-sessions" search={{ session: row.session }}>
          <ShortId of={row.session} />
        </Link>
      ),
    },
    ...sums,
  ];
  return (
    <Page title={words.title} lead={words.lead}>
      <Search
        label={words.search}
        value={text ?? ''}
        onChange={(next) => void navigate({ search: next === '' ? {} : { text: next }, replace: true })}
      />
      <ListCard
        route="GET /agent-sessions"
        input={{ query: text === undefined ? {} : { text } }}
        label={words.title}
        name="agent-sessions"
        columns={columns}
        keyOf={(row) => row.session}
        isLinked
        empty={<Empty>{text === undefined ? words.empty : words.noneFits}</Empty>}
      />
    </Page>
  );
}

/** The same over all accounts, with what only operators see. */
export function AdminAgentSessionsPage() {
  const { sessions: words } = useMessages().money;
  const { session, text, account_id: accountId } = adminRoute.useSearch();
  const navigate = adminRoute.useNavigate();
  const sums = useSums<AdminAgentSession>();
  const shown = useRequestColumns<AdminSessionRequest>();
  const columns: Column<AdminAgentSession>[] = [
    {
      id: 'session',
      head: words.session,
      cell: (row) => (
        <Link to="/admin/agent-sessions" search={{ session: row.session, account_id: row.account_id }}>
          <ShortId of={row.session} />
        </Link>
      ),
    },
    { id: 'account', head: words.account, cell: (row) => <ShortId of={row.account_id} /> },
    ...sums,
  ];
  if (session !== undefined && accountId !== undefined)
    return (
      <Requests session={session} back={<Link to="/admin/agent-sessions">{words.all}</Link>}>
        <ListCard
          route="GET /admin/agent-sessions/requests"
          input={{ query: { session, account_id: accountId } }}
          label={words.requests}
          name="admin-session-requests"
          columns={[
            ...shown.map((column) => (column.id === 'took' ? { ...column, isHidden: true } : column)),
            { id: 'upstream', head: words.upstream, cell: ({ upstream }) => upstream },
            {
              id: 'cost',
              head: words.cost,
              isNumber: true,
              cell: ({ cost_worth: cost }) => cost && <Money amount={cost} form="full" />,
            },
          ]}
          keyOf={({ id }) => id}
          empty={<Empty>{words.noRequests}</Empty>}
        />
      </Requests>
    );
  return (
    <Page title={words.adminTitle} lead={words.lead}>
      <Search
        label={words.search}
        value={text ?? ''}
        onChange={(next) => void navigate({ search: next === '' ? {} : { text: next }, replace: true })}
      />
      <ListCard
        route="GET /admin/agent-sessions"
        input={{ query: text === undefined ? {} : { text } }}
        label={words.adminTitle}
        name="admin-agent-sessions"
        columns={columns}
        keyOf={(row) => `${row.account_id} ${row.session}`}
        isLinked
        empty={<Empty>{text === undefined ? words.empty : words.noneFits}</Empty>}
      />
    </Page>
  );
}

function Requests({
  session,
  back,
  children,
}: {
  readonly session: string;
  readonly back: React.ReactNode;
  readonly children: React.ReactNode;
}) {
  const { sessions: words } = useMessages().money;
  return (
    <Page title={words.one} lead={<span className="break">{session}</span>} actions={back}>
      {children}
    </Page>
  );
}

function Search({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const { common } = useMessages();
  const [typed, setTyped] = useState(value);
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => onChange(typed), SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  });
  return (
    <form className="filters" role="search" aria-label={common.filter} onSubmit={(event) => event.preventDefault()}>
      <TextField label={label} type="search" maxLength={256} value={typed} onType={setTyped} />
    </form>
  );
}

type Tokens = Pick<ConsoleUsageRecord, 'input_tokens' | 'cached_input_tokens'>;

/** How much of the input the vendor had in its cache. */
const CachedShare = ({ of: { input_tokens: input, cached_input_tokens: cached } }: { readonly of: Tokens }) => {
  const { language } = useLanguage();
  return input === 0 ? <None /> : <>{formatShare(cached / input, language)}</>;
};

function useSums<Row extends ConsoleAgentSession>(): Column<Row>[] {
  const { messages, language } = useLanguage();
  const { money, common } = messages;
  const { sessions: words } = money;
  return [
    { id: 'time', head: words.last, cell: ({ time }) => <Time at={time} /> },
    { id: 'began', head: words.began, isHidden: true, cell: ({ began_at: at }) => <Time at={at} /> },
    { id: 'models', head: words.models, cell: ({ models }) => models.join(', ') },
    {
      id: 'requests',
      head: money.usage.requests,
      isNumber: true,
      cell: ({ requests }) => formatCount(requests, language),
    },
    {
      id: 'failed',
      head: money.usage.failed,
      isNumber: true,
      isHidden: true,
      cell: ({ failed_requests: failed }) => formatCount(failed, language),
    },
    { id: 'agents', head: words.agents, isNumber: true, cell: ({ agents }) => formatCount(agents, language) },
    { id: 'user', head: words.endUser, isHidden: true, cell: ({ end_user: user }) => user },
    { id: 'cached', head: words.cached, isNumber: true, cell: (row) => <CachedShare of={row} /> },
    { id: 'amount', head: common.amount, isNumber: true, cell: ({ amount }) => <Money amount={amount} form="full" /> },
  ];
}

function useRequestColumns<Row extends ConsoleUsageRecord>(): Column<Row>[] {
  const { messages, language } = useLanguage();
  const { money, common, tasks } = messages;
  const { sessions: words } = money;
  return [
    { id: 'time', head: common.time, cell: ({ time }) => <Time at={time} isClock /> },
    { id: 'model', head: common.model, cell: ({ model }) => model },
    { id: 'agent', head: words.agent, cell: ({ agent }) => agent && <ShortId of={agent} /> },
    { id: 'state', head: common.state, cell: ({ status }) => <Status of={status} /> },
    {
      id: 'input',
      head: money.usage.input,
      isNumber: true,
      cell: (row) => formatCount(row.input_tokens, language),
    },
    { id: 'cached', head: words.cached, isNumber: true, cell: (row) => <CachedShare of={row} /> },
    {
      id: 'output',
      head: money.usage.output,
      isNumber: true,
      cell: (row) => formatCount(row.output_tokens, language),
    },
    {
      id: 'took',
      head: money.usage.duration,
      isNumber: true,
      cell: ({ duration_ms: ms }) => (ms === null ? <None /> : formatSeconds(ms / 1000, language)),
    },
    { id: 'request', head: tasks.requestId, isHidden: true, cell: (row) => <ShortId of={row.request_id} /> },
    { id: 'amount', head: common.amount, isNumber: true, cell: ({ amount }) => <Money amount={amount} form="full" /> },
  ];
}
