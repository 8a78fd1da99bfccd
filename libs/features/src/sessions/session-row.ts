import {
  type AccountRole,
  type ConsolePermission,
  type ConsoleRole,
  type OperatorConsoleRole,
  permissionsOf,
  type SignInMethod,
} from '#contracts';
import { type Caller, callerWith, type KeyRulesRow } from '../accounts/caller.js';
import { hasScope, type KeyScope } from '../accounts/key-scopes.js';

/** The session of a signed-in user, as read for each request. */
export interface OpenSession {
  readonly id: string;
  readonly method: SignInMethod;
  /** Null for holders of a key or of an operator's token. */
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string | null;
    readonly hasPassword: boolean;
  } | null;
  readonly account: { readonly id: string; readonly name: string } | null;
  readonly roles: readonly ConsoleRole[];
  readonly permissions: ReadonlySet<ConsolePermission>;
  /** What runs are charged to; null without an account. */
  readonly caller: Caller | null;
  /** Of a session that an operator's token opened: what must still fit that token. */
  readonly operator: { readonly role: OperatorConsoleRole; readonly check: Buffer } | null;
  readonly startedAt: Date;
  readonly seenAt: Date;
  readonly provedAt: Date | null;
  readonly expiresAt: Date;
}

export interface SessionRow extends KeyRulesRow {
  readonly id: string;
  readonly method: SignInMethod;
  readonly user_id: string | null;
  readonly user_name: string | null;
  readonly email: string | null;
  readonly has_password: boolean;
  readonly user_operator_role: OperatorConsoleRole | null;
  readonly account_id: string | null;
  readonly account_name: string | null;
  readonly role: AccountRole | null;
  readonly session_key_id: string | null;
  readonly operator_role: OperatorConsoleRole | null;
  readonly operator_check: Buffer | null;
  readonly created_at: Date;
  readonly seen_at: Date;
  readonly proved_at: Date | null;
  readonly expires_at: Date;
  readonly key_id: string | null;
  readonly key_expires_at: Date | null;
}

export function toOpenSession(row: SessionRow): OpenSession {
  const caller = callerOf(row);
  const roles = rolesOf(row);
  const permissions = new Set(
    row.session_key_id !== null && caller ? keyPermissions(caller) : roles.flatMap(permissionsOf),
  );
  return {
    id: row.id,
    method: row.method,
    user: row.user_id === null ? null : userOf(row, row.user_id),
    account: caller && { id: caller.accountId, name: row.account_name ?? '' },
    roles,
    permissions,
    caller,
    operator: row.operator_role && row.operator_check ? { role: row.operator_role, check: row.operator_check } : null,
    startedAt: row.created_at,
    seenAt: row.seen_at,
    provedAt: row.proved_at,
    expiresAt: row.expires_at,
  };
}

const userOf = ({ user_name: name, email, has_password: hasPassword }: SessionRow, id: string) => ({
  id,
  name: name ?? '',
  email,
  hasPassword,
});

function rolesOf(row: SessionRow): ConsoleRole[] {
  if (row.session_key_id !== null) return ['key'];
  return [row.role, row.user_operator_role, row.operator_role].filter((role) => role !== null);
}

/** What the scopes of a key open in the console. A sum of several needs all of them. */
const SCOPES_NEEDED: Readonly<Partial<Record<ConsolePermission, readonly KeyScope[]>>> = {
  'overview:read': ['balance', 'usage'],
  'models:read': ['generate'],
  'tasks:read': ['tasks:read'],
  'tasks:run': ['generate'],
  'tasks:cancel': ['tasks:cancel'],
  'usage:read': ['usage'],
  'balance:read': ['balance'],
  'ledger:read': ['ledger'],
  'webhooks:manage': ['webhooks'],
};

const keyPermissions = (caller: Caller): ConsolePermission[] =>
  permissionsOf('key').filter((permission) => SCOPES_NEEDED[permission]?.every((scope) => hasScope(caller, scope)));

function callerOf(row: SessionRow): Caller | null {
  const { account_id: accountId, key_id: apiKeyId } = row;
  if (accountId === null || apiKeyId === null) return null;
  return callerWith(row, { accountId, apiKeyId, expiresAt: row.key_expires_at });
}
