/**
 * The books between which the ledger moves money. `funding`: money from outside. `available`: may be spent. `held`:
 * reserved for open work. `revenue`: earned. `owed`: used and not yet paid.
 */
export type Book = 'funding' | 'available' | 'held' | 'revenue' | 'owed';

/** A movement of money: out of the first book, into the second. */
export type BookMove = readonly [debit: Book, credit: Book];

/**
 * Every kind of ledger entry, with the movements it may make. The database holds the same list in the constraint
 * `ledger_books_fit_kind`; a spec compares both. A new kind is one line here and one migration.
 */
export const LEDGER_KINDS = {
  /** Money that an account was given or paid in. */
  top_up: [['funding', 'available']],
  /** An operator's correction, up or down. */
  adjustment: [
    ['funding', 'available'],
    ['available', 'funding'],
  ],
  /** Money reserved for work that begins. */
  hold: [['available', 'held']],
  /** The price of finished work, out of its hold. */
  capture: [['held', 'revenue']],
  /** What a hold did not need. */
  release: [['held', 'available']],
  /** The part of a price beyond its hold that the balance covered. */
  overrun: [['available', 'revenue']],
  /** The part of a price beyond its hold that the balance did not cover. */
  debt: [['owed', 'revenue']],
  /** A debt, or a part of one, collected later. */
  debt_payment: [['available', 'owed']],
  /** Money given back for a finished task. */
  refund: [['revenue', 'available']],
} as const satisfies Record<string, readonly BookMove[]>;

export type LedgerKind = keyof typeof LEDGER_KINDS;

/** Kinds that make only one movement. */
type PlainKind = { [Kind in LedgerKind]: (typeof LEDGER_KINDS)[Kind]['length'] extends 1 ? Kind : never }[LedgerKind];

export const kindSql = (kind: LedgerKind): string => `'${kind}'`;

/** The columns `kind, debit, credit` of an entry as literals of SQL. */
export function entrySql(kind: PlainKind): string {
  const [[debit, credit]] = LEDGER_KINDS[kind];
  return `'${kind}', '${debit}', '${credit}'`;
}
