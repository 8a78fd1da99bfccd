import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { ReadRoute } from '../../api/call';
import { readOptions, useChange, useMay, useRead } from '../../api/queries';
import type { ConsolePrompt, ConsolePromptEntry } from '../../api/types';
import { Button } from '../../components/button';
import { CodeBlock } from '../../components/code-block';
import { FormDialog } from '../../components/confirm-dialog';
import { Dialog } from '../../components/dialog';
import { TextField } from '../../components/fields';
import { ListCard } from '../../components/list';
import { Facts, Page } from '../../components/page';
import { Empty, Failure, Skeleton } from '../../components/states';
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

/** The log of prompts and answers of the own account. */
export function PromptLogPage() {
  const { prompts: words } = useMessages();
  const search = ownRoute.useSearch();
  const navigate = ownRoute.useNavigate();
  const set = (part: Shown) => void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const query = useRead('GET /prompt-log', {});
  const touched: readonly ReadRoute[] = ['GET /prompt-log', 'GET /prompt-log/entries'];
  const change = useChange('POST /prompt-log', touched);
  const clear = useChange('POST /prompt-log/clear', touched);
  const remove = useChange('POST /prompt-log/entries/:entry_id/remove', touched);
  const entries = useEntries(search, (id) => (
    <Link to="/prompt-log" search={(before) => ({ ...before, entry: id })}>
      {words.read}
    </Link>
  ));
  return (
    <Page title={words.title} lead={words.lead}>
      <LogSettings
        query={query}
        mayChange
        change={{ ...change, save: (body, onSuccess) => change.mutate({ body }, { onSuccess }) }}
        clear={{ ...clear, save: (onSuccess) => clear.mutate({ body: {} }, { onSuccess }) }}
      />
      <Filters of={search} onChange={set} />
      <ListCard
        route="GET /prompt-log/entries"
        input={{ query: filterOf(search) }}
        name="prompt-entries"
        {...entries}
      />
      {search.entry !== undefined && (
        <OwnEntry
          id={search.entry}
          onClose={() => set({ entry: undefined })}
          footer={
            <RemoveButton
              change={remove}
              onRemove={() =>
                remove.mutate(
                  { params: { entry_id: search.entry ?? '' }, body: {} },
                  { onSuccess: () => set({ entry: undefined }) },
                )
              }
            />
          }
        />
      )}
    </Page>
  );
}

/** The log of any account, for operators. */
export function AdminPromptLogPage() {
  const { prompts: words, common } = useMessages();
  const { accountId } = adminRoute.useParams();
  const search = adminRoute.useSearch();
  const navigate = adminRoute.useNavigate();
  const mayWrite = useMay('admin:write');
  const set = (part: Shown) => void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const params = { account_id: accountId };
  const account = useRead('GET /admin/accounts/:account_id', { params });
  const query = useRead('GET /admin/accounts/:account_id/prompt-log', { params });
  const touched: readonly ReadRoute[] = [
    'GET /admin/accounts/:account_id/prompt-log',
    'GET /admin/accounts/:account_id/prompt-log/entries',
    'GET /admin/audit',
  ];
  const change = useChange('POST /admin/accounts/:account_id/prompt-log', touched);
  const clear = useChange('POST /admin/accounts/:account_id/prompt-log/clear', touched);
  const remove = useChange('POST /admin/accounts/:account_id/prompt-log/entries/:entry_id/remove', touched);
  const entries = useEntries(search, (id) => (
    <Link
      to="/admin/accounts/$accountId/prompt-log"
      params={{ accountId }}
      search={(before) => ({ ...before, entry: id })}
    >
      {words.read}
    </Link>
  ));
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
      <LogSettings
        query={query}
        mayChange={mayWrite}
        change={{ ...change, save: (body, onSuccess) => change.mutate({ params, body }, { onSuccess }) }}
        clear={{ ...clear, save: (onSuccess) => clear.mutate({ params, body: {} }, { onSuccess }) }}
      />
      <Filters of={search} onChange={set} />
      <ListCard
        route="GET /admin/accounts/:account_id/prompt-log/entries"
        input={{ params, query: filterOf(search) }}
        name="admin-prompt-entries"
        {...entries}
      />
      {search.entry !== undefined && (
        <AdminEntry
          accountId={accountId}
          id={search.entry}
          onClose={() => set({ entry: undefined })}
          footer={
            mayWrite && (
              <RemoveButton
                change={remove}
                onRemove={() =>
                  remove.mutate(
                    { params: { ...params, entry_id: search.entry ?? '' }, body: {} },
                    { onSuccess: () => set({ entry: undefined }) },
                  )
                }
              />
            )
          }
        />
      )}
    </Page>
  );
}

