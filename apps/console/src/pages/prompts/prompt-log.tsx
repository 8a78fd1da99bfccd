import { useQuery, type UseMutationResult } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { ReadRoute } from '../../api/call';
import { readOptions, useChange, useMay, useRead } from '../../api/queries';
import type { ConsolePromptEntry } from '../../api/types';
import { Button } from '../../components/button';
import { CodeBlock } from '../../components/code-block';
import { FormDialog } from '../../components/confirm-dialog';
import { Dialog } from '../../components/dialog';
import { TextField } from '../../components/fields';
import { ListCard } from '../../components/list';
import { Facts, Page } from '../../components/page';
import { Failure, Skeleton } from '../../components/states';
import type { Column } from '../../components/table';
import { ShortId, Time } from '../../components/values';
import { useMessages } from '../../messages/language';
import { LogSettings } from './log-settings';

const ownRoute = getRouteApi('/shell/prompt-log');
const adminRoute = getRouteApi('/shell/admin/accounts/$accountId/prompt-log');
const ENTRY_HEIGHT = 480;

/** What the page shows of the entries. */
interface Shown {
  readonly session?: string | undefined;
  readonly request_id?: string | undefined;
  readonly entry?: string | undefined;
}

/** Who may read a log decides where it is read. */
const OWN = {
  log: 'GET /prompt-log',
  change: 'POST /prompt-log',
  clear: 'POST /prompt-log/clear',
  entries: 'GET /prompt-log/entries',
  entry: 'GET /prompt-log/entries/:entry_id',
  remove: 'POST /prompt-log/entries/:entry_id/remove',
} as const;
const ADMIN = {
  log: 'GET /admin/accounts/:account_id/prompt-log',
  change: 'POST /admin/accounts/:account_id/prompt-log',
  clear: 'POST /admin/accounts/:account_id/prompt-log/clear',
  entries: 'GET /admin/accounts/:account_id/prompt-log/entries',
  entry: 'GET /admin/accounts/:account_id/prompt-log/entries/:entry_id',
  remove: 'POST /admin/accounts/:account_id/prompt-log/entries/:entry_id/remove',
} as const;

/** The log of prompts and answers of the own account. */
export function PromptLogPage() {
  const { prompts: words, shell } = useMessages();
  const navigate = ownRoute.useNavigate();
  return (
    <Page title={shell.pages.promptLog} lead={words.lead}>
      <Log
        routes={OWN}
        accountId=""
        of={ownRoute.useSearch()}
        mayChange
        onShow={(part) => void navigate({ search: (before) => ({ ...before, ...part }), replace: true })}
        link={(id) => (
          <Link to="/prompt-log" search={(before) => ({ ...before, entry: id })}>
            {words.read}
          </Link>
        )}
      />
    </Page>
  );
}

/** The log of any account, for operators. */
export function AdminPromptLogPage() {
  const { prompts: words, common } = useMessages();
  const { accountId } = adminRoute.useParams();
  const navigate = adminRoute.useNavigate();
  const account = useRead('GET /admin/accounts/:account_id', { params: { account_id: accountId } });
  return (
    <Page
      title={words.ofAccount(account.data?.name ?? '…')}
      lead={words.lead}
      actions={
        <Link className="button" to="/admin/accounts/$accountId" params={{ accountId }}>
          {common.back}
        </Link>
      }
    >
      <Log
        routes={ADMIN}
        accountId={accountId}
        of={adminRoute.useSearch()}
        mayChange={useMay('admin:write')}
        onShow={(part) => void navigate({ search: (before) => ({ ...before, ...part }), replace: true })}
        link={(id) => (
          <Link
            to="/admin/accounts/$accountId/prompt-log"
            params={{ accountId }}
            search={(before) => ({ ...before, entry: id })}
          >
            {words.read}
          </Link>
        )}
      />
    </Page>
  );
}

interface LogProps {
  readonly routes: typeof OWN | typeof ADMIN;
  /** No part of the routes of the own account. */
  readonly accountId: string;
  readonly of: Shown;
  readonly mayChange: boolean;
  readonly onShow: (part: Shown) => void;
  readonly link: (id: string) => ReactNode;
}

function Log({ routes, accountId, of: shown, mayChange, onShow, link }: LogProps) {
  const params = { account_id: accountId };
  const touched: readonly ReadRoute[] = [routes.log, routes.entries, 'GET /admin/audit'];
  const query = useRead(routes.log, { params });
  const change = useChange(routes.change, touched);
  const clear = useChange(routes.clear, touched);
  const remove = useChange(routes.remove, touched);
  const close = () => onShow({ entry: undefined });
  const { entry } = shown;
  return (
    <>
      <LogSettings
        query={query}
        mayChange={mayChange}
        change={{ ...change, save: (body, onSuccess) => change.mutate({ params, body }, { onSuccess }) }}
        clear={{ ...clear, save: (onSuccess) => clear.mutate({ params, body: {} }, { onSuccess }) }}
      />
      <Filters of={shown} onChange={onShow} />
      <Entries routes={routes} params={params} of={shown} link={link} />
      {entry !== undefined && (
        <Entry
          routes={routes}
          params={{ ...params, entry_id: entry }}
          onClose={close}
          footer={
            mayChange && (
              <RemoveButton
                change={remove}
                onRemove={() =>
                  remove.mutate({ params: { ...params, entry_id: entry }, body: {} }, { onSuccess: close })
                }
              />
            )
          }
        />
      )}
    </>
  );
}

