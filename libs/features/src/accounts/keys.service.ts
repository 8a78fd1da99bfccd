import { Inject, Injectable } from '@nestjs/common';
import { GatewayError, type Micros, wireNames } from '#contracts';
import {
  type ApiKey,
  brokeConstraint,
  Database,
  type ModelTransaction,
  type Prisma,
  randomId,
  type Secrets,
  timeOrderedId,
} from '#platform';
import { KEY_PEPPER } from '#runtime';
import { AuditedChanges, changeOf, type Operator, uncounted } from '../audit/audit.js';
import { given, lock } from './accounts.service.js';
import { hashApiKey, newApiKey, visiblePrefix } from './api-key.js';
import { FIRST_ACCOUNT_ID } from './seed.service.js';

/** The most keys of an account that are not revoked, and with those that are: their rows stay, because the ledger names them. */
const KEYS_IN_USE_MAX = 1_000;
const KEYS_MAX = 10_000;

/** The columns of a key that are never shown. */
const HIDDEN = { keyHash: true, previousKeyHash: true } as const;

/** A key as operators see it: never the key itself, and never its hash. */
export type KeyView = Omit<ApiKey, keyof typeof HIDDEN>;

interface NewKey {
  readonly key: string;
  readonly row: KeyView;
}

/** What operators may set on a key. Absent fields stay as they are; null lifts a limit. */
export interface KeySettings {
  readonly name?: string | undefined;
  readonly quotaMicros?: Micros | null | undefined;
  /** What it may spend in a day and in a month of UTC. */
  readonly dailyLimitMicros?: Micros | null | undefined;
  readonly monthlyLimitMicros?: Micros | null | undefined;
  readonly allowedModels?: readonly string[] | undefined;
  readonly allowedAddresses?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly requestsPerMinute?: number | null | undefined;
  readonly tokensPerMinute?: number | null | undefined;
  readonly maxRunningTasks?: number | null | undefined;
  readonly expiresAt?: Date | null | undefined;
  readonly createdBy?: string | undefined;
}

/** The account is locked. */
async function expectFewKeys({ apiKey }: ModelTransaction, accountId: string): Promise<void> {
  const inUse = await apiKey.count({ where: { accountId, revokedAt: null } });
  if (inUse >= KEYS_IN_USE_MAX)
    throw new GatewayError(
      'conflict',
      `An account may have at most ${KEYS_IN_USE_MAX} keys: revoke some that are no longer needed.`,
    );
  if ((await apiKey.count({ where: { accountId } })) < KEYS_MAX) return;
  throw new GatewayError(
    'conflict',
    `An account may have at most ${KEYS_MAX} keys, those that are revoked included: rotate a key to renew it.`,
  );
}

