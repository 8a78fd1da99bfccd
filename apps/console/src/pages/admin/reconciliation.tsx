import { useChange, useMay, useRead } from '../../api/queries';
import type { AdminReconciliation } from '../../api/types';
import { Button } from '../../components/button';
import { CodeBlock } from '../../components/code-block';
import { Card, Notice, Page } from '../../components/page';
import { Empty, Failure, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, TableCard } from '../../components/table';
import { Time } from '../../components/values';
import { formatCount } from '../../format/number';
import { useLanguage, useMessages } from '../../messages/language';

export function ReconciliationPage() {
  const { admin, shell } = useMessages();
  const { reconciliation: words } = admin;
  const mayWrite = useMay('admin:write');
  const query = useRead('GET /admin/reconciliations', {});
  const run = useChange('POST /admin/reconciliations', ['GET /admin/reconciliations', 'GET /admin/overview']);
  return (
    <Page
      title={shell.pages.reconciliation}
      actions={
        mayWrite && (
          <>
            <Button
              look="primary"
              label={run.isPending ? words.running : words.run}
              disabled={run.isPending}
              onClick={() => run.mutate({ body: {} })}
            />
            <Button
              label={words.runFull}
              disabled={run.isPending}
              onClick={() => run.mutate({ body: { full: true } })}
            />
          </>
        )
      }
    >
      <Failure of={run.error} />
      <Loaded query={query} height={360}>
        {({ items }) => <Reports items={items} />}
      </Loaded>
    </Page>
  );
}

function Reports({ items }: { readonly items: readonly AdminReconciliation[] }) {
  const { messages, language } = useLanguage();
  const { reconciliation: words } = messages.admin;
  const newest = items[0];
  if (!newest)
    return (
      <section className="card">
        <Empty>{words.none}</Empty>
      </section>
    );
  const columns: Column<AdminReconciliation>[] = [
    {
      id: 'state',
      head: messages.common.state,
      cell: ({ balanced }) => <Status of={balanced ? 'balanced' : 'broken'} />,
    },
    { id: 'finished', head: words.finished, cell: ({ finished_at: at }) => <Time at={at} absolute /> },
    { id: 'entries', head: words.entries, count: ({ counts }) => Number(counts.entries) },
    { id: 'tasks', head: messages.shell.pages.tasks, count: ({ counts }) => Number(counts.tasks) },
    { id: 'findings', head: words.findings, count: ({ findings }) => findings.length },
    { id: 'full', head: words.full, cell: ({ full }) => (full ? messages.common.yes : messages.common.no) },
  ];
  return (
    <div className="stack">
      <Notice tone={newest.balanced ? 'good' : 'bad'}>
        {newest.balanced
          ? words.balanced(formatCount(Number(newest.counts.entries), language))
          : words.broken(newest.findings.length)}{' '}
        <Time at={newest.finished_at} />
      </Notice>
      {newest.findings.length > 0 && (
        <Card title={words.findings}>
          <CodeBlock name={words.findings} code={JSON.stringify(newest.findings, null, 2)} />
        </Card>
      )}
      <TableCard label={words.reports} name="reports" columns={columns} rows={items} />
    </div>
  );
}
