import { GatewayError, type Micros } from '#contracts';
import { Database, type StatementRunner, timeOrderedId } from '#platform';
import { hashApiKey, newApiKey, visiblePrefix } from '../access/api-key.js';
import { brokeConstraint } from '../ledger/payment-refusals.js';
import { lock } from './accounts.service.js';
import type { AuditedChanges, Change, Operator } from './audit.js';

/** A key as operators see it: never the key itself, and never its hash. */
export interface KeyRow {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly prefix: string;
  readonly quota_micros: bigint | null;
  readonly held_micros: bigint;
  readonly used_micros: bigint;
  readonly allowed_models: string[];
  readonly allowed_addresses: string[];
  readonly scopes: string[];
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly max_running_tasks: number | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
  readonly previous_valid_until: Date | null;
}

/** A key at the one moment when it can be read. */
export interface NewKey {
  readonly key: string;
  readonly row: KeyRow;
}

/** What operators may set on a key. Absent fields stay as they are; null lifts a limit. */
export interface KeySettings {
  readonly name?: string | undefined;
  readonly quotaMicros?: Micros | null | undefined;
  readonly allowedModels?: readonly string[] | undefined;
  readonly allowedAddresses?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly requestsPerMinute?: number | null | undefined;
  readonly tokensPerMinute?: number | null | undefined;
  readonly maxRunningTasks?: number | null | undefined;
  readonly expiresAt?: Date | null | undefined;
}

const COLUMNS = `id, account_id, name, prefix, quota_micros, held_micros, used_micros, allowed_models, allowed_addresses, scopes,
  requests_per_minute, tokens_per_minute, max_running_tasks, created_at, expires_at, revoked_at, last_used_at,
  previous_valid_until`;

const ADD = `insert into api_key (id, account_id, name, prefix, key_hash) values ($1, $2, $3, $4, $5)`;
const UPDATE = `
update api_key set name = coalesce($2, name),
  quota_micros = case when $3 then $4 else quota_micros end,
  allowed_models = coalesce($5, allowed_models), allowed_addresses = coalesce($6, allowed_addresses),
  scopes = coalesce($15, scopes),
  requests_per_minute = case when $7 then $8 else requests_per_minute end,
  tokens_per_minute = case when $9 then $10 else tokens_per_minute end,
  max_running_tasks = case when $11 then $12 else max_running_tasks end,
  expires_at = case when $13 then $14 else expires_at end
where id = $1 returning ${COLUMNS}`;
const ROTATE = `
update api_key set previous_key_hash = key_hash, previous_valid_until = now() + $4::integer * interval '1 second',
  key_hash = $2, prefix = $3
where id = $1 returning ${COLUMNS}`;
const REVOKE = `update api_key set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${COLUMNS}`;

/** The keys of accounts, for operators. A change reaches every replica within seconds (see `KEY_CACHE_MS`). */
export class KeysService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
    private readonly pepper: string,
  ) {}

  /** @throws GatewayError `not_found`: there is no such account. */
  create(operator: Operator, accountId: string, settings: KeySettings & { readonly name: string }): Promise<NewKey> {
    const id = timeOrderedId('key');
    const key = newApiKey();
    return this.changes.run(operator, async (transaction) => {
      await lock(transaction, accountId);
      const values = [id, accountId, settings.name, visiblePrefix(key), hashApiKey(key, this.pepper)];
      await transaction.query({ text: ADD, values });
      const row = await set(transaction, id, settings);
      return { result: { key, row }, change: changeOf('key.created', null, row) };
    });
  }

  async list(accountId: string): Promise<KeyRow[]> {
    const text = `select ${COLUMNS} from api_key where account_id = $1 order by created_at desc, id desc`;
    return (await this.database.query<KeyRow>({ text, values: [accountId] })).rows;
  }

  /** @throws GatewayError `not_found`; `conflict`: the key used and holds more than the new quota. */
  update(operator: Operator, id: string, settings: KeySettings): Promise<KeyRow> {
    return this.change(operator, 'key.updated', id, (transaction) => set(transaction, id, settings));
  }

  /**
   * Gives the key a new secret; the old one works for `overlapSeconds` more. Quota, limits and history stay.
   *
   * @throws GatewayError `not_found`; `conflict`: the key was revoked.
   */
  async rotate(operator: Operator, id: string, overlapSeconds: number): Promise<NewKey> {
    const key = newApiKey();
    const values = [id, hashApiKey(key, this.pepper), visiblePrefix(key), overlapSeconds];
    const row = await this.change(operator, 'key.rotated', id, async (transaction, before) => {
      if (before.revoked_at) throw new GatewayError('conflict', 'The key was revoked; create a new one.');
      return one(await transaction.query<KeyRow>({ text: ROTATE, values }), id);
    });
    return { key, row };
  }

  /** Ends a key for good, both secrets of it. Safe to repeat. @throws GatewayError `not_found`. */
  revoke(operator: Operator, id: string): Promise<KeyRow> {
    return this.change(operator, 'key.revoked', id, async (transaction) =>
      one(await transaction.query<KeyRow>({ text: REVOKE, values: [id] }), id),
    );
  }

  private change(
    operator: Operator,
    action: string,
    id: string,
    work: (transaction: StatementRunner, before: KeyRow) => Promise<KeyRow>,
  ): Promise<KeyRow> {
    return this.changes.run(operator, async (transaction) => {
      const text = `select ${COLUMNS} from api_key where id = $1 for no key update`;
      const before = one(await transaction.query<KeyRow>({ text, values: [id] }), id);
      const after = await work(transaction, before);
      return { result: after, change: changeOf(action, before, after) };
    });
  }
}

async function set(transaction: StatementRunner, id: string, settings: KeySettings): Promise<KeyRow> {
  const nullable = (value: unknown): [boolean, unknown] => [value !== undefined, value ?? null];
  const values = [
    id,
    settings.name ?? null,
    ...nullable(settings.quotaMicros),
    settings.allowedModels ?? null,
    settings.allowedAddresses ?? null,
    ...nullable(settings.requestsPerMinute),
    ...nullable(settings.tokensPerMinute),
    ...nullable(settings.maxRunningTasks),
    ...nullable(settings.expiresAt),
    settings.scopes ?? null,
  ];
  try {
    return one(await transaction.query<KeyRow>({ text: UPDATE, values }), id);
  } catch (error) {
    if (!brokeConstraint(error, 'api_key_within_quota')) throw error;
    throw new GatewayError('conflict', 'The key has already used or holds more than this quota.', {
      param: 'quota',
      cause: error,
    });
  }
}

function one({ rows: [row] }: { readonly rows: readonly KeyRow[] }, id: string): KeyRow {
  if (row) return row;
  throw new GatewayError('not_found', `There is no key "${id.slice(0, 64)}".`, { param: 'key_id' });
}

const changeOf = (action: string, before: KeyRow | null, after: KeyRow): Change => ({
  action,
  subjectType: 'api_key',
  subjectId: after.id,
  before,
  after,
});