const filterOf = ({ session, request_id: requestId }: Shown) => ({ session, request_id: requestId });
const isFiltered = ({ session, request_id: requestId }: Shown): boolean =>
  session !== undefined || requestId !== undefined;

/** The list of entries: all of it but where they come from. */
function useEntries(search: Shown, link: (id: string) => ReactNode) {
  const { prompts: words, common } = useMessages();
  const columns: Column<ConsolePromptEntry>[] = [
    { id: 'read', head: words.entry, cell: ({ id }) => link(id) },
    { id: 'time', head: common.time, cell: ({ time }) => <Time at={time} /> },
    { id: 'model', head: common.model, cell: ({ model }) => model },
    {
      id: 'session',
      head: words.session,
      cell: ({ session }) => session && <ShortId of={session} />,
    },
    { id: 'request', head: words.requestId, cell: (entry) => <ShortId of={entry.request_id} /> },
    { id: 'key', head: common.key, isHidden: true, cell: (entry) => <ShortId of={entry.api_key_id} /> },
  ];
  return {
    columns,
    label: words.entries,
    keyOf: ({ id }: ConsolePromptEntry) => id,
    isLinked: true,
    head: <h2>{words.entries}</h2>,
    empty: <Empty>{isFiltered(search) ? words.noneFits : words.empty}</Empty>,
  };
}

/** By whole names: the server keeps no others. */
function Filters({ of: shown, onChange }: { readonly of: Shown; readonly onChange: (part: Shown) => void }) {
  const { prompts: words, common } = useMessages();
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
        label={words.session}
        type="search"
        maxLength={256}
        value={typed.session}
        onType={(value) => setTyped({ ...typed, session: value })}
        onBlur={apply}
      />
      <TextField
        label={words.requestId}
        type="search"
        maxLength={100}
        value={typed.requestId}
        onType={(value) => setTyped({ ...typed, requestId: value })}
        onBlur={apply}
      />
    </form>
  );
}

interface EntryWindow {
  readonly id: string;
  readonly footer: ReactNode;
  readonly onClose: () => void;
}

/** Read once for each time that it is opened: each reading is on record. */
const ONCE = { staleTime: Infinity, gcTime: 0, refetchOnWindowFocus: false, refetchOnReconnect: false } as const;

function OwnEntry({ id, ...window }: EntryWindow) {
  const query = useQuery({
    ...readOptions('GET /prompt-log/entries/:entry_id', { params: { entry_id: id } }),
    ...ONCE,
  });
  return <Entry of={query.data} failure={query.error} {...window} />;
}

function AdminEntry({ accountId, id, ...window }: EntryWindow & { readonly accountId: string }) {
  const params = { account_id: accountId, entry_id: id };
  const query = useQuery({
    ...readOptions('GET /admin/accounts/:account_id/prompt-log/entries/:entry_id', { params }),
    ...ONCE,
  });
  return <Entry of={query.data} failure={query.error} {...window} />;
}

function Entry({
  of: entry,
  failure,
  footer,
  onClose,
}: Omit<EntryWindow, 'id'> & { readonly of: ConsolePrompt | undefined; readonly failure: Error | null }) {
  const { prompts: words, common } = useMessages();
  return (
    <Dialog title={words.entry} kind="drawer" onClose={onClose} footer={footer}>
      {entry ? (
        <div className="stack">
          <Facts
            of={[
              [common.time, <Time key="time" at={entry.time} absolute withZone />],
              [common.model, entry.model],
              [words.requestId, <code key="request">{entry.request_id}</code>],
              [words.session, entry.session],
            ]}
          />
          {entry.cut && <p className="muted small-text">{words.cut}</p>}
          <h3>{words.request}</h3>
          <CodeBlock name={words.request} code={indented(entry.request)} />
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

function RemoveButton({
  change,
  onRemove,
}: {
  readonly change: Parameters<typeof FormDialog>[0]['change'];
  readonly onRemove: () => void;
}) {
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
