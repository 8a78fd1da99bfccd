/**
 * The role of a session in the console. The first four belong to a person in an account, `key` to the holder of an API key
 * without a user, the last two to operators.
 */
export const CONSOLE_ROLES = ['viewer', 'developer', 'finance', 'owner', 'key', 'ops_viewer', 'operator'] as const;
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

export const ACCOUNT_ROLES = ['viewer', 'developer', 'finance', 'owner'] as const satisfies readonly ConsoleRole[];
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

/** The roles that a person can have over the whole gateway. */
export const OPERATOR_ROLES = ['ops_viewer', 'operator'] as const satisfies readonly ConsoleRole[];
export type OperatorConsoleRole = (typeof OPERATOR_ROLES)[number];

/**
 * The table of roles: what each permission opens and which roles have it. The guard of the routes reads it, and every session
 * names its permissions, so that the menu shows the same. A holder of a key has what the scopes of that key allow:
 * here stands the most it can be.
 */
export const CONSOLE_PERMISSIONS = {
  /** The first page: sums, warnings, latest tasks. */
  'overview:read': ['viewer', 'developer', 'finance', 'owner', 'key'],
  /** The catalogue with its prices. */
  'models:read': ['viewer', 'developer', 'finance', 'owner', 'key', 'ops_viewer', 'operator'],
  'tasks:read': ['viewer', 'developer', 'owner', 'key'],
  /** Quotes, runs of the playground, uploads for them. */
  'tasks:run': ['developer', 'owner', 'key'],
  'tasks:cancel': ['developer', 'owner', 'key'],
  'usage:read': ['viewer', 'developer', 'finance', 'owner', 'key'],
  'balance:read': ['viewer', 'developer', 'finance', 'owner', 'key'],
  /** Every ledger entry of the account. */
  'ledger:read': ['finance', 'owner', 'key'],
  /** The balance below which the account gets `balance.low`. */
  'billing:manage': ['finance', 'owner'],
  'webhooks:manage': ['developer', 'owner', 'key'],
  /** Keys that the person made. */
  'keys:own': ['developer', 'owner'],
  /** Keys of the whole account. */
  'keys:all': ['owner'],
  'people:manage': ['owner'],
  /** The log of prompts and answers of the account. */
  'prompts:manage': ['owner'],
  /** The person's own sessions, password and passkeys. */
  'profile:manage': ['viewer', 'developer', 'finance', 'owner', 'ops_viewer', 'operator'],
  /** Accounts, prices, upstreams, reconciliation, audit, states of tasks. */
  'admin:read': ['ops_viewer', 'operator'],
  /** The ledger and the keys of any account, and the people. */
  'admin:accounts': ['operator'],
  /** Every change that operators make. */
  'admin:write': ['operator'],
} as const satisfies Readonly<Record<string, readonly ConsoleRole[]>>;
export type ConsolePermission = keyof typeof CONSOLE_PERMISSIONS;

export const permissionsOf = (role: ConsoleRole): ConsolePermission[] =>
  (Object.keys(CONSOLE_PERMISSIONS) as ConsolePermission[]).filter((permission) =>
    (CONSOLE_PERMISSIONS[permission] as readonly ConsoleRole[]).includes(role),
  );
