import { entrySql, GatewayError, type Micros } from '#contracts';
import type { StatementRunner } from '#platform';

/** The money of an account, locked until the transaction ends. */
export interface LockedAccount {
  readonly availableMicros: bigint;
  readonly owedMicros: bigint;
  readonly unlimited: boolean;
}

const LOCK = `
select available_micros as "availableMicros", owed_micros as "owedMicros", unlimited from account where id = $1
for no key update`;

/**
 * Locks an account until the transaction ends.
 *
 * @throws GatewayError `not_found`.
 */
export async function lockAccount(transaction: StatementRunner, id: string): Promise<LockedAccount> {
  const [account] = (await transaction.query<LockedAccount>({ text: LOCK, values: [id] })).rows;
  return account ?? missingAccount(id);
}

export function missingAccount(id: string): never {
  throw new GatewayError('not_found', `There is no account "${id.slice(0, 64)}".`, { param: 'account_id' });
}

/** An amount that would pass the largest number a book can hold. */
export const beyondBooks = (amountMicros: Micros, availableMicros: Micros): boolean =>
  availableMicros + amountMicros > 9_223_372_036_854_775_807n ||
  availableMicros + amountMicros < -9_223_372_036_854_775_807n;

/** Pays what an account owes from what it has, as far as that goes. $1 account. */
const COLLECT_DEBTS = `
with locked as (
  select *, least(owed_micros, available_micros) as amount from account
  where id = $1 and owed_micros > 0 and available_micros > 0 for no key update
), entered as (
  insert into ledger_entry (account_id, kind, debit, credit, amount_micros)
  select id, ${entrySql('debt_payment')}, amount from locked where amount > 0
)
update account a set available_micros = l.available_micros - l.amount, owed_micros = l.owed_micros - l.amount
from locked l where a.id = l.id returning a.owed_micros`;

/**
 * Collects what an account owes from money that came back after the debt was made, for example from holds that were
 * released. Answers what it still owes; null when there was nothing to collect, or nothing to collect it from.
 */
export async function collectDebts(runner: StatementRunner, accountId: string): Promise<Micros | null> {
  const { rows } = await runner.query<{ owed_micros: bigint }>({ text: COLLECT_DEBTS, values: [accountId] });
  return rows[0]?.owed_micros ?? null;
}
