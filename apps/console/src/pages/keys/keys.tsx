import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ConsoleKey } from '../../api/types';
import { useMay, useRead } from '../../api/queries';
import { Button } from '../../components/button';
import { CodeBlock } from '../../components/code-block';
import { Icon } from '../../components/icons';
import { Menu, MenuItem } from '../../components/menu';
import { Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { Money, Time } from '../../components/values';
import { useMessages } from '../../messages/language';
import { CreateKeyDialog, EditKeyDialog, RevokeKeyDialog, RotateKeyDialog } from './key-dialogs';

const route = getRouteApi('/shell/keys');

/** Which action on which key is open. */
type Doing = { readonly what: 'edit' | 'rotate' | 'revoke'; readonly key: ConsoleKey };

export function KeysPage() {
  const { keys, shell } = useMessages();
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const [doing, setDoing] = useState<Doing | null>(null);
  const list = useRead('GET /keys', {});
  const showCreate = (isShown: boolean) =>
    void navigate({ search: (before) => ({ ...before, create: isShown ? 'true' : undefined }), replace: true });
  return (
    <Page
      title={shell.pages.keys}
      lead={keys.lead}
      actions={<Button look="primary" icon="plus" label={keys.create} onClick={() => showCreate(true)} />}
    >
      <Loaded query={list} height={300}>
        {({ items }) => (
          <section className="card">
            {items.some(({ kind }) => kind === 'api') ? (
              <KeyTable items={items} onDo={setDoing} />
            ) : (
              <NoKeys onCreate={() => showCreate(true)} />
            )}
          </section>
        )}
      </Loaded>
      {create && <CreateKeyDialog onClose={() => showCreate(false)} />}
      {doing && <KeyDialog doing={doing} onClose={() => setDoing(null)} />}
    </Page>
  );
}

export function KeyDialog({ doing, onClose }: { readonly doing: Doing; readonly onClose: () => void }) {
  const DialogOf = { edit: EditKeyDialog, rotate: RotateKeyDialog, revoke: RevokeKeyDialog }[doing.what];
  return <DialogOf of={doing.key} onClose={onClose} />;
}

function NoKeys({ onCreate }: { readonly onCreate: () => void }) {
  const { keys } = useMessages();
  return (
    <Empty
      action={
        <>
          <Button look="primary" label={keys.create} onClick={onCreate} />
          <CodeBlock
            name="curl"
            code={`curl -s ${location.origin}/v1/models -H "Authorization: Bearer $GATEWAY_API_KEY"`}
          />
        </>
      }
    >
      {keys.empty}
    </Empty>
  );
}

function KeyTable({ items, onDo }: { readonly items: readonly ConsoleKey[]; readonly onDo: (doing: Doing) => void }) {
  const { shell } = useMessages();
  return <Table label={shell.pages.keys} name="keys" columns={useColumns(onDo)} rows={items} isLinked />;
}

function useColumns(onDo: (doing: Doing) => void): Column<ConsoleKey>[] {
  const { keys, common } = useMessages();
  const seesAll = useMay('keys:all');
  return [
    { id: 'name', head: common.name, cell: (key) => <KeyName of={key} /> },
    {
      id: 'state',
      head: common.state,
      cell: ({ state, previous_valid_until: old }) => <Status of={state === 'active' && old ? 'rotating' : state} />,
    },
    {
      id: 'models',
      head: common.models,
      cell: ({ allowed_models: models }) => (
        <span title={models.join(', ')}>{models.length === 0 ? keys.allModels : keys.someModels(models.length)}</span>
      ),
    },
    { id: 'used', head: keys.used, money: ({ used }) => used },
    {
      id: 'quota',
      head: keys.quota,
      isNumber: true,
      cell: ({ quota }) =>
        quota === null ? <span className="muted">{common.unlimited}</span> : <Money amount={quota} form="full" />,
    },
    {
      id: 'lastUsed',
      head: keys.lastUsed,
      cell: ({ last_used_at: at }) => (at === null ? <span className="muted">{common.never}</span> : <Time at={at} />),
    },
    { id: 'expires', head: keys.expires, time: ({ expires_at: at }) => at },
    {
      id: 'createdBy',
      head: keys.createdBy,
      isHidden: !seesAll,
      cell: (key) => (key.is_own ? keys.own : key.created_by?.name),
    },
    { id: 'actions', head: common.actions, isActions: true, cell: (key) => <KeyMenu of={key} onDo={onDo} /> },
  ];
}

/** The displayed name of a key: the console's own key, which playground runs are charged to, has no name given by a user. */
export const shownName = ({ kind, name }: Pick<ConsoleKey, 'kind' | 'name'>, consoleName: string): string =>
  kind === 'console' ? consoleName : name;

function KeyName({ of: key }: { readonly of: ConsoleKey }) {
  const { shell } = useMessages();
  return (
    <>
      <Link to="/keys/$keyId" params={{ keyId: key.id }}>
        {shownName(key, shell.pages.playground)}
      </Link>
      {key.kind === 'api' && (
        <>
          <br />
          <code className="muted">{key.prefix}…</code>
        </>
      )}
    </>
  );
}

export function KeyMenu({ of: key, onDo }: { readonly of: ConsoleKey; readonly onDo: (doing: Doing) => void }) {
  const { keys, common, shell } = useMessages();
  if (key.state === 'revoked') return null;
  return (
    <Menu label={`${common.actions}: ${shownName(key, shell.pages.playground)}`} button={<Icon name="more" />}>
      <MenuItem onChoose={() => onDo({ what: 'edit', key })}>{common.edit}</MenuItem>
      {key.kind === 'api' && (
        <>
          <MenuItem onChoose={() => onDo({ what: 'rotate', key })}>{keys.rotate}</MenuItem>
          <MenuItem onChoose={() => onDo({ what: 'revoke', key })}>{keys.revoke}</MenuItem>
        </>
      )}
    </Menu>
  );
}
