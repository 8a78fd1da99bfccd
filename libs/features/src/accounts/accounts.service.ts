import { Injectable } from '@nestjs/common';
import { GatewayError, type Micros, wireNames } from '#contracts';
import { type Account, Database, type ModelTransaction, timeOrderedId } from '#platform';
import { AuditedChanges, type Change, changeOf, type Operator } from '../audit/audit.js';
import { missingAccount } from '../billing/ledger/locked-account.js';
import { idOfCursor, type Page, pageById, type PageRequest } from '../paging/page.js';

/** What operators may set on an account. Absent fields stay as they are. */
interface AccountSettings {
  readonly name?: string | undefined;
  readonly unlimited?: boolean | undefined;
  readonly priority?: number | undefined;
  /** In which it has its days and months, an IANA name; null: UTC. */
  readonly timeZone?: string | null | undefined;
  /** What it may spend in a day and in a month of its time zone. */
  readonly dailyLimitMicros?: Micros | null | undefined;
  readonly monthlyLimitMicros?: Micros | null | undefined;
  /** Its endpoints get `balance.low` once when less than this is left. */
  readonly lowBalanceMicros?: Micros | null | undefined;
  readonly maxRunningTasks?: number | null | undefined;
  readonly requestsPerMinute?: number | null | undefined;
  readonly tokensPerMinute?: number | null | undefined;
  /** A disabled account keeps its money and its history; its keys stop working. */
  readonly disabled?: boolean | undefined;
}

@Injectable()
export class AccountsService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  create(operator: Operator, settings: AccountSettings & { readonly name: string }): Promise<Account> {
    return this.changes.run(operator, async (transaction) => {
      const { account } = transaction;
      if (typeof settings.timeZone === 'string') await expectTimeZone(transaction, settings.timeZone);
      const data = { id: timeOrderedId('acct'), ...columnsOf(settings, null), name: settings.name };
      const created = await account.create({ data });
      return { result: created, change: changeOf('account', 'account.created', created.id, null, wireNames(created)) };
    });
  }

  /** @throws GatewayError `not_found`. */
  async read(id: string): Promise<Account> {
    const { account } = await this.database.models();
    return (await account.findUnique({ where: { id } })) ?? missingAccount(id);
  }

  async namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { account } = await this.database.models();
    const rows = await account.findMany({ where: { id: { in: [...ids] } }, select: { id: true, name: true } });
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Newest first. `named`: a part of the name, in any letter case, or the whole id. */
  async list({ limit, cursor }: PageRequest, named?: string): Promise<Page<Account>> {
    const { account } = await this.database.models();
    const after = idOfCursor(cursor);
    const rows = await account.findMany({
      ...(after !== null && { cursor: { id: after }, skip: 1 }),
      ...(named !== undefined && {
        where: { OR: [{ id: named }, { name: { contains: named, mode: 'insensitive' as const } }] },
      }),
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit + 1,
    });
    return pageById(rows, limit);
  }

  /** @throws GatewayError `not_found`; `conflict`: the account owes more than a limited one may. */
  update(operator: Operator, id: string, settings: AccountSettings): Promise<Account> {
    return this.changes.run(operator, async (transaction) =>
      changed(transaction, await lock(transaction, id), settings),
    );
  }

  /**
   * Moves the days and months of an account, as its own people may. Not where the account, one of its tags or a key in use has limits: who
   * moves the beginning of a day could spend its limit again every hour.
   *
   * @throws GatewayError `not_found`, `conflict`.
   */
  moveDays(operator: Operator, id: string, timeZone: string | null): Promise<Account> {
    return this.changes.run(operator, async (transaction) => {
      const before = await lock(transaction, id);
      const isLimited = { OR: [{ dailyLimitMicros: { not: null } }, { monthlyLimitMicros: { not: null } }] };
      const limits =
        (await transaction.account.count({ where: { id, ...isLimited } })) +
        (await transaction.tagLimit.count({ where: { accountId: id } })) +
        (await transaction.apiKey.count({ where: { accountId: id, revokedAt: null, ...isLimited } }));
      if (limits > 0)
        throw new GatewayError(
          'conflict',
          'The time zone also moves the days of spending limits: while the account, a key or a tag has a daily or monthly limit, only the operator can change it.',
          { param: 'time_zone' },
        );
      return changed(transaction, before, { timeZone });
    });
  }
}

async function changed(
  transaction: ModelTransaction,
  before: Account,
  settings: AccountSettings,
): Promise<{ readonly result: Account; readonly change: Change }> {
  const { id } = before;
  if (settings.unlimited === false && before.availableMicros < 0n) {
    throw new GatewayError('conflict', 'The account is below zero: top it up before it becomes limited.', {
      param: 'unlimited',
    });
  }
  if (typeof settings.timeZone === 'string') await expectTimeZone(transaction, settings.timeZone);
  const data = columnsOf(settings, before.disabledAt);
  const after = await transaction.account.update({ where: { id }, data });
  // Nobody of the account is there to delete what was logged of its prompts.
  if (settings.disabled === true)
    await transaction.promptLog.updateMany({
      where: { accountId: id, endedAt: null },
      data: { isOn: false, sealedKey: null, endedAt: new Date() },
    });
  return { result: after, change: changeOf('account', 'account.updated', id, wireNames(before), wireNames(after)) };
}

/** Every statement that holds money asks the database for the days of the zone. @throws GatewayError `invalid_parameter`. */
async function expectTimeZone(transaction: ModelTransaction, timeZone: string): Promise<void> {
  const known = await transaction.$queryRaw<object[]>`select 1 from pg_timezone_names where name = ${timeZone}`;
  if (known.length > 0) return;
  throw new GatewayError('invalid_parameter', `time_zone: the database knows no time zone "${timeZone}".`, {
    param: 'time_zone',
  });
}

/** The account, unchanging until the transaction ends. @throws GatewayError `not_found`. */
export async function lock(transaction: ModelTransaction, id: string): Promise<Account> {
  await transaction.$queryRaw`select id from account where id = ${id} for no key update`;
  return (await transaction.account.findUnique({ where: { id } })) ?? missingAccount(id);
}

/** An account that is disabled again keeps the time when it first was. */
const columnsOf = ({ disabled, ...settings }: AccountSettings, disabledAt: Date | null) => ({
  ...given(settings),
  // Setting the limit again arms the notice again.
  ...(settings.lowBalanceMicros !== undefined && { lowBalanceNoticedAt: null }),
  ...(disabled !== undefined && { disabledAt: disabled ? (disabledAt ?? new Date()) : null }),
});

/** Only the fields that are given: an undefined one leaves its column as it is. */
export const given = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
