import { getRouteApi } from '@tanstack/react-router';
import { pathOf } from '../../api/call';
import type { AdminAuditRecord } from '../../api/types';
import { TextField } from '../../components/fields';
import { Filters, useFilters } from '../../components/filters';
import { Icon } from '../../components/icons';
import { ListCard } from '../../components/list';
import { Page } from '../../components/page';
import type { Column } from '../../components/table';
import { ShortId } from '../../components/values';
import { useMessages } from '../../messages/language';

const route = getRouteApi('/shell/admin/audit');

export function AuditPage() {
  const { admin, common, shell } = useMessages();
  const { audit: words } = admin;
  const search = route.useSearch();
  const filters = useFilters(search);
  const columns: Column<AdminAuditRecord>[] = [
    { id: 'action', head: words.action, cell: ({ action }) => <Dotted of={action} /> },
    {
      id: 'actor',
      head: words.actor,
      cell: ({ actor }) => (actor.startsWith('user_') ? <ShortId of={actor} /> : actor),
    },
    { id: 'subject', head: words.subject, cell: (record) => <ShortId of={record.subject_id} /> },
    { id: 'change', head: words.change, cell: (record) => <BeforeAfter of={record} /> },
    { id: 'time', head: common.time, time: ({ time }) => time },
  ];
  return (
    <Page
      title={shell.pages.audit}
      actions={
        <a className="button" href={pathOf('/admin/audit', {}, { format: 'csv', ...search })} download>
          <Icon name="download" />
          {common.downloadCsv}
        </a>
      }
    >
      <Filters>
        <TextField {...filters.text('subject_id')} label={words.subjectFilter} />
      </Filters>
      <ListCard
        route="GET /admin/audit"
        input={{ query: search }}
        label={shell.pages.audit}
        name="audit"
        columns={columns}
        empty={words.none}
      />
    </Page>
  );
}

/** A name with dots, which may wrap after each dot. */
const Dotted = ({ of: name }: { readonly of: string }) =>
  name.split('.').flatMap((part, index) => (index === 0 ? [part] : ['.', <wbr key={index} />, part]));

function BeforeAfter({ of: { before, after } }: { readonly of: AdminAuditRecord }) {
  const { common } = useMessages();
  if (before === null && after === null) return null;
  return (
    <details>
      <summary>{common.details}</summary>
      <code className="break">
        {JSON.stringify(before)} → {JSON.stringify(after)}
      </code>
    </details>
  );
}
