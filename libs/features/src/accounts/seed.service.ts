import { Inject, Injectable } from '@nestjs/common';
import { type BalanceUnit, MICROS_PER_UNIT } from '#contracts';
import { ConfigError, Database, logger, type StatementRunner, timeOrderedId } from '#platform';
import { KEY_PEPPER } from '#runtime';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { hashApiKey, newApiKey, visiblePrefix } from './api-key.js';

/** The account that a fresh gateway starts with. */
export const FIRST_ACCOUNT_ID = 'acct_00000000000000000000000001';
const FIRST_BALANCE_MICROS = 10_000n * MICROS_PER_UNIT;

/** The reference of its entry in the ledger. */
const FIRST_BALANCE = 'first-balance';

/** How the first account can be used. */
export interface FirstKey {
  /** The key, when it was just made: it is shown this once. */
  readonly key: string | null;
  /** The operator chose it, and knows it. */
  readonly isChosen: boolean;
  /** The visible part of a key of the account. */
  readonly prefix: string;
}

const ADD_ACCOUNT = `insert into account (id, name) values ($1, 'First account') on conflict (id) do nothing`;
const ADD_KEY = `
insert into api_key (id, account_id, name, prefix, key_hash) values ($1, $2, $3, $4, $5)
on conflict (key_hash) do nothing`;
const EXISTING_KEY = `select prefix from api_key where account_id = $1 and kind = 'api' and revoked_at is null order by created_at limit 1`;

/** The first balance of a fresh gateway has not been spent as long as it is alone: it is worth as much in any unit. */
const HAS_ENTRIES = `exists (select from ledger_entry where reference is distinct from '${FIRST_BALANCE}')`;
/** $1 the unit. Whatever it was before the first entry of the ledger may still change. */
const KEEP_UNIT = `
insert into balance_unit as b (unit) values ($1)
on conflict (is_only) do update set unit = excluded.unit where b.unit <> excluded.unit and not ${HAS_ENTRIES}
returning ${HAS_ENTRIES} as has_entries`;

const KEPT_UNIT = `select unit from balance_unit where ${HAS_ENTRIES}`;

/**
 * Keeps the unit with the ledger, as processes that open accounts do at their start.
 *
 * @throws ConfigError as `expectBalanceUnit`.
 */
export async function keepBalanceUnit(database: StatementRunner, unit: BalanceUnit): Promise<void> {
  const written = await database.query<{ has_entries: boolean }>({ text: KEEP_UNIT, values: [unit] });
  // Entries of a version that did not write the unit: nobody but an operator can know whether it is theirs.
  if (written.rows[0]?.has_entries) logger('start').warn('balance_unit.assumed', { unit });
  await expectBalanceUnit(database, unit);
}

/**
 * For workers, which tell it in webhooks.
 *
 * @throws ConfigError: the entries of the ledger are in another unit than BALANCE_UNIT says.
 */
export async function expectBalanceUnit(database: StatementRunner, unit: BalanceUnit): Promise<void> {
  const { rows } = await database.query<{ unit: string }>({ text: KEPT_UNIT });
  const kept = rows[0]?.unit ?? unit;
  if (kept !== unit)
    throw new ConfigError([
      `BALANCE_UNIT is "${unit}", but the balances of this database are in ${kept}: each would be worth something else. Set BALANCE_UNIT=${kept}, or use another database. Where the balances are in ${unit} all the same, run: update balance_unit set unit = '${unit}'`,
    ]);
}

/** Gives a fresh gateway an account with 10,000 units and a key. Safe to run at every start of every replica. */
@Injectable()
export class SeedService {
  constructor(
    private readonly database: Database,
    private readonly ledger: LedgerService,
    @Inject(KEY_PEPPER) private readonly pepper: string,
  ) {}

  /** `chosenKey` is made valid for the first account; without one, a key is made unless the account has one. */
  async ensureFirstAccount(chosenKey: string | undefined): Promise<FirstKey> {
    await this.database.query({ text: ADD_ACCOUNT, values: [FIRST_ACCOUNT_ID] });
    await this.ledger.topUp({
      accountId: FIRST_ACCOUNT_ID,
      amountMicros: FIRST_BALANCE_MICROS,
      reference: FIRST_BALANCE,
      note: 'Balance of a fresh gateway',
    });
    if (chosenKey) {
      const prefix = await this.addKey('Chosen by GATEWAY_API_KEY', chosenKey);
      return { key: null, isChosen: true, prefix };
    }
    const { rows } = await this.database.query<{ prefix: string }>({ text: EXISTING_KEY, values: [FIRST_ACCOUNT_ID] });
    const [existing] = rows;
    if (existing) return { key: null, isChosen: false, prefix: existing.prefix };
    const key = newApiKey();
    return { key, isChosen: false, prefix: await this.addKey('First key', key) };
  }

  /** Answers the visible part. */
  private async addKey(name: string, key: string): Promise<string> {
    const prefix = visiblePrefix(key);
    const values = [timeOrderedId('key'), FIRST_ACCOUNT_ID, name, prefix, hashApiKey(key, this.pepper)];
    await this.database.query({ text: ADD_KEY, values });
    return prefix;
  }
}
