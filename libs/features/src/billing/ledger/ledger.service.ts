import { Injectable } from '@nestjs/common';
import { entrySql, GatewayError, MAX_MICROS, type Micros } from '#contracts';
import { Database } from '#platform';

/** Money that comes in from outside. */
export interface TopUp {
  readonly accountId: string;
  /** 1 to 2^63 - 1 micros. */
  readonly amountMicros: Micros;
  /** Names the payment; a second top-up with the same reference changes nothing. */
  readonly reference: string;
  readonly note: string | null;
}

/** Entry, balance and what is owed in one statement; a reference that was seen before moves nothing. Debts are paid first. */
const TOP_UP = `
with locked as (
  select id, available_micros, owed_micros from account where id = $1 for no key update
), entered as (
  insert into ledger_entry (account_id, kind, debit, credit, amount_micros, reference, note)
  select id, ${entrySql('top_up')}, $2::bigint, $3, $4 from locked
  on conflict (account_id, reference) where reference is not null do nothing
  returning account_id, amount_micros
), sized as (
  select l.*, e.amount_micros as added, greatest(least(l.owed_micros, l.available_micros + e.amount_micros), 0) as paid
  from entered e join locked l on l.id = e.account_id
), collected as (
  insert into ledger_entry (account_id, kind, debit, credit, amount_micros)
  select id, ${entrySql('debt_payment')}, paid from sized where paid > 0
)
update account a set available_micros = s.available_micros + s.added - s.paid, owed_micros = s.owed_micros - s.paid
from sized s where a.id = s.id
returning a.id`;

/** Moves money in ways that belong to no task. */
@Injectable()
export class LedgerService {
  constructor(private readonly database: Database) {}

  /**
   * Adds money to an account, once for each reference, and pays from it what the account owes. Answers whether this
   * call did it.
   *
   * @throws GatewayError `invalid_parameter`: the amount is not positive or too large.
   */
  async topUp({ accountId, amountMicros, reference, note }: TopUp): Promise<boolean> {
    if (amountMicros <= 0n || amountMicros > MAX_MICROS) {
      throw GatewayError.ofField('amount', 'must be more than 0 and at most 9223372036854.775807');
    }
    const values = [accountId, amountMicros, reference, note];
    const { rows } = await this.database.query({ name: 'top_up', text: TOP_UP, values });
    return rows.length > 0;
  }
}
