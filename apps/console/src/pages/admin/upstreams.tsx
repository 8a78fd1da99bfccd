import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRead } from '../../api/queries';
import type { AdminUpstream } from '../../api/types';
import { Button } from '../../components/button';
import { Page } from '../../components/page';
import { Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { Time } from '../../components/values';
import { formatCount, formatShare } from '../../format/number';
import { useLanguage, useMessages } from '../../messages/language';
import { AddUpstreamDialog } from './add-upstream';
import { Conversations } from './conversations';

const READ_AGAIN_MS = 15_000;

export function UpstreamsPage() {
  const { admin, shell } = useMessages();
  const { upstreams: words } = admin;
  const mayWrite = useMay('admin:write');
  const [isAdding, setAdding] = useState(false);
  const query = useRead('GET /admin/upstreams', {}, { refetchMs: READ_AGAIN_MS });
  return (
    <Page
      title={shell.pages.upstreams}
      actions={mayWrite && <Button look="primary" icon="plus" label={words.add} onClick={() => setAdding(true)} />}
    >
      <Loaded query={query} height={320}>
        {({ items }) => (
          <section className="card">
            <Upstreams items={items} />
          </section>
        )}
      </Loaded>
      <Conversations />
      {isAdding && <AddUpstreamDialog onClose={() => setAdding(false)} />}
    </Page>
  );
}

function Upstreams({ items }: { readonly items: readonly AdminUpstream[] }) {
  const { admin, shell, common } = useMessages();
  const { upstreams: words } = admin;
  const columns: Column<AdminUpstream>[] = [
    {
      id: 'name',
      head: shell.pages.upstreams,
      cell: ({ id }) => (
        <Link to="/admin/upstreams/$upstreamId" params={{ upstreamId: id }}>
          {id}
        </Link>
      ),
    },
    { id: 'health', head: words.serving, cell: (upstream) => <Health of={upstream} /> },
    {
      id: 'error',
      head: common.lastFailure,
      cell: ({ health }) => health.last_error && <LastError of={health.last_error} />,
    },
    { id: 'source', head: words.source, cell: ({ source }) => words.sources[source] },
  ];
  return (
    <Table label={shell.pages.upstreams} name="upstreams" columns={columns} rows={items} empty={words.none} isLinked />
  );
}

/** The state of an upstream, as a sentence. */
export function Health({ of: { health, problem } }: { readonly of: Pick<AdminUpstream, 'health' | 'problem'> }) {
  const { messages, language } = useLanguage();
  const { upstreams: words } = messages.admin;
  const { calls } = health;
  return (
    <span className="health">
      <Status of={health.state} />
      {health.resumes_at !== null && (
        <span>
          {words.restingUntil} <Time at={health.resumes_at} absolute />
        </span>
      )}
      {problem !== null && <span className="break">{problem}</span>}
      {calls.ended > 0 && (
        <span className="muted small-text">
          {words.calls(calls.ended)}, {words.succeeded(formatShare(calls.succeeded / calls.ended, language))}
          {calls.p50_ms !== null && `, ${words.median} ${formatCount(calls.p50_ms, language)} ms`}
          {calls.p95_ms !== null && `, ${words.slowest} ${formatCount(calls.p95_ms, language)} ms`}
        </span>
      )}
    </span>
  );
}

export function LastError({ of: error }: { readonly of: NonNullable<AdminUpstream['health']['last_error']> }) {
  return (
    <span className="break small-text">
      {[error.status, error.code, error.message].filter((each) => each !== null).join(' · ')} <Time at={error.time} />
    </span>
  );
}
