import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReadRoute } from '../../api/call';
import { useChange, useMay, useRead } from '../../api/queries';
import type { AdminUpstream } from '../../api/types';
import { Button } from '../../components/button';
import { CodeBlock } from '../../components/code-block';
import { FormDialog } from '../../components/confirm-dialog';
import { CodeArea } from '../../components/fields';
import { Card, Facts, Notice, Page } from '../../components/page';
import { Failure, Loaded } from '../../components/states';
import { Time } from '../../components/values';
import { useMessages } from '../../messages/language';
import { patched, readObject } from './json-field';
import { UpstreamModels } from './upstream-models';
import { Health, LastError } from './upstreams';

const route = getRouteApi('/shell/admin/upstreams/$upstreamId');
const TOUCHED: readonly ReadRoute[] = ['GET /admin/upstreams', 'GET /admin/upstreams/:upstream_id', 'GET /admin/audit'];

export function UpstreamPage() {
  const { upstreamId } = route.useParams();
  const mayWrite = useMay('admin:write');
  const query = useRead('GET /admin/upstreams/:upstream_id', { params: { upstream_id: upstreamId } });
  return (
    <Page title={upstreamId} actions={mayWrite && query.data?.source === 'database' && <Actions of={query.data} />}>
      <Loaded query={query} height={420}>
        {(upstream) => <Details of={upstream} />}
      </Loaded>
    </Page>
  );
}

function Details({ of: upstream }: { readonly of: AdminUpstream }) {
  const { admin, common } = useMessages();
  const { upstreams: words } = admin;
  return (
    <div className="stack">
      {upstream.source === 'file' && <Notice tone="info">{words.fromFile}</Notice>}
      <Card title={common.details}>
        <Facts
          of={[
            [common.state, <Health key="health" of={upstream} />],
            [words.source, words.sources[upstream.source]],
            [common.key, upstream.key_set ? words.keyEnds(upstream.key_ends_with ?? '…') : common.notSet],
            [
              common.lastFailure,
              upstream.health.last_error && <LastError key="error" of={upstream.health.last_error} />,
            ],
            upstream.updated_at !== null && [common.updated, <Time key="updated" at={upstream.updated_at} absolute />],
          ]}
        />
      </Card>
      {upstream.kind === 'text' && <UpstreamModels of={upstream} />}
      <Card title={words.settings}>
        <CodeBlock name={words.settings} code={JSON.stringify(upstream.settings, null, 2)} />
      </Card>
    </div>
  );
}

function Actions({ of: upstream }: { readonly of: AdminUpstream }) {
  const { admin, common } = useMessages();
  const { upstreams: words } = admin;
  const [doing, setDoing] = useState<'edit' | 'remove' | null>(null);
  const toggle = useChange('POST /admin/upstreams/:upstream_id', TOUCHED);
  const close = () => setDoing(null);
  return (
    <>
      <Button
        label={upstream.enabled ? words.turnOff : words.turnOn}
        disabled={toggle.isPending}
        onClick={() => toggle.mutate({ params: { upstream_id: upstream.id }, body: { enabled: !upstream.enabled } })}
      />
      <Button label={common.edit} onClick={() => setDoing('edit')} />
      <Button look="danger" label={common.remove} onClick={() => setDoing('remove')} />
      <Failure of={toggle.error} />
      {doing === 'edit' && <EditDialog of={upstream} onClose={close} />}
      {doing === 'remove' && <RemoveDialog of={upstream} onClose={close} />}
    </>
  );
}

interface OfUpstream {
  readonly of: AdminUpstream;
  readonly onClose: () => void;
}

/** Changes settings, and shows before and after first. */
function EditDialog({ of: upstream, onClose }: OfUpstream) {
  const { admin, common } = useMessages();
  const { upstreams: words } = admin;
  const [text, setText] = useState('{\n  \n}');
  const change = useChange('POST /admin/upstreams/:upstream_id', TOUCHED);
  const patch = readObject(text);
  return (
    <FormDialog
      title={`${common.edit}: ${upstream.id}`}
      submit={common.save}
      isReady={patch !== null && Object.keys(patch).length > 0}
      change={change}
      onClose={onClose}
      send={{ params: { upstream_id: upstream.id }, body: patch ?? {} }}
    >
      <CodeArea
        label={words.patch}
        hint={words.patchHint}
        error={patch ? undefined : words.wrongJson}
        rows={6}
        value={text}
        onType={setText}
      />
      {patch && Object.keys(patch).length > 0 && (
        <>
          <h3>{words.before}</h3>
          <CodeBlock name={words.before} code={JSON.stringify(upstream.settings, null, 2)} />
          <h3>{words.after}</h3>
          <CodeBlock name={words.after} code={JSON.stringify(patched(upstream.settings, patch), null, 2)} />
        </>
      )}
    </FormDialog>
  );
}

function RemoveDialog({ of: upstream, onClose }: OfUpstream) {
  const { admin, common } = useMessages();
  const { upstreams: words } = admin;
  const navigate = useNavigate();
  const remove = useChange('POST /admin/upstreams/:upstream_id/remove', TOUCHED);
  return (
    <FormDialog
      title={`${common.remove}: ${upstream.id}`}
      submit={common.remove}
      isDangerous
      change={remove}
      onClose={onClose}
      onSubmit={() =>
        remove.mutate(
          { params: { upstream_id: upstream.id }, body: {} },
          { onSuccess: () => void navigate({ to: '/admin/upstreams' }) },
        )
      }
    >
      <p>{words.removeText}</p>
    </FormDialog>
  );
}
