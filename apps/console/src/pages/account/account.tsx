import { useState } from 'react';
import type { Answer } from '../../api/call';
import { useChange, useMay, useRead, useSession } from '../../api/queries';
import { Button } from '../../components/button';
import { EmailField, PasswordField, TextField, useInputs } from '../../components/fields';
import { Card, Facts, Notice, Page } from '../../components/page';
import { Failure, Loaded } from '../../components/states';
import { type Column, Table } from '../../components/table';
import { Id, None, Time } from '../../components/values';
import { useMessages } from '../../messages/language';
import { leave } from '../../shell/other-tabs';
import { addPasskey, hasPasskeys } from '../../shell/passkeys';
import { ShortcutSwitch } from '../../shell/shortcuts-dialog';
import { PeopleCards } from './people';

export function AccountPage() {
  const { shell } = useMessages();
  const hasProfile = useMay('profile:manage');
  const mayManage = useMay('people:manage');
  return (
    <Page title={shell.pages.account}>
      {hasProfile && <Profile />}
      {mayManage && <PeopleCards />}
      <Sessions />
      <Appearance />
    </Page>
  );
}

function Profile() {
  const { account, common, roles, shell } = useMessages();
  const session = useSession();
  const ways = useRead('GET /sign-in', {});
  const { user } = session;
  if (!user) return null;
  return (
    <>
      <Card title={shell.you}>
        <Facts
          of={[
            [common.name, user.name],
            [common.email, user.email],
            [common.role, session.roles.map((role) => roles[role]).join(', ')],
            ['ID', <Id key="id" id={user.id} name={common.id} whole />],
            [common.password, user.has_password ? account.hasPassword : common.notSet],
          ]}
        />
      </Card>
      <div className="columns even">
        <PasswordCard />
        {ways.data?.passkey === true && <Passkeys />}
      </div>
    </>
  );
}

function PasswordCard() {
  const { account, common } = useMessages();
  const { user } = useSession();
  const profile = useChange('POST /profile', ['GET /session']);
  const change = useChange('POST /profile/password', ['GET /session', 'GET /sessions']);
  const form = useInputs({ email: user?.email ?? '', password: '' }, profile.error ?? change.error);
  const { email, password } = form.values;
  const save = async () => {
    if (email !== (user?.email ?? '')) await profile.mutateAsync({ body: { email } });
    await change.mutateAsync({ body: { password } });
    form.set({ password: '' });
  };
  return (
    <Card title={common.password}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          // What fails is shown below.
          save().catch(() => undefined);
        }}
      >
        <EmailField {...form.text('email')} label={common.email} />
        <PasswordField {...form.text('password')} isNew label={account.newPassword} hint={account.passwordHint} />
        {change.data && <Notice tone="good">{account.passwordSet}</Notice>}
        <Failure of={profile.error ?? change.error} />
        <div className="row">
          <Button type="submit" label={common.save} disabled={password === '' || email === '' || change.isPending} />
        </div>
      </form>
    </Card>
  );
}

function Passkeys() {
  const { account, common } = useMessages();
  const [name, setName] = useState('');
  const [failure, setFailure] = useState<Error | null>(null);
  const query = useRead('GET /passkeys', {});
  const remove = useChange('POST /passkeys/:passkey_id/remove', ['GET /passkeys', 'GET /session']);
  const add = () => {
    setFailure(null);
    addPasskey(name).then(
      () => {
        setName('');
        void query.refetch();
      },
      (error: Error) => setFailure(error),
    );
  };
  return (
    <Card title={account.passkeys}>
      <div className="stack">
        <Loaded query={query} height={60}>
          {({ items }) =>
            items.length === 0 ? (
              <p className="muted">{account.noPasskeys}</p>
            ) : (
              <ul className="stack tight">
                {items.map((each) => (
                  <li key={each.id} className="row between">
                    <span>
                      {each.name}{' '}
                      <span className="muted small-text">
                        <Time at={each.created_at} />
                      </span>
                    </span>
                    <Button
                      look="small"
                      label={common.remove}
                      aria-label={`${common.remove}: ${each.name}`}
                      onClick={() => remove.mutate({ params: { passkey_id: each.id }, body: {} })}
                    />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
        {hasPasskeys() && (
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              if (name !== '') add();
            }}
          >
            <TextField label={account.passkeyName} value={name} onType={setName} />
            <div className="row">
              <Button type="submit" label={account.addPasskey} disabled={name === ''} />
            </div>
          </form>
        )}
        <Failure of={failure ?? remove.error} />
      </div>
    </Card>
  );
}

type SessionRow = Answer<'GET /sessions'>['items'][number];

function Sessions() {
  const { account, common } = useMessages();
  const query = useRead('GET /sessions', {});
  const end = useChange('POST /sessions/:session_id/end', ['GET /sessions']);
  const endAll = useChange('POST /session/sign-out-everywhere');
  const columns: Column<SessionRow>[] = [
    {
      id: 'agent',
      head: account.agent,
      cell: ({ agent }) => (
        <span className="clipped" title={agent ?? ''}>
          {agent === null ? <None /> : agentName(agent)}
        </span>
      ),
    },
    { id: 'address', head: common.address, cell: ({ address }) => address },
    { id: 'seen', head: account.seen, time: ({ seen_at: at }) => at },
    { id: 'started', head: account.started, isHidden: true, time: ({ started_at: at }) => at },
    {
      id: 'end',
      head: common.actions,
      isActions: true,
      cell: (row) =>
        row.is_current ? (
          <span className="muted">{account.current}</span>
        ) : (
          <Button
            look="small"
            label={account.end}
            onClick={() => end.mutate({ params: { session_id: row.id }, body: {} })}
          />
        ),
    },
  ];
  return (
    <Card
      title={account.sessions}
      isFlush
      actions={
        <Button look="small" label={account.endAll} onClick={() => endAll.mutate({ body: {} }, { onSuccess: leave })} />
      }
    >
      <Loaded query={query} height={120}>
        {({ items }) => <Table label={account.sessions} name="sessions" columns={columns} rows={items} />}
      </Loaded>
      <Failure of={end.error ?? endAll.error} />
    </Card>
  );
}

function Appearance() {
  const { account } = useMessages();
  return (
    <Card title={account.appearance}>
      <ShortcutSwitch />
    </Card>
  );
}

/** Newer names first: most browsers also call themselves by the names of older ones. */
const BROWSERS = [
  ['Edge', /Edg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /OPR\/(\d+)/],
  ['Firefox', /(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /Version\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari/],
] as const;
const SYSTEMS = [
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['macOS', /Mac OS X/],
  ['Windows', /Windows/],
  ['Linux', /Linux/],
] as const;

/** The common name of a browser, `Chrome 141 · Linux`; an unknown browser by the name that it sends. */
function agentName(agent: string): string {
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(agent)?.[1];
    if (version === undefined) continue;
    const system = SYSTEMS.find(([, mark]) => mark.test(agent))?.[0];
    return [`${name} ${version}`, ...(system ? [system] : [])].join(' · ');
  }
  return agent;
}
