import type { Micros } from '#contracts';

/** Who a request comes from, as its key says. */
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