/** The keys of accounts, for operators. A change reaches every replica within seconds (see `KEY_CACHE_MS`). */
@Injectable()
export class KeysService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
    @Inject(KEY_PEPPER) private readonly pepper: string,
  ) {}

  /** @throws GatewayError `not_found`: there is no such account; `conflict`: it has as many keys as it may have. */
  create(operator: Operator, accountId: string, settings: KeySettings & { readonly name: string }): Promise<NewKey> {
    const id = timeOrderedId('key');
    const key = newApiKey();
    return this.changes.run(operator, async (transaction) => {
      await lock(transaction, accountId);
      await expectFewKeys(transaction, accountId);
      const data = { id, accountId, ...columnsOf(settings), name: settings.name, ...this.secretColumns(key) };
      const row = await transaction.apiKey.create({ data, omit: HIDDEN });
      return { result: { key, row }, change: changeOf('api_key', 'key.created', id, null, wireNames(row)) };
    });
  }

  /** Newest first. */
  async list(accountId: string): Promise<KeyView[]> {
    const orderBy = [{ createdAt: 'desc' as const }, { id: 'desc' as const }];
    return this.database
      .of(accountId)
      .withModels(({ apiKey }) => apiKey.findMany({ where: { accountId }, orderBy, omit: HIDDEN }));
  }

  /** @throws GatewayError `not_found`. */
  async read(id: string): Promise<KeyView> {
    const { apiKey } = await this.database.models();
    return (await apiKey.findUnique({ where: { id }, omit: HIDDEN })) ?? missingKey(id);
  }

  /** @throws GatewayError `not_found`; `conflict`: the key used and holds more than the new quota. */
  update(operator: Operator, id: string, settings: KeySettings): Promise<KeyView> {
    return this.change(operator, 'key.updated', id, () => columnsOf(settings));
  }

  /**
   * Gives the key a new secret; the old one works for `overlapSeconds` more. Quota, limits and history stay.
   *
   * @throws GatewayError `not_found`; `conflict`: the key was revoked.
   */
  async rotate(operator: Operator, id: string, overlapSeconds: number): Promise<NewKey> {
    const key = newApiKey();
    const row = await this.change(operator, 'key.rotated', id, ({ kind, revokedAt, keyHash }, now) => {
      expectSecret(kind);
      if (revokedAt) throw new GatewayError('conflict', 'The key was revoked; create a new one.');
      const previousValidUntil = new Date(now.getTime() + overlapSeconds * 1000);
      return { ...this.secretColumns(key), previousKeyHash: keyHash, previousValidUntil };
    });
    return { key, row };
  }

  /** Ends a key permanently, both secrets of it. Safe to repeat. @throws GatewayError `not_found`. */
  revoke(operator: Operator, id: string): Promise<KeyView> {
    return this.change(uncounted(operator), 'key.revoked', id, ({ kind, revokedAt }, now) => {
      expectSecret(kind);
      return revokedAt ? undefined : { revokedAt: now };
    });
  }

  /** @param changed is told the time of the database, by whose clock secrets end; undefined: there is nothing to change. */
  private change(
    operator: Operator,
    action: string,
    id: string,
    changed: (before: ApiKey, now: Date) => Prisma.ApiKeyUpdateInput | undefined,
  ): Promise<KeyView> {
    return this.changes.run(operator, async (transaction) => {
      const [locked] = await transaction.$queryRaw<
        { now: Date }[]
      >`select now() as now from api_key where id = ${id} for no key update`;
      const before = await transaction.apiKey.findUnique({ where: { id } });
      if (!locked || !before) return missingKey(id);
      const { keyHash: _hash, previousKeyHash: _previousHash, ...shown } = before;
      const data = changed(before, locked.now);
      if (!data) return { result: shown, change: null };
      const after = await update(transaction, id, data);
      return { result: after, change: changeOf('api_key', action, id, wireNames(shown), wireNames(after)) };
    });
  }

  private secretColumns(key: string) {
    return { prefix: visiblePrefix(key), keyHash: new Uint8Array(hashApiKey(key, this.pepper)) };
  }
}

/** @throws GatewayError `conflict`. */
function expectSecret(kind: string): void {
  if (kind !== 'console') return;
  throw new GatewayError('conflict', 'Runs of the console are charged to this key: limit it by its quota.');
}

async function update(transaction: ModelTransaction, id: string, data: Prisma.ApiKeyUpdateInput): Promise<KeyView> {
  try {
    return await transaction.apiKey.update({ where: { id }, data, omit: HIDDEN });
  } catch (error) {
    if (!brokeConstraint(error, 'api_key_within_quota')) throw error;
    throw new GatewayError('conflict', 'The key has already used or holds more than this quota.', {
      param: 'quota',
      cause: error,
    });
  }
}

function missingKey(id: string): never {
  throw new GatewayError('not_found', `There is no key "${id.slice(0, 64)}".`, { param: 'key_id' });
}

const columnsOf = ({ allowedModels, allowedAddresses, scopes, tags, ...settings }: KeySettings) => ({
  ...given(settings),
  ...(allowedModels && { allowedModels: [...allowedModels] }),
  ...(allowedAddresses && { allowedAddresses: [...allowedAddresses] }),
  ...(scopes && { scopes: [...scopes] }),
  ...(tags && { tags: [...tags] }),
});

interface KeyCommand {
  /** The first account when absent. */
  readonly account?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Makes a key by a command of the operator's, with a record of it, and answers the key.
 *
 * @throws GatewayError `not_found`: there is no such account; a gateway that was never started has none.
 */
export async function createKey(
  database: Database,
  { keyPepper }: Secrets,
  { account = FIRST_ACCOUNT_ID, name = 'Made by new-key' }: KeyCommand,
): Promise<string> {
  const operator = { actor: 'new-key command', requestId: randomId('req'), address: null };
  const keys = new KeysService(database, new AuditedChanges(database), keyPepper);
  return (await keys.create(operator, account, { name })).key;
}
