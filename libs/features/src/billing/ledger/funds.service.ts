import { Injectable } from '@nestjs/common';
import { type Book, type BookMove, GatewayError, type LedgerKind, type Micros } from '#contracts';
import type { StatementRunner } from '#platform';
import { AuditedChanges, changeOf, type Operator } from '../../audit/audit.js';
import { beyondBooks, collectDebts, lockAccount } from './locked-account.js';

/** What an operator books by hand. */
export type FundingKind = Extract<LedgerKind, 'top_up' | 'adjustment'>;

/** Money put in, or a correction of a balance. */
export interface Funding {
  readonly accountId: string;
  readonly kind: FundingKind;
  /** Not 0; negative takes away, which only an adjustment may. */
  readonly amountMicros: Micros;
  /** Names the payment or the case: the same reference again changes nothing. */
  readonly reference: string;
  readonly note: string | null;
}

export interface Funded {
  readonly entryId: bigint;
  readonly amountMicros: Micros;
  readonly availableMicros: Micros;
  /** True: this reference was booked before, and nothing moved now. */
  readonly replayed: boolean;
}

interface EntryRow {
  readonly id: bigint;
  readonly kind: LedgerKind;
  readonly debit: Book;
  readonly amount_micros: bigint;
}

const FIND = `select id, kind, debit, amount_micros from ledger_entry where account_id = $1 and reference = $2`;
const ENTER = `
insert into ledger_entry (account_id, kind, debit, credit, amount_micros, reference, note)
values ($1, $2, $3, $4, $5, $6, $7) returning id`;
const MOVE = `update account set available_micros = available_micros + $2 where id = $1 returning owed_micros`;

/** Money that comes in or goes out by an operator's hand. */
@Injectable()
export class FundsService {
  constructor(private readonly changes: AuditedChanges) {}

  /**
   * Books it once for each reference.
   *
   * @throws GatewayError `not_found`; `invalid_parameter`: the amount does not fit; `conflict`: the reference was used
   * for another amount, or the account does not have what should be taken away.
   */
  book(operator: Operator, funding: Funding): Promise<Funded> {
    const { accountId, amountMicros, kind } = funding;
    expectAmount(funding);
    return this.changes.runStatements(operator, async (transaction) => {
      const account = await lockAccount(transaction, accountId);
      const earlier = await this.findEarlier(transaction, funding);
      if (earlier) return { result: { ...earlier, availableMicros: account.availableMicros }, change: null };
      if (beyondBooks(amountMicros, account.availableMicros)) {
        throw GatewayError.ofField('amount', 'would take the balance beyond 9223372036854.775807');
      }
      if (!account.unlimited && account.availableMicros + amountMicros < 0n) {
        throw new GatewayError('conflict', 'The amount exceeds the balance of the account.', { param: 'amount' });
      }
      const { entryId, availableMicros, owedMicros } = await enter(transaction, funding);
      const before = { available_micros: account.availableMicros, owed_micros: account.owedMicros };
      const after = {
        available_micros: availableMicros,
        owed_micros: owedMicros,
        entry_id: entryId,
        reference: funding.reference,
        note: funding.note,
      };
      const change = changeOf('account', `account.${kind}`, accountId, before, after);
      return { result: { entryId, amountMicros, availableMicros, replayed: false }, change };
    });
  }

  private async findEarlier(
    transaction: StatementRunner,
    { accountId, reference, amountMicros, kind }: Funding,
  ): Promise<Omit<Funded, 'availableMicros'> | null> {
    const [entry] = (await transaction.query<EntryRow>({ text: FIND, values: [accountId, reference] })).rows;
    if (!entry) return null;
    const signed = entry.debit === 'available' ? -entry.amount_micros : entry.amount_micros;
    if (entry.kind !== kind || signed !== amountMicros) {
      throw new GatewayError('conflict', `The reference was used for another ${entry.kind} of this account.`, {
        param: 'reference',
      });
    }
    return { entryId: entry.id, amountMicros, replayed: true };
  }
}

function expectAmount({ kind, amountMicros }: Funding): void {
  if (amountMicros !== 0n && (kind === 'adjustment' || amountMicros > 0n)) return;
  const rule = kind === 'top_up' ? 'amount must be more than 0.' : 'amount must not be 0.';
  throw new GatewayError('invalid_parameter', rule, { param: 'amount' });
}

async function enter(transaction: StatementRunner, { accountId, kind, amountMicros, reference, note }: Funding) {
  const takes = amountMicros < 0n;
  const books: BookMove = takes ? ['available', 'funding'] : ['funding', 'available'];
  const values = [accountId, kind, ...books, takes ? -amountMicros : amountMicros, reference, note];
  const entered = await transaction.query<{ id: bigint }>({ text: ENTER, values });
  const moved = await transaction.query<{ owed_micros: bigint }>({ text: MOVE, values: [accountId, amountMicros] });
  const [row] = moved.rows;
  // Money that comes in pays what is owed before anything else.
  if (!takes && row && row.owed_micros > 0n) await collectDebts(transaction, accountId);
  return { entryId: entered.rows[0]?.id ?? 0n, ...(await lockAccount(transaction, accountId)) };
}
