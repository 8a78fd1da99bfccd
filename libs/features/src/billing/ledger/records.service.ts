import { Injectable } from '@nestjs/common';
import { Database } from '#platform';
import {
  cursorTime,
  fromCursor,
  type ListedRow,
  numberOfCursor,
  type Page,
  type PageRequest,
  toPage,
} from '../../paging/page.js';
import { ofRequest } from './account-entries.service.js';

/** Which entries; null does not narrow. */
interface LedgerQuery {
  readonly accountId: string | null;
  /** Of a task, its refunds among them. */
  readonly taskId?: string | null;
  /** Of a text request, by its `x-request-id`. */
  readonly requestId?: string | null;
}

/** Ledger ids are numbers that grow with time, so they alone are the position. */
const ledgerSql = (narrowed: string): string => `
select id::text as id, ${cursorTime('created_at')} as time, account_id, api_key_id, task_id, request_id, kind, debit,
  credit, amount_micros, reference, note
from ledger_entry
where ($1::text is null or account_id = $1) and ($2::bigint is null or id < $2) and ($3::text is null or task_id = $3 or id in (select entry_id from task_refund where task_id = $3))${narrowed}
order by ledger_entry.id desc limit $4`;

const AUDIT = `
select id, ${cursorTime('created_at')} as time, actor, action, subject_type, subject_id, before, after, request_id, address
from audit_record
where ($1::text is null or subject_id = $1) and ($2::timestamptz is null or (created_at <= $2 and (created_at, id) < ($2, $3)))
order by created_at desc, id desc limit $4`;

/** What is written down permanently, for operators to read. */
@Injectable()
export class RecordsService {
  constructor(private readonly database: Database) {}

  async ledger(
    { accountId, taskId = null, requestId = null }: LedgerQuery,
    page: PageRequest,
  ): Promise<Page<ListedRow>> {
    const values: unknown[] = [accountId, numberOfCursor(page.cursor), taskId, page.limit + 1];
    const text = ledgerSql(requestId === null ? '' : ofRequest(`$${values.push(requestId)}`));
    return toPage((await this.database.ofOperators().query<ListedRow>({ text, values })).rows, page.limit);
  }

  async audit(subjectId: string | null, page: PageRequest): Promise<Page<ListedRow>> {
    const position = fromCursor(page.cursor);
    const values = [subjectId, position?.time ?? null, position?.id ?? null, page.limit + 1];
    return toPage((await this.database.ofOperators().query<ListedRow>({ text: AUDIT, values })).rows, page.limit);
  }
}
