import { getRouteApi, Link } from '@tanstack/react-router';
import { useMay, useRead } from '../../api/queries';
import type { AdminPriceProposal } from '../../api/types';
import { Button } from '../../components/button';
import { Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { formatCount } from '../../format/number';
import { useLanguage, useMessages } from '../../messages/language';
import { PriceTabs } from './price-parts';
import { ReadListDialog } from './read-list';

const route = getRouteApi('/shell/admin/prices/proposals');

/** Lists of prices that were read, and the way to read another. */
export function ProposalsPage() {
  const { selling } = useMessages();
  const { proposals: words } = selling;
  const mayWrite = useMay('admin:write');
  const { read, upstream } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useRead('GET /admin/price-proposals', {});
  const open = (isOpen: boolean) =>
    void navigate({ search: isOpen ? { read: 'true' } : {}, replace: true, resetScroll: false });
  const add = mayWrite && <Button look="primary" icon="plus" label={words.add} onClick={() => open(true)} />;
  return (
    <Page title={words.title} lead={words.lead} actions={add}>
      <PriceTabs />
      <Loaded query={query} height={320}>
        {({ items }) => (
          <section className="card">
            {items.length === 0 ? <Empty>{words.none}</Empty> : <Proposals items={items} />}
          </section>
        )}
      </Loaded>
      {read === 'true' && mayWrite && (
        <ReadListDialog onClose={() => open(false)} {...(upstream !== undefined && { upstream })} />
      )}
    </Page>
  );
}

/** The host of an address, else what it is called. */
export const shortOrigin = (origin: string): string => (URL.canParse(origin) ? new URL(origin).host : origin);

/** Where a list came from, in words. */
export function useOrigin(): (proposal: AdminPriceProposal) => string {
  const { common } = useMessages();
  const { proposals: words } = useMessages().selling;
  return ({ source, origin }) => {
    const form = words.sources[source as keyof typeof words.sources] ?? source;
    return `${form} · ${origin === 'file' ? common.file : shortOrigin(origin)}`;
  };
}

function Proposals({ items }: { readonly items: readonly AdminPriceProposal[] }) {
  const { messages, language } = useLanguage();
  const { selling, common } = messages;
  const { proposals: words } = selling;
  const originOf = useOrigin();
  const columns: Column<AdminPriceProposal>[] = [
    {
      id: 'origin',
      head: words.origin,
      cell: (proposal) => (
        <Link to="/admin/prices/proposals/$proposalId" params={{ proposalId: proposal.id }}>
          {originOf(proposal)}
        </Link>
      ),
    },
    { id: 'state', head: common.state, cell: ({ state }) => <Status of={statusOf(state)} /> },
    { id: 'factor', head: common.factor, isNumber: true, cell: ({ factor }) => `× ${factor}` },
    {
      id: 'read',
      head: words.details,
      cell: ({ counts }) => words.counts(formatCount(counts.read, language), formatCount(counts.unchanged, language)),
    },
    { id: 'time', head: common.created, time: ({ created_at: at }) => at },
    { id: 'by', head: words.by, isHidden: true, cell: ({ created_by: by }) => by },
  ];
  return <Table label={words.title} name="price-proposals" columns={columns} rows={items} isLinked />;
}

/** The sign and word of a proposal's state. */
export const statusOf = (state: AdminPriceProposal['state']): string =>
  ({ open: 'proposed', applied: 'applied', undone: 'undone', expired: 'expired' })[state];
