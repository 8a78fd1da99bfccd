import { Body, Inject, Param, Req } from '@nestjs/common';
import { IsBoolean, IsIn, IsOptional, IsString } from 'class-validator';
import type { Request } from 'express';
import {
  ACCOUNT_ROLES,
  type AccountRole,
  type AdminPerson,
  GatewayError,
  OPERATOR_ROLES,
  type OperatorConsoleRole,
} from '#contracts';
import { InvitationsService, PeopleService } from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { checked, CheckedBody, CheckedQuery } from '../checked-input.js';
import { IsText, OrNull } from '../input-fields.js';
import { actorOf, PageRoute, ConsoleRoutes } from '../console/console-routes.js';
import { openSession } from '../console/console-gate.js';
import { invitationLink } from '../console/console-people.controller.js';
import { ConsolePageQuery } from '../console/console-tasks.controller.js';
import { rowOf } from '../console/views.js';

class InvitationBody {
  @IsOptional() @IsText(80) account_id?: string;
  @IsIn([...ACCOUNT_ROLES, ...OPERATOR_ROLES]) role!: AccountRole | OperatorConsoleRole;
  @IsOptional() @IsString() email?: string;
}

class PersonChange {
  @OrNull() @IsIn(OPERATOR_ROLES) operator_role?: OperatorConsoleRole | null;
  @IsOptional() @IsBoolean() disabled?: boolean;
}

/** Every user that can sign in, for operators. */
@ConsoleRoutes()
export class AdminPeopleController {
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
    const { account_id: accountId = null, role, email = null } = checked(InvitationBody, body);
    expectFit(accountId, role);
    const invitedBy = openSession(request).user?.name ?? 'An operator';
    const made = await this.invitations.create(actorOf(request), { accountId, role, email, invitedBy });
    const { id, expiresAt } = made.invitation;
    return { id, link: invitationLink(this.platform, made.code), expires_at: expiresAt.toISOString() };
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
