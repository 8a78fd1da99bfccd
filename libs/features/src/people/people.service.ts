import { Injectable } from '@nestjs/common';
import { isEmail } from 'class-validator';
import { type AccountRole, type ConsoleMembership, GatewayError, type OperatorConsoleRole } from '#contracts';
import { brokeConstraint, Database, type ModelTransaction, type Prisma } from '#platform';
import { lock } from '../accounts/accounts.service.js';
import { AuditedChanges, changeOf, type Operator, uncounted } from '../audit/audit.js';
import { idOfCursor, type Page, pageById, type PageRequest } from '../paging/page.js';
import { hashPassword, isPassword, PASSWORD_CHARACTERS } from './password.js';

const SHOWN = {
  id: true,
  name: true,
  email: true,
  operatorRole: true,
  createdAt: true,
  seenAt: true,
  disabledAt: true,
  memberships: { select: { role: true, accountId: true, account: { select: { name: true } } } },
} as const;

@Injectable()
export class PeopleService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  /** The user with this e-mail address and password; null when there is none. Takes as long either way. */
  async withPassword(email: string, password: string): Promise<string | null> {
    const { consoleUser } = await this.database.models();
    const user = await consoleUser.findUnique({ where: { email: email.trim().toLowerCase() } });
    const isRight = await isPassword(password, user?.passwordHash ?? null);
    return isRight && user && !user.disabledAt ? user.id : null;
  }

  async isPasswordOf(userId: string, password: string): Promise<boolean> {
    const { consoleUser } = await this.database.models();
    return isPassword(password, (await consoleUser.findUnique({ where: { id: userId } }))?.passwordHash ?? null);
  }

  /** The accounts of a user that are open, in the order in which they were joined. */
  async membershipsOf(userId: string): Promise<ConsoleMembership[]> {
    const { membership } = await this.database.models();
    const rows = await membership.findMany({
      where: { userId, account: { disabledAt: null } },
      orderBy: [{ createdAt: 'asc' }, { accountId: 'asc' }],
      include: { account: { select: { name: true } } },
    });
    return rows.map(toNamed);
  }

  async namesOf(userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (userIds.length === 0) return new Map();
    const { consoleUser } = await this.database.models();
    const rows = await consoleUser.findMany({ where: { id: { in: [...userIds] } }, select: { id: true, name: true } });
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** In the order in which they joined. */
  async ofAccount(accountId: string) {
    const { membership } = await this.database.models();
    const rows = await membership.findMany({
      where: { accountId },
      orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }],
      include: { user: { select: { name: true, email: true, seenAt: true } } },
    });
    return rows.map(({ userId, role, createdAt: joinedAt, user }) => ({ userId, ...user, role, joinedAt }));
  }

  /** All users, newest first. */
  async list({ limit, cursor }: PageRequest): Promise<Page<KnownPerson>> {
    const { consoleUser } = await this.database.models();
    const after = idOfCursor(cursor);
    const rows = await consoleUser.findMany({
      ...(after !== null && { cursor: { id: after }, skip: 1 }),
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit + 1,
      select: SHOWN,
    });
    return pageById(rows.map(toKnown), limit);
  }

  /**
   * Gives a person of an account another role, or takes them out of it (null). Their sessions there end.
   *
   * @throws GatewayError `not_found`; `conflict`: the account would have no owner.
   */
  changeRole(operator: Operator, accountId: string, userId: string, role: AccountRole | null): Promise<void> {
    return this.changes.run(role === null ? uncounted(operator) : operator, async (transaction) => {
      await lock(transaction, accountId);
      const key = { userId_accountId: { userId, accountId } };
      const before = await transaction.membership.findUnique({ where: key });
      if (!before) throw missing(userId);
      if (before.role === 'owner' && role !== 'owner') await expectOtherOwner(transaction, accountId, userId);
      if (role === null) await transaction.membership.delete({ where: key });
      else await transaction.membership.update({ where: key, data: { role } });
      await transaction.consoleSession.deleteMany({ where: { userId, accountId } });
      const action = role === null ? 'user.removed' : 'user.role_changed';
      const after = role && { account_id: accountId, role };
      const change = changeOf('user', action, userId, { account_id: accountId, role: before.role }, after);
      return { result: undefined, change };
    });
  }

  /** What operators set. Sessions of the person end. @throws GatewayError `not_found`. */
  change(
    operator: Operator,
    userId: string,
    {
      operatorRole,
      disabled,
    }: { operatorRole?: OperatorConsoleRole | null | undefined; disabled?: boolean | undefined },
  ): Promise<KnownPerson> {
    return this.changes.run(operator, async (transaction) => {
      const before = await transaction.consoleUser.findUnique({ where: { id: userId }, select: SHOWN });
      if (!before) throw missing(userId);
      const data = {
        ...(operatorRole !== undefined && { operatorRole }),
        ...(disabled !== undefined && { disabledAt: disabled ? (before.disabledAt ?? new Date()) : null }),
      };
      const after = await transaction.consoleUser.update({ where: { id: userId }, data, select: SHOWN });
      await transaction.consoleSession.deleteMany({ where: { userId } });
      const shown = ({ operatorRole: role, disabledAt }: typeof after) => ({
        operator_role: role,
        disabled_at: disabledAt,
      });
      return { result: toKnown(after), change: changeOf('user', 'user.changed', userId, shown(before), shown(after)) };
    });
  }

  /** Changes what a person says of themselves. @throws GatewayError `invalid_parameter`; `conflict`: the address is taken. */
  async rename(userId: string, details: Partial<PersonDetails>): Promise<void> {
    const { consoleUser } = await this.database.models();
    await consoleUser.update({ where: { id: userId }, data: checkPerson(details) }).catch(refuseTakenAddress);
  }

  /** Sets a password and ends the other sessions of the person. @throws GatewayError `invalid_parameter`. */
  async setPassword(userId: string, password: string, keptSessionId: string): Promise<void> {
    const passwordHash = await hashPassword(checkPassword(password));
    const models = await this.database.models();
    await models.$transaction([
      models.consoleUser.update({ where: { id: userId }, data: { passwordHash } }),
      models.consoleSession.deleteMany({ where: { userId, id: { not: keptSessionId } } }),
    ]);
  }
}

