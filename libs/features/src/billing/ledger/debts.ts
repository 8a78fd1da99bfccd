import { entrySql, type Micros } from '#contracts';
import type { StatementRunner } from '#platform';

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
