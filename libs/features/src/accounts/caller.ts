import type { Micros } from '#contracts';

/** The caller of a request, as its key says. */
export interface Caller {
  readonly accountId: string;
  readonly apiKeyId: string;
  /** Empty: every model is allowed. */
  readonly allowedModels: readonly string[];
  /** Addresses or CIDR blocks; empty: every address is allowed. */
  readonly allowedAddresses: readonly string[];
  /** What the key is limited to (`KEY_SCOPES`); empty: everything. */
  readonly scopes: readonly string[];
  /** What the key may spend in all; null: as much as its account. */
  readonly quotaMicros: Micros | null;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly maxRunningTasks: number | null;
  readonly priority: number;
  readonly expiresAt: Date | null;
}

/** What a key allows, as rows of the database hold it. */
export interface KeyRulesRow {
  readonly allowed_models: string[];
  readonly allowed_addresses: string[];
  readonly scopes: string[];
  readonly quota_micros: bigint | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly max_running_tasks: number | null;
  readonly priority: number;
}

/** The caller who has a key with these rules. */
export const callerWith = (row: KeyRulesRow, key: Pick<Caller, 'accountId' | 'apiKeyId' | 'expiresAt'>): Caller => ({
  ...key,
  allowedModels: row.allowed_models,
  allowedAddresses: row.allowed_addresses,
  scopes: row.scopes,
  quotaMicros: row.quota_micros,
  requestsPerMinute: row.requests_per_minute,
  tokensPerMinute: row.tokens_per_minute,
  maxRunningTasks: row.max_running_tasks,
  priority: row.priority,
});
