import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { AdminAgentSession, AdminSessionRequest, ConsoleAgentSession, ConsoleUsageRecord } from '../../api/types';
import { TextField } from '../../components/fields';
import { Filters } from '../../components/filters';
import { ListCard } from '../../components/list';
import { Page } from '../../components/page';
import { Status } from '../../components/status';
import type { Column } from '../../components/table';
import { None, ShortId, Time } from '../../components/values';
import { formatShare } from '../../format/number';
import { formatSeconds } from '../../format/time';
import { useLanguage, useMessages } from '../../messages/language';

const route = getRouteApi('/shell/agent-sessions');
const adminRoute = getRouteApi('/shell/admin/agent-sessions');

/** How long somebody must have stopped typing before the server searches, in milliseconds. */
const SEARCH_AFTER_MS = 300;

/** What a page of sessions shows: all of them, or the requests of one. */
interface Shown {
  readonly session?: string | undefined;
  readonly text?: string | undefined;
  readonly account_id?: string | undefined;
}

/** What the agents of the account did, session by session, and the requests of the one that is chosen. */
export function AgentSessionsPage() {
  const navigate = route.useNavigate();
  const search = (text: string) => void navigate({ search: text === '' ? {} : { text }, replace: true });
  return <Sessions of={route.useSearch()} onSearch={search} />;
}

/** The same over all accounts, with what only operators see. */
export function AdminAgentSessionsPage() {
  const navigate = adminRoute.useNavigate();
  const search = (text: string) => void navigate({ search: text === '' ? {} : { text }, replace: true });
  return <Sessions of={adminRoute.useSearch()} isAdmin onSearch={search} />;
}

function Sessions({
  of: { session, text, account_id: accountId },
  isAdmin = false,
  onSearch,
}: {
  readonly of: Shown;
  readonly isAdmin?: boolean;
  readonly onSearch: (text: string) => void;
}) {
  const { shell } = useMessages();
  const { common } = useMessages();
  const { sessions: words } = useMessages().money;
  const page = isAdmin ? '/admin/agent-sessions' : '/agent-sessions';
  const sums = useSums();
  if (session !== undefined && (!isAdmin || accountId !== undefined))
    return (
      <Page
        title={words.one}
        lead={<span className="break">{session}</span>}
        actions={<Link to={page}>{words.all}</Link>}
      >
        <Requests session={session} accountId={accountId} />
      </Page>
    );
  const columns: Column<ConsoleAgentSession | AdminAgentSession>[] = [
    {
      id: 'session',
      head: common.session,
      cell: (row) => (
        <Link to={page} search={{ session: row.session, ...('account_id' in row && { account_id: row.account_id }) }}>
          <ShortId of={row.session} />
        </Link>
      ),
    },
    { id: 'account', head: common.account, cell: (row) => 'account_id' in row && <ShortId of={row.account_id} /> },
    ...sums,
  ];
  return (
    <Page title={isAdmin ? words.adminTitle : shell.pages.agentSessions} lead={words.lead}>
      <Search label={words.search} value={text ?? ''} onChange={onSearch} />
      <ListCard
        route={isAdmin ? 'GET /admin/agent-sessions' : 'GET /agent-sessions'}
        input={{ query: text === undefined ? {} : { text } }}
        label={isAdmin ? words.adminTitle : shell.pages.agentSessions}
        name={isAdmin ? 'admin-agent-sessions' : 'agent-sessions'}
        columns={isAdmin ? columns : columns.filter(({ id }) => id !== 'account')}
        keyOf={(row: ConsoleAgentSession | AdminAgentSession) =>
          `${'account_id' in row ? row.account_id : ''} ${row.session}`
        }
        isLinked
        empty={text === undefined ? words.empty : words.noneFits}
      />
    </Page>
  );
}

