import type { Book, LedgerKind } from '#contracts';
import type { Position } from '../../paging/page.js';

/** An amount that moved from one book of an account to another, as every reader of the ledger sees it. */
export interface LedgerMovement extends Position {
  readonly api_key_id: string | null;
  readonly task_id: string | null;
  /** The `x-request-id` of the request that moved it. */
  readonly request_id: string | null;
  readonly kind: LedgerKind;
  readonly debit: Book;
  readonly credit: Book;
  readonly amount_micros: bigint;
  readonly reference: string | null;
}
