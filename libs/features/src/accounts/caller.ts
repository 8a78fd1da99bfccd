import type { Micros } from '#contracts';
import { priceListNow } from '../billing/prices/price-book.js';

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
  /** What its requests are tagged with, whatever they say themselves. */
  readonly tags: readonly string[];
  /** The tags whose spending the account limits. */
  readonly limitedTags: readonly string[];
  /** The price list of the account; undefined: the book alone. */
  readonly priceList?: string | undefined;
  /** Whether the prompts and answers of its account are logged. */
  readonly isLogged?: boolean;
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
  readonly tags: string[];
  readonly limited_tags: string[];
  readonly price_list: string | null;
  readonly is_logged: boolean;
}

/** The columns of `KeyRulesRow` for key `k` of account `a`. */
export const KEY_RULES = `k.allowed_models, k.allowed_addresses, k.scopes, k.quota_micros, a.priority, k.tags,
  array(select l.tag from tag_limit l where l.account_id = a.id) as limited_tags,
  coalesce(k.requests_per_minute, a.requests_per_minute) as requests_per_minute,
  coalesce(k.tokens_per_minute, a.tokens_per_minute) as tokens_per_minute,
  coalesce(k.max_running_tasks, a.max_running_tasks) as max_running_tasks, (${priceListNow('a.id')}) as price_list,
  exists (select from prompt_log p where p.account_id = a.id and p.ended_at is null and p.is_on) as is_logged`;

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
  tags: row.tags,
  limitedTags: row.limited_tags,
  priceList: row.price_list ?? undefined,
  isLogged: row.is_logged,
});