interface EntriesProps {
  readonly routes: typeof OWN | typeof ADMIN;
  readonly params: { readonly account_id: string };
  readonly of: Shown;
  readonly link: (id: string) => ReactNode;
}

function Entries({ routes, params, of: shown, link }: EntriesProps) {
  const { prompts: words, common } = useMessages();
  const { session, request_id: requestId } = shown;
  const columns: Column<ConsolePromptEntry>[] = [
    { id: 'read', head: words.entry, cell: ({ id }) => link(id) },
    { id: 'time', head: common.time, time: ({ time }) => time },
    { id: 'model', head: common.model, cell: ({ model }) => model },
    { id: 'session', head: common.session, cell: (entry) => entry.session && <ShortId of={entry.session} /> },
    { id: 'request', head: common.requestId, cell: (entry) => <ShortId of={entry.request_id} /> },
    { id: 'key', head: common.key, isHidden: true, cell: (entry) => <ShortId of={entry.api_key_id} /> },
  ];
  return (
    <ListCard
      route={routes.entries}
      input={{ params, query: { session, request_id: requestId } }}
      label={words.entries}
      name={routes === OWN ? 'prompt-entries' : 'admin-prompt-entries'}
      columns={columns}
      isLinked
      head={<h2>{words.entries}</h2>}
      empty={session === undefined && requestId === undefined ? words.empty : words.noneFits}
    />
  );
}

/** By whole names: the server keeps no others. */
function Filters({ of: shown, onChange }: { readonly of: Shown; readonly onChange: (part: Shown) => void }) {
  const { common } = useMessages();
  const [typed, setTyped] = useState({ session: shown.session ?? '', requestId: shown.request_id ?? '' });
  const apply = () =>
    onChange({ session: typed.session.trim() || undefined, request_id: typed.requestId.trim() || undefined });
  return (
    <form
      className="filters"
      role="search"
      aria-label={common.filter}
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <TextField
        label={common.session}
        type="search"
        maxLength={256}
        value={typed.session}
        onType={(value) => setTyped({ ...typed, session: value })}
        onBlur={apply}
      />
      <TextField
        label={common.requestId}
        type="search"
        maxLength={100}
        value={typed.requestId}
        onType={(value) => setTyped({ ...typed, requestId: value })}
        onBlur={apply}
      />
    </form>
  );
}

/** Read once for each time that it is opened: each reading is on record. */
const ONCE = { staleTime: Infinity, gcTime: 0, refetchOnWindowFocus: false, refetchOnReconnect: false } as const;

interface EntryProps {
  readonly routes: typeof OWN | typeof ADMIN;
  readonly params: { readonly account_id: string; readonly entry_id: string };
  readonly footer: ReactNode;
  readonly onClose: () => void;
}

function Entry({ routes, params, footer, onClose }: EntryProps) {
  const { data: entry, error: failure } = useQuery({ ...readOptions(routes.entry, { params }), ...ONCE });
  const { prompts: words, common } = useMessages();
  return (
    <Dialog title={words.entry} kind="drawer" onClose={onClose} footer={footer}>
      {entry ? (
        <div className="stack">
          <Facts
            of={[
              [common.time, <Time key="time" at={entry.time} absolute withZone />],
              [common.model, entry.model],
              [common.requestId, <code key="request">{entry.request_id}</code>],
              [common.session, entry.session],
            ]}
          />
          {entry.cut && <p className="muted small-text">{words.cut}</p>}
          <h3>{common.request}</h3>
          <CodeBlock name={common.request} code={indented(entry.request)} />
          <h3>{words.answer}</h3>
          {entry.answer === '' ? (
            <p className="muted">{words.noAnswer}</p>
          ) : (
            <CodeBlock name={words.answer} code={entry.answer} />
          )}
        </div>
      ) : failure ? (
        <Failure of={failure} />
      ) : (
        <Skeleton height={ENTRY_HEIGHT} />
      )}
    </Dialog>
  );
}

/** A cut body is no JSON any more. */
function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

interface RemoveButtonProps {
  readonly change: Pick<UseMutationResult, 'isPending' | 'error'>;
  readonly onRemove: () => void;
}

function RemoveButton({ change, onRemove }: RemoveButtonProps) {
  const { prompts: words, common } = useMessages();
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button look="danger" label={words.remove} onClick={() => setAsking(true)} />
      {isAsking && (
        <FormDialog
          title={words.remove}
          submit={common.remove}
          isDangerous
          change={change}
          onClose={() => setAsking(false)}
          onSubmit={onRemove}
        >
          <p>{words.removeText}</p>
        </FormDialog>
      )}
    </>
  );
}
