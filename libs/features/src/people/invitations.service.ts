import { Injectable } from '@nestjs/common';
import { type AccountRole, GatewayError, type InvitationPreview, type OperatorConsoleRole } from '#contracts';
import { Database, type ModelTransaction, type Prisma, timeOrderedId } from '#platform';
import { AuditedChanges, changeOf, type Operator, uncounted } from '../audit/audit.js';
import { lock } from '../accounts/accounts.service.js';
import type { ProvedIdentity } from './identity-provider.js';
import {
  addressTaken,
  checkEmail,
  checkPassword,
  checkPerson,
  forgetWaysIn,
  joinAccount,
  NAME_CHARACTERS_MAX,
  type PersonDetails,
  refuseTakenAddress,
} from './people.service.js';
import { hashOfCode, hashPassword, isPassword, newSecretCode } from './password.js';

const HOURS = 72;
/** Invitations of an account that may be open at once. */
const OPEN_MAX = 100;

/** Into which account (null: among the operators), as what. */
export interface InvitationRequest {
  readonly accountId: string | null;
  readonly role: AccountRole | OperatorConsoleRole;
  readonly email: string | null;
  /** The name of the inviting user. */
  readonly invitedBy: string;
}

export interface Joined {
  readonly userId: string;
  readonly accountId: string | null;
}

const SHOWN = { id: true, role: true, email: true, invitedBy: true, createdAt: true, expiresAt: true } as const;

/** An invitation that has not been accepted yet. */
type OpenInvitation = Prisma.InvitationGetPayload<{ select: typeof SHOWN }>;

