import { Injectable } from '@nestjs/common';
import { GatewayError, type Micros, wireNames } from '#contracts';
import { type Account, Database, type ModelTransaction, timeOrderedId } from '#platform';
import type { Page, PageRequest } from '../paging/page.js';
import { idOfCursor, pageById } from '../paging/page-by-id.js';
import { AuditedChanges, type Change, type Operator } from '../audit/audit.js';
import { given } from './given.js';
import { missingAccount } from '../billing/ledger/locked-account.js';

/** What operators may set on an account. Absent fields stay as they are. */
export interface AccountSettings {
  readonly name?: string | undefined;
  readonly unlimited?: boolean | undefined;
  readonly priority?: number | undefined;
  /** What it may spend in a day and in a month of UTC. */
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

/** Accounts, for operators. */
@Injectable()
export class AccountsService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  create(operator: Operator, settings: AccountSettings & { readonly name: string }): Promise<Account> {
    return this.changes.run(operator, async ({ account }) => {
      const data = { id: timeOrderedId('acct'), ...columnsOf(settings, null), name: settings.name };
      const created = await account.create({ data });
      return { result: created, change: changeOf('account.created', null, created) };
    });
  }

  /** @throws GatewayError `not_found`. */
  async read(id: string): Promise<Account> {
    const { account } = await this.database.models();
    return (await account.findUnique({ where: { id } })) ?? missingAccount(id);
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
    return this.changes.run(operator, async (transaction) => {
      const before = await lock(transaction, id);
      if (settings.unlimited === false && before.availableMicros < 0n) {
        throw new GatewayError('conflict', 'The account is below zero: top it up before it becomes limited.', {
          param: 'unlimited',
        });
      }
      const data = columnsOf(settings, before.disabledAt);
      const after = await transaction.account.update({ where: { id }, data });
      return { result: after, change: changeOf('account.updated', before, after) };
    });
  }
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

const changeOf = (action: string, before: Account | null, after: Account): Change => ({
  action,
  subjectType: 'account',
  subjectId: after.id,
  before: before && wireNames(before),
  after: wireNames(after),
});
