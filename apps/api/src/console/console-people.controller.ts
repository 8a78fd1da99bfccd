import { Inject, Param, Req } from '@nestjs/common';
import { IsIn, IsOptional, IsString } from 'class-validator';
import type { Request } from 'express';
import { ACCOUNT_ROLES, type AccountRole, type ConsoleInvitation, type ConsolePerson, GatewayError } from '#contracts';
import { InvitationsService, PeopleService } from '#features';
import { PLATFORM, type Platform, publicBaseUrl } from '#runtime';
import { CheckedBody } from '../checked-input.js';
import { callerOf } from '../http/api-key.guard.js';
import { actorOf, PageRoute, ConsoleRoutes } from './console-routes.js';
import { openSession } from './console-gate.js';
import { rowOf } from './views.js';

class InvitationBody {
  @IsIn(ACCOUNT_ROLES) role!: AccountRole;
  @IsOptional() @IsString() email?: string;
}

class RoleBody {
  @IsIn(ACCOUNT_ROLES) role!: AccountRole;
}

/** Where an invitation is taken. The fragment reaches no log on the way. */
export const invitationLink = (platform: Platform, code: string): string =>
  `${publicBaseUrl(platform.config)}/console/sign-in#invitation=${code}`;

/** The people of the account, for its owners. */
@ConsoleRoutes()
export class ConsolePeopleController {
  constructor(
    private readonly people: PeopleService,
    private readonly invitations: InvitationsService,
    @Inject(PLATFORM) private readonly platform: Platform,
  ) {}

  @PageRoute('GET /people')
  async list(@Req() request: Request) {
    const { accountId } = callerOf(request);
    const [people, invitations] = await Promise.all([
      this.people.ofAccount(accountId),
      this.invitations.list(accountId),
    ]);
    return {
      people: people.map((person) => toPerson(person, request)),
      invitations: invitations.map(rowOf<ConsoleInvitation>),
    };
  }

  @PageRoute('POST /people/invitations')
  async invite(@CheckedBody(InvitationBody) body: InvitationBody, @Req() request: Request) {
    const { role, email = null } = body;
    const { accountId } = callerOf(request);
    const invitedBy = openSession(request).user?.name ?? 'An operator';
    const made = await this.invitations.create(actorOf(request), { accountId, role, email, invitedBy });
    return { invitation: rowOf<ConsoleInvitation>(made.invitation), link: invitationLink(this.platform, made.code) };
  }

  @PageRoute('POST /people/invitations/:invitation_id/withdraw')
  async withdraw(@Param('invitation_id') id: string, @Req() request: Request) {
    await this.invitations.withdraw(actorOf(request), callerOf(request).accountId, id);
    return { id, withdrawn: true as const };
  }

  @PageRoute('POST /people/:user_id')
  async change(@Param('user_id') userId: string, @CheckedBody(RoleBody) { role }: RoleBody, @Req() request: Request) {
    const { accountId } = callerOf(request);
    await this.people.changeRole(actorOf(request), accountId, userId, role);
    const person = (await this.people.ofAccount(accountId)).find((each) => each.userId === userId);
    if (!person)
      throw new GatewayError('not_found', 'This person is no longer a member of the account.', { param: 'user_id' });
    return toPerson(person, request);
  }

  @PageRoute('POST /people/:user_id/remove')
  async remove(@Param('user_id') userId: string, @Req() request: Request) {
    await this.people.changeRole(actorOf(request), callerOf(request).accountId, userId, null);
    return { user_id: userId, removed: true as const };
  }
}

const toPerson = (person: { readonly userId: string }, request: Request): ConsolePerson =>
  rowOf<ConsolePerson>({ ...person, is_self: openSession(request).user?.id === person.userId });
