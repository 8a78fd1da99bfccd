import { getRouteApi, Link } from '@tanstack/react-router';
import type { ConsoleEntry } from '../../api/types';
import { pathOf } from '../../api/call';
import { useMay, useRead } from '../../api/queries';
import { TextField } from '../../components/fields';
import { Filters } from '../../components/filters';
import { Icon } from '../../components/icons';
import { ListCard } from '../../components/list';
import { Notice, Page } from '../../components/page';
import { SpendLimits } from '../../components/spend-limits';
import { Loaded } from '../../components/states';
import { Tile } from '../../components/tile';
import type { Column } from '../../components/table';
import { Money, ShortId } from '../../components/values';
import { useMessages } from '../../messages/language';
import { LowBalance } from './low-balance';
import { Change, useKindName } from './entry-parts';

const route = getRouteApi('/shell/billing');

export function BillingPage() {
  const { money, common, shell } = useMessages();
  const { billing } = money;
  const search = route.useSearch();
  const balance = useRead('GET /billing', {});
  const mayRead = useMay('ledger:read');
  return (
    <Page
      title={shell.pages.billing}
      actions={
        mayRead && (
          <a className="button" href={pathOf('/billing/entries', {}, { format: 'csv', ...search })} download>
            <Icon name="download" />
            {common.downloadCsv}
          </a>
        )
      }
    >
      <Loaded query={balance} height={120}>
        {(data) => (
          <div className="stack tight">
            <div className="tiles">
              <Tile
                label={common.available}
                value={data.is_unlimited ? common.unlimited : <Money amount={data.available} form="headline" />}
              />
              <Tile label={billing.held} value={<Money amount={data.held} form="headline" />} />
              <Tile label={billing.used} value={<Money amount={data.used} form="headline" />} />
              {/[1-9]/.test(data.owed) && (
                <Tile label={common.owed} value={<Money amount={data.owed} form="headline" />} />
              )}
            </div>
            <p className="muted small-text">{billing.lower}</p>
            <SpendLimits of={data.limits} />
            <LowBalance of={data} />
          </div>
        )}
      </Loaded>
      {mayRead && <EntryFilter value={search.task_id ?? search.request_id ?? ''} />}
      {mayRead ? <Entries /> : <Notice tone="info">{billing.noLedger}</Notice>}
    </Page>
  );
}

/** Finds the entries of one request or task, by its id. */
function EntryFilter({ value }: { readonly value: string }) {
  const { money } = useMessages();
  const navigate = route.useNavigate();
  const find = (id: string): void => {
    const search = id === '' ? {} : id.startsWith('task_') ? { task_id: id } : { request_id: id };
    void navigate({ search, replace: true, resetScroll: false });
  };
  return (
    <Filters>
      <TextField label={money.billing.idFilter} type="search" value={value} onType={(value) => find(value.trim())} />
    </Filters>
  );
}

function Entries() {
  const { money, common } = useMessages();
  const search = route.useSearch();
  const filter = search.task_id ?? search.request_id;
  return (
    <ListCard
      route="GET /billing/entries"
      input={{ query: search }}
      label={common.ledger}
      name="entries"
      columns={useColumns()}
      isLinked
      head={
        <>
          <h2>{common.ledger}</h2>
          {filter !== undefined && (
            <span className="row small-text">
              {money.billing.filteredBy(filter)}
              <Link to="/billing" search={{}}>
                {common.clearFilter}
              </Link>
            </span>
          )}
        </>
      }
      empty={filter === undefined ? money.billing.empty : common.nothingFits}
    />
  );
}

function useColumns(): Column<ConsoleEntry>[] {
  const { money, common } = useMessages();
  const kindName = useKindName();
  return [
    {
      id: 'kind',
      head: money.billing.kind,
      cell: (entry) => (
        <Link to="/billing/entries/$entryId" params={{ entryId: entry.id }}>
          {kindName(entry.kind)}
        </Link>
      ),
    },
    {
      id: 'for',
      head: money.billing.belongsTo,
      cell: (entry) => entry.usage?.model ?? entry.reference ?? (entry.task_id && <ShortId of={entry.task_id} />),
    },
    { id: 'time', head: common.time, time: ({ time }) => time },
    { id: 'books', head: money.entry.moved, isHidden: true, cell: (entry) => <Books of={entry} /> },
    { id: 'change', head: money.billing.change, isNumber: true, cell: (entry) => <Change of={entry} /> },
  ];
}

export function Books({ of: entry }: { readonly of: Pick<ConsoleEntry, 'debit' | 'credit'> }) {
  const { books } = useMessages().money.billing;
  const name = (book: string) => (Object.hasOwn(books, book) ? books[book as keyof typeof books] : book);
  return (
    <>
      {name(entry.debit)} → {name(entry.credit)}
    </>
  );
}
