import { Inject, Injectable } from '@nestjs/common';
import { MICROS_PER_UNIT } from '#contracts';
import { Database, timeOrderedId } from '#platform';
import { KEY_PEPPER } from '#runtime';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { hashApiKey, newApiKey, visiblePrefix } from './api-key.js';

/** The account that a fresh gateway starts with. */
export const FIRST_ACCOUNT_ID = 'acct_00000000000000000000000001';
const FIRST_BALANCE_MICROS = 10_000n * MICROS_PER_UNIT;

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
      reference: 'first-balance',
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
