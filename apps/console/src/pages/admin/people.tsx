import { useState } from 'react';
import { useChange } from '../../api/queries';
import type { AdminPerson } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { Choice, TextField, useInputs } from '../../components/fields';
import { Icon } from '../../components/icons';
import { LinkDialog } from '../../components/link-dialog';
import { ListCard } from '../../components/list';
import { Menu, MenuItem } from '../../components/menu';
import { Page } from '../../components/page';
import { Failure } from '../../components/states';
import { Status } from '../../components/status';
import type { Column } from '../../components/table';
import { Email, Time } from '../../components/values';
import { useMessages } from '../../messages/language';

const ACCOUNT_ROLES = ['viewer', 'developer', 'finance', 'owner'] as const;
const OPERATOR_ROLES = ['ops_viewer', 'operator'] as const;
type AnyRole = (typeof ACCOUNT_ROLES)[number] | (typeof OPERATOR_ROLES)[number];

export function PeoplePage() {
  const { admin, account, common, roles, shell } = useMessages();
  const { people: words } = admin;
  const [isInviting, setInviting] = useState(false);
  const change = useChange('POST /admin/people/:user_id', ['GET /admin/people', 'GET /admin/audit']);
  const columns: Column<AdminPerson>[] = [
    { id: 'name', head: common.name, cell: ({ name }) => name },
    { id: 'email', head: common.email, cell: ({ email }) => <Email of={email} /> },
    {
      id: 'state',
      head: common.state,
      cell: ({ disabled_at: at }) => <Status of={at === null ? 'active' : 'disabled'} />,
    },
    {
      id: 'operator',
      head: words.operatorRole,
      cell: ({ operator_role: role }) => (role === null ? words.noRole : roles[role]),
    },
    {
      id: 'memberships',
      head: words.memberships,
      cell: ({ memberships }) => memberships.map((each) => `${each.account_name}: ${roles[each.role]}`).join(', '),
    },
    { id: 'seen', head: account.seen, cell: ({ seen_at: at }) => (at === null ? common.never : <Time at={at} />) },
    {
      id: 'actions',
      head: common.actions,
      isActions: true,
      cell: (person) => (
        <Menu label={`${common.actions}: ${person.name}`} button={<Icon name="more" />}>
          <MenuItem
            onChoose={() =>
              change.mutate({ params: { user_id: person.user_id }, body: { disabled: person.disabled_at === null } })
            }
          >
            {person.disabled_at === null ? words.disable : words.enable}
          </MenuItem>
        </Menu>
      ),
    },
  ];
  return (
    <Page
      title={shell.pages.people}
      actions={<Button look="primary" label={common.invite} onClick={() => setInviting(true)} />}
    >
      <Failure of={change.error} />
      <ListCard
        route="GET /admin/people"
        input={{}}
        label={shell.pages.people}
        name="admin.people"
        columns={columns}
        keyOf={(person) => person.user_id}
        empty={words.none}
      />
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
    </Page>
  );
}

function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const { admin, account, common, roles } = useMessages();
  const { people: words } = admin;
  const invite = useChange('POST /admin/people/invitations', ['GET /admin/people', 'GET /admin/audit']);
  const form = useInputs({ account_id: '', email: '' });
  const [role, setRole] = useState<AnyRole>('operator');
  const accountId = form.values.account_id.trim();
  const { email } = form.values;
  const choices: readonly AnyRole[] = accountId === '' ? OPERATOR_ROLES : ACCOUNT_ROLES;
  const chosen = choices.includes(role) ? role : choices.at(-1)!;
  if (invite.data) return <LinkDialog link={invite.data.link} until={invite.data.expires_at} onClose={onClose} />;
  return (
    <FormDialog
      title={common.invite}
      change={invite}
      onClose={onClose}
      onSubmit={() =>
        invite.mutate({
          body: { role: chosen, ...(accountId !== '' && { account_id: accountId }), ...(email !== '' && { email }) },
        })
      }
    >
      <TextField {...form.text('account_id')} label={words.account} />
      <TextField
        {...form.text('email')}
        label={common.email}
        aside={common.optional}
        type="email"
        hint={account.inviteHint}
      />
      <Choice
        label={common.role}
        value={chosen}
        onChoose={(value) => setRole(value as AnyRole)}
        choices={choices.map((each) => [each, roles[each]])}
      />
    </FormDialog>
  );
}
