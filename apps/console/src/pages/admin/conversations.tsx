import { useRead } from '../../api/queries';
import type { AdminConversations } from '../../api/types';
import { Card } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { type Column, Table } from '../../components/table';
import { None, Time } from '../../components/values';
import { formatCount, formatShare } from '../../format/number';
import { useLanguage, useMessages } from '../../messages/language';

type Sticky = AdminConversations['upstreams'][number];

/** Whether conversations stay at one upstream, what the vendors' caches save, and why they move. */
export function Conversations() {
  const { conversations: words } = useMessages().admin;
  const query = useRead('GET /admin/conversations', {});
  return (
    <Card title={words.title} isFlush>
      <Loaded query={query} height={160}>
        {(report) => (report.upstreams.length === 0 ? <Empty>{words.none}</Empty> : <Report of={report} />)}
      </Loaded>
    </Card>
  );
}

function Report({ of: report }: { readonly of: AdminConversations }) {
  const { messages, language } = useLanguage();
  const { admin, common } = messages;
  const { conversations: words } = admin;
  const share = (part: number, whole: number) => (whole === 0 ? <None /> : formatShare(part / whole, language));
  const count = (value: number) => formatCount(value, language);
  const columns: Column<Sticky>[] = [
    { id: 'upstream', head: common.upstream, cell: ({ upstream }) => upstream },
    {
      id: 'hits',
      head: words.hitRate,
      isNumber: true,
      cell: ({ kept, moved, void: lost }) => share(kept, kept + moved + lost),
    },
    {
      id: 'cached',
      head: words.cached,
      isNumber: true,
      cell: ({ cached_input_tokens: cached, input_tokens: input }) => share(cached, input),
    },
    { id: 'kept', head: words.kept, isNumber: true, cell: ({ kept }) => count(kept) },
    { id: 'moved', head: words.moved, isNumber: true, cell: ({ moved }) => count(moved) },
    { id: 'void', head: words.lost, isNumber: true, cell: ({ void: lost }) => count(lost) },
    { id: 'new', head: words.begun, isNumber: true, cell: (row) => count(row.new) },
  ];
  return (
    <>
      <Table
        label={words.title}
        name="conversations"
        columns={columns}
        rows={report.upstreams}
        keyOf={({ upstream }) => upstream}
      />
      <div className="table-foot">
        <span>
          {words.since} <Time at={report.since} />
        </span>
        <span>
          {report.moves.length === 0
            ? words.noMoves
            : words.moves(
                report.moves
                  .map(({ reason, count: times }) => `${words.reasons[reason] ?? reason} ${count(times)}`)
                  .join(', '),
              )}
        </span>
      </div>
    </>
  );
}
