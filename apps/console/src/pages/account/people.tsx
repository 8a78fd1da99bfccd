import { useState } from 'react';
import { useChange, useRead } from '../../api/queries';
import type { ConsolePeople, ConsolePerson } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { Choice, TextField, useInputs } from '../../components/fields';
import { Menu, MenuItem } from '../../components/menu';
import { Icon } from '../../components/icons';
import { Card } from '../../components/page';
import { LinkDialog } from '../../components/link-dialog';
import { Loaded } from '../../components/states';
import { type Column, Table } from '../../components/table';
import { Email, Time } from '../../components/values';
import { useMessages } from '../../messages/language';

const ROLES = ['viewer', 'developer', 'finance', 'owner'] as const;
type Role = (typeof ROLES)[number];
type Doing = { readonly what: 'role' | 'remove'; readonly person: ConsolePerson };

/** The users of the account, and pending invitations. */
export function PeopleCards() {
  const { common, shell } = useMessages();
  const [isInviting, setInviting] = useState(false);
  const [doing, setDoing] = useState<Doing | null>(null);
  const query = useRead('GET /people', {});
  return (
    <Card
      title={shell.pages.people}
      isFlush
      actions={<Button look="small" label={common.invite} onClick={() => setInviting(true)} />}
    >
      <Loaded query={query} height={120}>
        {({ people, invitations }) => (
          <>
            <People people={people} onDo={setDoing} />
            {invitations.length > 0 && <Invitations of={invitations} />}
          </>
        )}
      </Loaded>
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
      {doing?.what === 'role' && <RoleDialog person={doing.person} onClose={() => setDoing(null)} />}
      {doing?.what === 'remove' && <RemoveDialog person={doing.person} onClose={() => setDoing(null)} />}
    </Card>
  );
}

interface PeopleProps {
  readonly people: readonly ConsolePerson[];
  readonly onDo: (doing: Doing) => void;
}

function People({ people, onDo }: PeopleProps) {
  const { account, roles, common, shell } = useMessages();
  const columns: Column<ConsolePerson>[] = [
    {
      id: 'name',
      head: common.name,
      cell: ({ name, is_self: isSelf }) => (isSelf ? `${name} (${account.you})` : name),
    },
    { id: 'email', head: common.email, cell: ({ email }) => <Email of={email} /> },
    { id: 'role', head: common.role, cell: ({ role }) => roles[role] },
    { id: 'seen', head: account.seen, cell: ({ seen_at: at }) => (at === null ? common.never : <Time at={at} />) },
    {
      id: 'actions',
      head: common.actions,
      isActions: true,
      cell: (person) =>
        !person.is_self && (
          <Menu label={`${common.actions}: ${person.name}`} button={<Icon name="more" />}>
            <MenuItem onChoose={() => onDo({ what: 'role', person })}>{account.changeRole}</MenuItem>
            <MenuItem onChoose={() => onDo({ what: 'remove', person })}>{common.remove}</MenuItem>
          </Menu>
        ),
    },
  ];
  return (
    <Table
      label={shell.pages.people}
      name="people"
      columns={columns}
      rows={people}
      keyOf={(person) => person.user_id}
    />
  );
}

function Invitations({ of: invitations }: { readonly of: ConsolePeople['invitations'] }) {
  const { account, common, roles } = useMessages();
  const withdraw = useChange('POST /people/invitations/:invitation_id/withdraw', ['GET /people']);
  const columns: Column<ConsolePeople['invitations'][number]>[] = [
    { id: 'email', head: common.email, cell: ({ email }) => <Email of={email} /> },
    { id: 'role', head: common.role, cell: ({ role }) => roles[role] },
    { id: 'by', head: account.invitedBy, cell: (each) => each.invited_by },
    { id: 'expires', head: account.expires, cell: ({ expires_at: at }) => <Time at={at} absolute /> },
    {
      id: 'withdraw',
      head: common.actions,
      isActions: true,
      cell: ({ id }) => (
        <Button
          look="small"
          label={account.withdraw}
          onClick={() => withdraw.mutate({ params: { invitation_id: id }, body: {} })}
        />
      ),
    },
  ];
  return (
    <>
      <h3 className="inner-head">{account.invitations}</h3>
      <Table label={account.invitations} name="invitations" columns={columns} rows={invitations} />
    </>
  );
}

export function RoleSelect({ value, onChange }: { readonly value: Role; readonly onChange: (role: Role) => void }) {
  const { roles, common } = useMessages();
  return (
    <Choice
      label={common.role}
      value={value}
      onChoose={(value) => onChange(value as Role)}
      choices={ROLES.map((role) => [role, roles[role]])}
    />
  );
}

function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const { account, common } = useMessages();
  const invite = useChange('POST /people/invitations', ['GET /people']);
  const [role, setRole] = useState<Role>('developer');
  const form = useInputs({ email: '' }, invite.error);
  const { email } = form.values;
  if (invite.data)
    return <LinkDialog link={invite.data.link} until={invite.data.invitation.expires_at} onClose={onClose} />;
  return (
    <FormDialog
      title={common.invite}
      change={invite}
      onClose={onClose}
      onSubmit={() => invite.mutate({ body: { role, ...(email !== '' && { email }) } })}
    >
      <TextField
        {...form.text('email')}
        label={common.email}
        aside={common.optional}
        type="email"
        hint={account.inviteHint}
      />
      <RoleSelect value={role} onChange={setRole} />
    </FormDialog>
  );
}

interface OfPerson {
  readonly person: ConsolePerson;
  readonly onClose: () => void;
}

function RoleDialog({ person, onClose }: OfPerson) {
  const { account, common } = useMessages();
  const [role, setRole] = useState<Role>(person.role);
  const change = useChange('POST /people/:user_id', ['GET /people']);
  return (
    <FormDialog
      title={`${account.changeRole}: ${person.name}`}
      submit={common.save}
      change={change}
      onClose={onClose}
      send={{ params: { user_id: person.user_id }, body: { role } }}
    >
      <RoleSelect value={role} onChange={setRole} />
    </FormDialog>
  );
}

function RemoveDialog({ person, onClose }: OfPerson) {
  const { account, common } = useMessages();
  const remove = useChange('POST /people/:user_id/remove', ['GET /people']);
  return (
    <FormDialog
      title={account.removeTitle(person.name)}
      submit={common.remove}
      isDangerous
      change={remove}
      onClose={onClose}
      send={{ params: { user_id: person.user_id }, body: {} }}
    >
      <p>{account.removeText}</p>
    </FormDialog>
  );
}
