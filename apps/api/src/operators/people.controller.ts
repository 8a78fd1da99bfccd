import { Body, Inject, Param, Req } from '@nestjs/common';
import { IsBoolean, IsIn, IsOptional, IsString } from 'class-validator';
import type { Request } from 'express';
import {
  ACCOUNT_ROLES,
  type AccountRole,
  type AdminPerson,
  type ConsoleInvitation,
  type ConsolePerson,
  GatewayError,
  OPERATOR_ROLES,
  type OperatorConsoleRole,
} from '#contracts';
import { InvitationsService, PeopleService } from '#features';
import { PLATFORM, type Platform, publicBaseUrl } from '#runtime';
import { checked, CheckedBody, CheckedQuery } from '../checked-input.js';
import { callerOf } from '../http/api-key.guard.js';
import { IsText, OrNull } from '../input-fields.js';
import { actorOf, PageRoute, ConsoleRoutes } from '../console/console-routes.js';
import { openSession } from '../console/console-gate.js';
import { ConsolePageQuery } from '../console/console-tasks.controller.js';
import { rowOf } from '../console/views.js';

class InvitationBody {
  @IsOptional() @IsText(80) account_id?: string;
  @IsIn([...ACCOUNT_ROLES, ...OPERATOR_ROLES]) role!: AccountRole | OperatorConsoleRole;
  @IsOptional() @IsString() email?: string;
}

class RoleBody {
  @IsIn(ACCOUNT_ROLES) role!: AccountRole;
}

class MemberInvitation extends RoleBody {
  @IsOptional() @IsString() email?: string;
}

class PersonChange {
  @OrNull() @IsIn(OPERATOR_ROLES) operator_role?: OperatorConsoleRole | null;
  @IsOptional() @IsBoolean() disabled?: boolean;
}

/** Every user that can sign in, for operators, and the people of an account, for its owners. */
@ConsoleRoutes()
export class PeopleController {
  constructor(
    private readonly people: PeopleService,
    private readonly invitations: InvitationsService,
    @Inject(PLATFORM) private readonly platform: Platform,
  ) {}

  @PageRoute('GET /admin/people')
  async list(@CheckedQuery(ConsolePageQuery) query: ConsolePageQuery) {
    const { limit, cursor = null } = query;
    const { items, nextCursor } = await this.people.list({ limit, cursor });
    return { items: items.map(toPerson), next_cursor: nextCursor };
  }

  @PageRoute('POST /admin/people/invitations')
  async invite(@Body() body: unknown, @Req() request: Request) {
    const { account_id: accountId = null, role, email } = checked(InvitationBody, body);
    expectFit(accountId, role);
    const { invitation, link } = await this.invited(accountId, role, email, request);
    return { id: invitation.id, link, expires_at: invitation.expiresAt.toISOString() };
  }

  @PageRoute('POST /admin/people/:user_id')
  async change(
    @Param('user_id') userId: string,
    @CheckedBody(PersonChange) { operator_role: operatorRole, disabled }: PersonChange,
    @Req() request: Request,
  ) {
    if (openSession(request).user?.id === userId) {
      throw new GatewayError(
        'conflict',
        'You cannot change your own operator role: another operator has to, so that at least one always remains.',
        {
          param: 'user_id',
        },
      );
    }
    return toPerson(await this.people.change(actorOf(request), userId, { operatorRole, disabled }));
  }

  @PageRoute('GET /people')
  async ofAccount(@Req() request: Request) {
    const { accountId } = callerOf(request);
    const [people, invitations] = await Promise.all([
      this.people.ofAccount(accountId),
      this.invitations.list(accountId),
    ]);
    return {
      people: people.map((person) => toMember(person, request)),
      invitations: invitations.map(rowOf<ConsoleInvitation>),
    };
  }

  @PageRoute('POST /people/invitations')
  async inviteMember(@CheckedBody(MemberInvitation) { role, email }: MemberInvitation, @Req() request: Request) {
    const { invitation, link } = await this.invited(callerOf(request).accountId, role, email, request);
    return { invitation: rowOf<ConsoleInvitation>(invitation), link };
  }

  @PageRoute('POST /people/invitations/:invitation_id/withdraw')
  async withdraw(@Param('invitation_id') id: string, @Req() request: Request) {
    await this.invitations.withdraw(actorOf(request), callerOf(request).accountId, id);
    return { id, withdrawn: true as const };
  }

  @PageRoute('POST /people/:user_id')
  async changeMember(
    @Param('user_id') userId: string,
    @CheckedBody(RoleBody) { role }: RoleBody,
    @Req() request: Request,
  ) {
    const { accountId } = callerOf(request);
    await this.people.changeRole(actorOf(request), accountId, userId, role);
    const person = (await this.people.ofAccount(accountId)).find((each) => each.userId === userId);
    if (!person)
      throw new GatewayError('not_found', 'This person is no longer a member of the account.', { param: 'user_id' });
    return toMember(person, request);
  }

  @PageRoute('POST /people/:user_id/remove')
  async removeMember(@Param('user_id') userId: string, @Req() request: Request) {
    await this.people.changeRole(actorOf(request), callerOf(request).accountId, userId, null);
    return { user_id: userId, removed: true as const };
  }

  private async invited(
    accountId: string | null,
    role: AccountRole | OperatorConsoleRole,
    email: string | undefined,
    request: Request,
  ) {
    const invitedBy = openSession(request).user?.name ?? 'An operator';
    const made = await this.invitations.create(actorOf(request), { accountId, role, email: email ?? null, invitedBy });
    // The fragment reaches no log on the way.
    const link = `${publicBaseUrl(this.platform.config)}/console/sign-in#invitation=${made.code}`;
    return { invitation: made.invitation, link };
  }
}

/** @throws GatewayError `invalid_parameter`. */
function expectFit(accountId: string | null, role: AccountRole | OperatorConsoleRole): void {
  const roles: readonly string[] = accountId === null ? OPERATOR_ROLES : ACCOUNT_ROLES;
  if (roles.includes(role)) return;
  const where = accountId === null ? 'Without account_id' : 'With account_id';
  throw new GatewayError('invalid_parameter', `${where}, role must be one of ${roles.join(', ')}.`, { param: 'role' });
}

const toPerson = ({ id, ...person }: { readonly id: string }): AdminPerson =>
  rowOf<AdminPerson>({ user_id: id, ...person });

const toMember = (person: { readonly userId: string }, request: Request): ConsolePerson =>
  rowOf<ConsolePerson>({ ...person, is_self: openSession(request).user?.id === person.userId });
