import { getRouteApi, Link } from '@tanstack/react-router';
import type { ConsoleEntry, ConsoleEntryExplained } from '../../api/types';
import { useRead } from '../../api/queries';
import { ChargeLines } from '../../components/charge';
import { Card, Facts, Page } from '../../components/page';
import { Loaded } from '../../components/states';
import { type Column, Table } from '../../components/table';
import { Id, Money, Time } from '../../components/values';
import { useMessages } from '../../messages/language';
import { Books } from './billing';
import { Change, useKindName } from './entry-parts';

const route = getRouteApi('/shell/billing/entries/$entryId');

export function EntryPage() {
  const { money } = useMessages();
  const { entryId } = route.useParams();
  const kindName = useKindName();
  const query = useRead('GET /billing/entries/:entry_id', { params: { entry_id: entryId } });
  return (
    <Page title={query.data ? kindName(query.data.entry.kind) : money.entry.title}>
      <Loaded query={query} height={480}>
        {(data) => <Explained data={data} />}
      </Loaded>
    </Page>
  );
}

function Explained({ data }: { readonly data: ConsoleEntryExplained }) {
  const { money, common } = useMessages();
  const { entry, prices, related, key_name: keyName } = data;
  const usage = entry.usage ?? related.find((each) => each.usage)?.usage;
  return (
    <div className="stack">
      <Card title={common.details}>
        <Facts
          of={[
            [common.amount, <Change key="amount" of={entry} />],
            [money.entry.moved, <Books key="books" of={entry} />],
            [common.time, <Time key="time" at={entry.time} absolute />],
            ['ID', <Id key="id" id={entry.id} name={common.id} whole />],
            entry.task_id !== null && [
              common.task,
              <Link key="task" to="/tasks/$taskId" params={{ taskId: entry.task_id }}>
                {entry.task_id}
              </Link>,
            ],
            entry.request_id !== null && [
              common.request,
              <Id key="request" id={entry.request_id} name={common.request} whole />,
            ],
            entry.reference !== null && [common.reference, entry.reference],
            keyName !== null && [common.key, keyName],
          ]}
        />
      </Card>
      <Card title={money.entry.why}>
        {usage ? (
          <div className="stack tight">
            <ChargeLines lines={usage.lines} />
            <p className="row between strong">
              <span>{money.total}</span>
              <Money amount={usage.amount} form="full" />
            </p>
            {prices.map((price) => (
              <p key={price.id} className="muted small-text break">
                <code>{price.id}</code> · {money.entry.inForce} <Time at={price.effective_from} absolute />
              </p>
            ))}
          </div>
        ) : (
          <p className="muted">
            {entry.task_id === null && entry.request_id === null ? money.entry.money : money.entry.pending}
          </p>
        )}
      </Card>
      {related.length > 1 && (
        <Card title={money.entry.together} isFlush>
          <Related entries={related} current={entry.id} />
          <p className="table-foot">{money.entry.adds}</p>
        </Card>
      )}
    </div>
  );
}

function Related({ entries, current }: { readonly entries: readonly ConsoleEntry[]; readonly current: string }) {
  const { money, common } = useMessages();
  const kindName = useKindName();
  const columns: Column<ConsoleEntry>[] = [
    {
      id: 'kind',
      head: money.billing.kind,
      cell: (entry) =>
        entry.id === current ? (
          <strong className="strong">{kindName(entry.kind)}</strong>
        ) : (
          <Link to="/billing/entries/$entryId" params={{ entryId: entry.id }}>
            {kindName(entry.kind)}
          </Link>
        ),
    },
    { id: 'books', head: money.entry.moved, cell: (entry) => <Books of={entry} /> },
    { id: 'time', head: common.time, cell: ({ time }) => <Time at={time} absolute /> },
    { id: 'change', head: money.billing.change, isNumber: true, cell: (entry) => <Change of={entry} /> },
  ];
  return <Table label={money.entry.together} name="related" columns={columns} rows={entries} />;
}