/** The requests of one session; `accountId`: as operators see them. */
function Requests({ session, accountId }: { readonly session: string; readonly accountId: string | undefined }) {
  const { common } = useMessages();
  const { sessions: words } = useMessages().money;
  const isAdmin = accountId !== undefined;
  const shown = useRequestColumns();
  const columns: Column<ConsoleUsageRecord | AdminSessionRequest>[] = [
    ...shown.map((column) => (isAdmin && column.id === 'took' ? { ...column, isHidden: true } : column)),
    { id: 'upstream', head: common.upstream, cell: (row) => 'upstream' in row && row.upstream },
    { id: 'cost', head: common.cost, money: (row) => ('cost_worth' in row ? row.cost_worth : null) },
  ];
  return (
    <ListCard
      route={isAdmin ? 'GET /admin/agent-sessions/requests' : 'GET /agent-sessions/requests'}
      input={{ query: { session, ...(isAdmin && { account_id: accountId }) } }}
      label={words.requests}
      name={isAdmin ? 'admin-session-requests' : 'session-requests'}
      columns={isAdmin ? columns : shown}
      empty={words.noRequests}
    />
  );
}

interface SearchProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Search({ label, value, onChange }: SearchProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => onChange(typed), SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  });
  return (
    <Filters>
      <TextField label={label} type="search" maxLength={256} value={typed} onType={setTyped} />
    </Filters>
  );
}

type Tokens = Pick<ConsoleUsageRecord, 'input_tokens' | 'cached_input_tokens'>;

/** How much of the input the vendor had in its cache. */
const CachedShare = ({ of: { input_tokens: input, cached_input_tokens: cached } }: { readonly of: Tokens }) => {
  const { language } = useLanguage();
  return input === 0 ? <None /> : <>{formatShare(cached / input, language)}</>;
};

function useSums(): Column<ConsoleAgentSession>[] {
  const { money, common } = useMessages();
  const { sessions: words } = money;
  return [
    { id: 'time', head: words.last, time: ({ time }) => time },
    { id: 'began', head: words.began, isHidden: true, time: ({ began_at: at }) => at },
    { id: 'models', head: common.models, cell: ({ models }) => models.join(', ') },
    { id: 'requests', head: money.usage.requests, count: ({ requests }) => requests },
    { id: 'failed', head: common.failed, isHidden: true, count: ({ failed_requests: failed }) => failed },
    { id: 'agents', head: words.agents, count: ({ agents }) => agents },
    { id: 'user', head: words.endUser, isHidden: true, cell: ({ end_user: user }) => user },
    { id: 'cached', head: words.cached, isNumber: true, cell: (row) => <CachedShare of={row} /> },
    { id: 'amount', head: common.amount, money: ({ amount }) => amount },
  ];
}

function useRequestColumns(): Column<ConsoleUsageRecord>[] {
  const { messages, language } = useLanguage();
  const { money, common } = messages;
  const { sessions: words } = money;
  return [
    { id: 'time', head: common.time, cell: ({ time }) => <Time at={time} isClock /> },
    { id: 'model', head: common.model, cell: ({ model }) => model },
    { id: 'agent', head: words.agent, cell: ({ agent }) => agent && <ShortId of={agent} /> },
    { id: 'state', head: common.state, cell: ({ status }) => <Status of={status} /> },
    { id: 'input', head: money.usage.input, count: (row) => row.input_tokens },
    { id: 'cached', head: words.cached, isNumber: true, cell: (row) => <CachedShare of={row} /> },
    { id: 'output', head: money.usage.output, count: (row) => row.output_tokens },
    {
      id: 'took',
      head: common.took,
      isNumber: true,
      cell: ({ duration_ms: ms }) => (ms === null ? <None /> : formatSeconds(ms / 1000, language)),
    },
    { id: 'request', head: common.requestId, isHidden: true, cell: (row) => <ShortId of={row.request_id} /> },
    { id: 'amount', head: common.amount, money: ({ amount }) => amount },
  ];
}