/**
 * Has a person in an account, in this role from now on. Their sessions there end.
 *
 * @throws GatewayError `conflict`: the account would have no owner.
 */
export async function joinAccount(
  transaction: ModelTransaction,
  { userId, accountId, role }: { readonly userId: string; readonly accountId: string; readonly role: string },
): Promise<void> {
  await lock(transaction, accountId);
  const key = { userId_accountId: { userId, accountId } };
  const before = await transaction.membership.findUnique({ where: key });
  if (before?.role === 'owner' && role !== 'owner') await expectOtherOwner(transaction, accountId, userId);
  await transaction.membership.upsert({ where: key, create: { userId, accountId, role }, update: { role } });
  await transaction.consoleSession.deleteMany({ where: { userId, accountId } });
}

/** Takes away everything that a person can sign in with, and ends their sessions. */
export async function forgetWaysIn(transaction: ModelTransaction, userId: string): Promise<void> {
  await transaction.consoleUser.update({ where: { id: userId }, data: { passwordHash: null } });
  await transaction.passkey.deleteMany({ where: { userId } });
  await transaction.consoleIdentity.deleteMany({ where: { userId } });
  await transaction.oneTimeLink.deleteMany({ where: { userId } });
  await transaction.consoleSession.deleteMany({ where: { userId } });
}

/** For a row of a person that was refused. @throws GatewayError `conflict` where another person has its address; else the error. */
export function refuseTakenAddress(error: unknown): never {
  throw brokeConstraint(error, 'console_user_email_key') ? addressTaken() : error;
}

export const addressTaken = (): GatewayError =>
  new GatewayError('conflict', 'Another person has this e-mail address.', { param: 'email' });

async function expectOtherOwner(transaction: ModelTransaction, accountId: string, userId: string): Promise<void> {
  const others = await transaction.membership.count({ where: { accountId, role: 'owner', userId: { not: userId } } });
  if (others === 0) {
    throw new GatewayError('conflict', 'The account needs an owner: make another person one first.', { param: 'role' });
  }
}

const toNamed = (row: { role: string; accountId: string; account: { name: string } }): ConsoleMembership => ({
  account_id: row.accountId,
  account_name: row.account.name,
  role: row.role as AccountRole,
});

type ShownUser = Prisma.ConsoleUserGetPayload<{ select: typeof SHOWN }>;
type KnownPerson = ReturnType<typeof toKnown>;

const toKnown = (user: ShownUser) => ({ ...user, memberships: user.memberships.map(toNamed) });

const missing = (userId: string): GatewayError =>
  new GatewayError('not_found', `There is no person "${userId.slice(0, 64)}" here.`, { param: 'user_id' });

/** What a person says of themselves. */
export interface PersonDetails {
  readonly name: string;
  readonly email: string;
}

export const NAME_CHARACTERS_MAX = 100;
const EMAIL_CHARACTERS_MAX = 200;

/** The details that are given, as they are stored. @throws GatewayError `invalid_parameter`. */
export function checkPerson({ name, email }: Partial<PersonDetails>): { name?: string; email?: string } {
  return {
    ...(name !== undefined && { name: checkName(name) }),
    ...(email !== undefined && { email: checkEmail(email) }),
  };
}

/** @throws GatewayError `invalid_parameter`. */
export function checkEmail(email: string): string {
  const trimmed = email.trim().toLowerCase();
  if (trimmed.length <= EMAIL_CHARACTERS_MAX && isEmail(trimmed, { require_tld: false })) return trimmed;
  throw GatewayError.ofField('email', `must be an e-mail address of at most ${EMAIL_CHARACTERS_MAX} characters`);
}

/** @throws GatewayError `invalid_parameter`. */
export function checkPassword(password: string): string {
  const { min, max } = PASSWORD_CHARACTERS;
  const { length } = Array.from(password);
  if (length >= min && length <= max) return password;
  throw GatewayError.ofField('password', `must have ${min} to ${max} characters`);
}

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed !== '' && trimmed.length <= NAME_CHARACTERS_MAX) return trimmed;
  throw GatewayError.ofField('name', `must have 1 to ${NAME_CHARACTERS_MAX} characters`);
}
