import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ConsoleKey } from '../../api/types';
import { useRead } from '../../api/queries';
import { Button } from '../../components/button';
import { Card, Facts, Notice, Page } from '../../components/page';
import { SpendLimits } from '../../components/spend-limits';
import { Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { Id, Money, Time } from '../../components/values';
import { useMessages } from '../../messages/language';
import { KeyDialog, shownName } from './keys';

const route = getRouteApi('/shell/keys/$keyId');

export function KeyPage() {
  const { shell } = useMessages();
  const { keyId } = route.useParams();
  const key = useRead('GET /keys/:key_id', { params: { key_id: keyId } });
  return (
    <Page
      title={key.data ? shownName(key.data, shell.pages.playground) : shell.pages.keys}
      actions={key.data && <Actions of={key.data} />}
    >
      <Loaded query={key} height={360}>
        {(data) => <KeyFacts of={data} />}
      </Loaded>
    </Page>
  );
}

function Actions({ of: key }: { readonly of: ConsoleKey }) {
  const { keys, common } = useMessages();
  const [what, setWhat] = useState<'edit' | 'rotate' | 'revoke' | null>(null);
  if (key.state === 'revoked') return null;
  return (
    <>
      <Button label={common.edit} onClick={() => setWhat('edit')} />
      {key.kind === 'api' && (
        <>
          <Button label={keys.rotate} onClick={() => setWhat('rotate')} />
          <Button look="danger" label={keys.revoke} onClick={() => setWhat('revoke')} />
        </>
      )}
      {what && <KeyDialog doing={{ what, key }} onClose={() => setWhat(null)} />}
    </>
  );
}

function KeyFacts({ of: key }: { readonly of: ConsoleKey }) {
  const { keys, common } = useMessages();
  const orUnlimited = (value: number | null) => value ?? common.unlimited;
  return (
    <div className="stack">
      {key.kind === 'console' && <Notice tone="info">{keys.console}</Notice>}
      {key.previous_valid_until !== null && (
        <Notice tone="warn">
          {keys.oldWorksUntil} <Time at={key.previous_valid_until} absolute />
        </Notice>
      )}
      <Card title={common.details}>
        <Facts
          of={[
            [common.state, <Status key="state" of={key.state} />],
            ['ID', <Id key="id" id={key.id} name={common.id} whole />],
            ...(key.kind === 'api' ? [[keys.prefix, <code key="prefix">{key.prefix}…</code>] as const] : []),
            [keys.used, <Money key="used" amount={key.used} form="full" />],
            [keys.quota, key.quota === null ? common.unlimited : <Money key="quota" amount={key.quota} form="full" />],
            ...(key.limits.length > 0 ? [[keys.limits, <SpendLimits key="limits" of={key.limits} />] as const] : []),
            [common.models, key.allowed_models.length === 0 ? keys.allModels : key.allowed_models.join(', ')],
            [keys.tags, key.tags.join(', ')],
            [keys.addresses, key.allowed_addresses.length === 0 ? keys.allAddresses : key.allowed_addresses.join(', ')],
            [keys.requestsPerMinute, orUnlimited(key.requests_per_minute)],
            [keys.tokensPerMinute, orUnlimited(key.tokens_per_minute)],
            [keys.maxRunningTasks, orUnlimited(key.max_running_tasks)],
            [keys.lastUsed, key.last_used_at === null ? common.never : <Time key="last" at={key.last_used_at} />],
            [
              keys.expires,
              key.expires_at === null ? common.never : <Time key="expires" at={key.expires_at} absolute />,
            ],
            [common.created, <Time key="created" at={key.created_at} absolute />],
          ]}
        />
      </Card>
      <p>
        <Link to="/tasks" search={{ key: key.id }}>
          {keys.activity}
        </Link>
      </p>
    </div>
  );
}