/** People come by invitation alone: a link that works once, for 72 hours. */
@Injectable()
export class InvitationsService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  /** @throws GatewayError `not_found`: no such account; `conflict`: too many are open; `invalid_parameter`. */
  create(operator: Operator, requested: InvitationRequest): Promise<{ invitation: OpenInvitation; code: string }> {
    const email = requested.email === null ? null : checkEmail(requested.email);
    const code = newSecretCode();
    const id = timeOrderedId('inv');
    const expiresAt = new Date(Date.now() + HOURS * 3_600_000);
    return this.changes.run(operator, async (transaction) => {
      const { accountId, role, invitedBy } = requested;
      if (accountId !== null) await lock(transaction, accountId);
      const open = await transaction.invitation.count({ where: { accountId, expiresAt: { gt: new Date() } } });
      if (open >= OPEN_MAX) throw new GatewayError('conflict', `At most ${OPEN_MAX} invitations may be open at once.`);
      const data = { id, codeHash: new Uint8Array(hashOfCode(code)), accountId, role, email, invitedBy, expiresAt };
      const invitation = await transaction.invitation.create({ data, select: SHOWN });
      const change = changeOf('user', 'user.invited', id, null, { account_id: accountId, role, email });
      return { result: { invitation, code }, change };
    });
  }

  /** Newest first. */
  async list(accountId: string): Promise<OpenInvitation[]> {
    const { invitation } = await this.database.models();
    const where = { accountId, expiresAt: { gt: new Date() } };
    return invitation.findMany({ where, orderBy: { id: 'desc' }, select: SHOWN });
  }

  /** @throws GatewayError `not_found`. */
  async withdraw(operator: Operator, accountId: string, id: string): Promise<void> {
    await this.changes.run(uncounted(operator), async ({ invitation }) => {
      const { count } = await invitation.deleteMany({ where: { id, accountId } });
      if (count === 0) throw new GatewayError('not_found', 'There is no such invitation.', { param: 'invitation_id' });
      return { result: undefined, change: changeOf('user', 'user.uninvited', id, { account_id: accountId }) };
    });
  }

  /** What a code leads to; null when it is unknown, used or over. */
  async preview(code: string): Promise<InvitationPreview | null> {
    const { invitation } = await this.database.models();
    const row = await invitation.findUnique({
      where: { codeHash: new Uint8Array(hashOfCode(code)), expiresAt: { gt: new Date() } },
      include: { account: { select: { name: true } } },
    });
    if (!row) return null;
    const { account, role, email, expiresAt } = row;
    const shown = { role: role as InvitationPreview['role'], email, expires_at: expiresAt.toISOString() };
    return { account_name: account?.name ?? null, ...shown };
  }

  /**
   * Accepts an invitation, once: creates the user, or adds the account to the user with that e-mail address and password.
   *
   * @returns the user and the account; null when the code is unknown, used or over.
   * @throws GatewayError `invalid_parameter`; `conflict`: another person has the address, or the account would have no owner.
   */
  async accept(
    operator: Operator,
    code: string,
    { password, ...details }: PersonDetails & { readonly password: string },
  ): Promise<Joined | null> {
    const { name = '', email = '' } = checkPerson(details);
    checkPassword(password);
    const { consoleUser } = await this.database.models();
    if (!(await this.preview(code))) return null;
    const known = await consoleUser.findUnique({ where: { email } });
    if (known && (known.disabledAt || !(await isPassword(password, known.passwordHash)))) throw addressTaken();
    const passwordHash = known ? null : await hashPassword(password);
    return this.join(operator, code, async (transaction) => {
      if (known) return known.id;
      const data = { id: timeOrderedId('user'), name, email, passwordHash };
      return (await transaction.consoleUser.create({ data }).catch(refuseTakenAddress)).id;
    });
  }

  /**
   * Accepts an invitation, once, with an identity of the identity provider, which signs the user in from then on. A person
   * with the same e-mail address is the same one only where the invitation names it, and loses every other way to sign in:
   * none of them proved the address.
   *
   * @returns as `accept` does.
   * @throws GatewayError `permission_denied`: the provider has not proved the address that the invitation names;
   * `conflict`: another person has the address, or the account would have no owner.
   */
  async acceptAs(operator: Operator, code: string, identity: ProvedIdentity): Promise<Joined | null> {
    const { issuer, subject, email } = identity;
    const invited = await this.preview(code);
    if (!invited) return null;
    if (invited.email !== null && invited.email !== email) {
      throw new GatewayError('permission_denied', 'The invitation is for another e-mail address.', { param: 'email' });
    }
    const { consoleUser, consoleIdentity } = await this.database.models();
    const linked = await consoleIdentity.findUnique({
      where: { issuer_subject: { issuer, subject } },
      include: { user: true },
    });
    const known = linked?.user ?? (email === null ? null : await consoleUser.findUnique({ where: { email } }));
    if (known?.disabledAt || (known && !linked && invited.email === null)) throw addressTaken();
    return this.join(operator, code, async (transaction) => {
      const name = identity.name ?? email ?? subject;
      const data = { id: timeOrderedId('user'), name: name.slice(0, NAME_CHARACTERS_MAX), email };
      const userId = known?.id ?? (await transaction.consoleUser.create({ data }).catch(refuseTakenAddress)).id;
      // Until now the address was only claimed: whoever did so may be another person.
      if (known && !linked) await forgetWaysIn(transaction, userId);
      if (!linked) await transaction.consoleIdentity.create({ data: { issuer, subject, userId } });
      return userId;
    });
  }

  /** Uses an invitation up for the person that `personIn` finds or makes. */
  private join(
    operator: Operator,
    code: string,
    personIn: (transaction: ModelTransaction) => Promise<string>,
  ): Promise<Joined | null> {
    const codeHash = new Uint8Array(hashOfCode(code));
    return this.changes.run(operator, async (transaction) => {
      const [taken] = await transaction.invitation.findMany({ where: { codeHash, expiresAt: { gt: new Date() } } });
      // Of two concurrent requests, one deletes it.
      const { count } = await transaction.invitation.deleteMany({ where: { codeHash } });
      if (!taken || count === 0) return { result: null, change: null };
      const userId = await personIn(transaction);
      const { accountId, role } = taken;
      if (accountId === null) {
        await transaction.consoleUser.update({ where: { id: userId }, data: { operatorRole: role } });
        await transaction.consoleSession.deleteMany({ where: { userId } });
      } else await joinAccount(transaction, { userId, accountId, role });
      const after = { account_id: accountId, role, invitation_id: taken.id };
      return { result: { userId, accountId }, change: changeOf('user', 'user.joined', userId, null, after) };
    });
  }
}
