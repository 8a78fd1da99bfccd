import { GatewayError, type Micros } from '#contracts';
import { Database, type StatementRunner, timeOrderedId } from '#platform';
import type { AuditedChanges, Operator } from './audit.js';
import { cursorTime, fromCursor, type Page, type PageRequest, type Position, toPage } from '../paging/page.js';

/** An account as operators see it. */
export interface AccountRow extends Position {
  readonly name: string;
  readonly available_micros: bigint;
  readonly held_micros: bigint;
  readonly used_micros: bigint;
  /** Used and not yet collected. */
  readonly owed_micros: bigint;
  readonly unlimited: boolean;
  readonly priority: number;
  readonly max_running_tasks: number | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly created_at: Date;
  readonly disabled_at: Date | null;
}

/** What operators may set on an account. Absent fields stay as they are. */
export interface AccountSettings {
  readonly name?: string | undefined;
  readonly unlimited?: boolean | undefined;
  readonly priority?: number | undefined;
  readonly max_running_tasks?: number | null | undefined;
  readonly requests_per_minute?: number | null | undefined;
  readonly tokens_per_minute?: number | null | undefined;
  /** A disabled account keeps its money and its history; its keys stop working. */
  readonly disabled?: boolean | undefined;
}

const COLUMNS = `id, name, available_micros, held_micros, used_micros, owed_micros, unlimited, priority, max_running_tasks,
  requests_per_minute, tokens_per_minute, created_at, disabled_at, ${cursorTime('created_at')} as time`;

const LIST = `
select ${COLUMNS} from account
where $1::timestamptz is null or (created_at, id) < ($1, $2) order by created_at desc, id desc limit $3`;

const UPDATE = `
update account set
  name = coalesce($2, name), unlimited = coalesce($3, unlimited), priority = coalesce($4, priority),
  max_running_tasks = case when $5 then $6 else max_running_tasks end,
  requests_per_minute = case when $7 then $8 else requests_per_minute end,
  tokens_per_minute = case when $9 then $10 else tokens_per_minute end,
  disabled_at = case when $11::boolean then coalesce(disabled_at, now()) when not $11 then null else disabled_at end
where id = $1 returning ${COLUMNS}`;

/** Accounts, for operators. */
export class AccountsService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  create(operator: Operator, settings: AccountSettings & { readonly name: string }): Promise<AccountRow> {
    const id = timeOrderedId('acct');
    return this.changes.run(operator, async (transaction) => {
      await transaction.query({ text: 'insert into account (id, name) values ($1, $2)', values: [id, settings.name] });
      const account = await set(transaction, id, settings);
      return { result: account, change: changeOf('account.created', null, account) };
    });
  }

  /** @throws GatewayError `not_found`. */
  async read(id: string): Promise<AccountRow> {
    const statement = { text: `select ${COLUMNS} from account where id = $1`, values: [id] };
    const [account] = (await this.database.query<AccountRow>(statement)).rows;
    return account ?? missing(id);
  }

  async list({ limit, cursor }: PageRequest): Promise<Page<AccountRow>> {
    const position = fromCursor(cursor);
    const values = [position?.time ?? null, position?.id ?? null, limit + 1];
    return toPage((await this.database.query<AccountRow>({ text: LIST, values })).rows, limit);
  }

  /** @throws GatewayError `not_found`; `conflict`: the account owes more than a limited one may. */
  update(operator: Operator, id: string, settings: AccountSettings): Promise<AccountRow> {
    return this.changes.run(operator, async (transaction) => {
      const before = await lock(transaction, id);
      if (settings.unlimited === false && before.available_micros < 0n) {
        throw new GatewayError('conflict', 'The account is below zero: top it up before it becomes limited.', {
          param: 'unlimited',
        });
      }
      const after = await set(transaction, id, settings);
      return { result: after, change: changeOf('account.updated', before, after) };
    });
  }
}

/**
 * Locks an account until the transaction ends.
 *
 * @throws GatewayError `not_found`.
 */
export async function lock(transaction: StatementRunner, id: string): Promise<AccountRow> {
  const statement = { text: `select ${COLUMNS} from account where id = $1 for no key update`, values: [id] };
  const [account] = (await transaction.query<AccountRow>(statement)).rows;
  return account ?? missing(id);
}

async function set(transaction: StatementRunner, id: string, settings: AccountSettings): Promise<AccountRow> {
  const nullable = (value: number | null | undefined): [boolean, number | null] => [value !== undefined, value ?? null];
  const values = [
    id,
    settings.name ?? null,
    settings.unlimited ?? null,
    settings.priority ?? null,
    ...nullable(settings.max_running_tasks),
    ...nullable(settings.requests_per_minute),
    ...nullable(settings.tokens_per_minute),
    settings.disabled ?? null,
  ];
  const [account] = (await transaction.query<AccountRow>({ text: UPDATE, values })).rows;
  return account ?? missing(id);
}

const changeOf = (action: string, before: AccountRow | null, after: AccountRow) => ({
  action,
  subjectType: 'account' as const,
  subjectId: after.id,
  before,
  after,
});

function missing(id: string): never {
  throw new GatewayError('not_found', `There is no account "${id.slice(0, 64)}".`, { param: 'account_id' });
}

/** An amount that would pass the largest number a book can hold. */
export const beyondBooks = (amountMicros: Micros, availableMicros: Micros): boolean =>
  availableMicros + amountMicros > 9_223_372_036_854_775_807n ||
  availableMicros + amountMicros < -9_223_372_036_854_775_807n;
