import { GatewayError, MAX_MICROS, type Micros } from '#contracts';
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

/** Entry and balance in one statement; a reference that was seen before moves nothing. */
const TOP_UP = `
with entered as (
  insert into ledger_entry (account_id, kind, debit, credit, amount_micros, reference, note)
  values ($1, 'top_up', 'funding', 'available', $2, $3, $4)
  on conflict (account_id, reference) where reference is not null do nothing
  returning account_id, amount_micros
)
update account a set available_micros = a.available_micros + e.amount_micros from entered e where a.id = e.account_id
returning a.id`;

/** Moves money in ways that belong to no task. */
export class LedgerService {
  constructor(private readonly database: Database) {}

  /**
   * Adds money to an account, once for each reference. Answers whether this call did it.
   *
   * @throws GatewayError `invalid_parameter`: the amount is not positive or too large.
   */
  async topUp({ accountId, amountMicros, reference, note }: TopUp): Promise<boolean> {
    if (amountMicros <= 0n || amountMicros > MAX_MICROS) {
      throw new GatewayError('invalid_parameter', 'amount must be more than 0 and at most 9223372036854.775807.', {
        param: 'amount',
      });
    }
    const values = [accountId, amountMicros, reference, note];
    const { rows } = await this.database.query({ name: 'top_up', text: TOP_UP, values });
    return rows.length > 0;
  }
}
