import { Injectable } from '@nestjs/common';
import { Database, logger, mayStillBeWritten, type StatementRunner, timeOrderedId } from '#platform';
import { openHolds, RECONCILIATION_CHECKS, sumsOfEntries } from './reconciliation-checks.js';

const LATEST = `select last_entry_id, finished_at from reconciliation_report order by started_at desc limit 1`;

/**
 * The entry up to which the ledger may be summed up: the last one of the latest report. Ids are given in order, but
 * their transactions commit in any; when none is open that began before that report was finished, every entry up to its
 * last one is final. Null: it is not sure yet. Ask before the snapshot of a reconciliation.
 */
async function lastSettledEntry(database: Database): Promise<bigint | null> {
  const { rows } = await database.query<{ last_entry_id: bigint | null; finished_at: Date }>({
    text: LATEST,
    limit: 'long',
  });
  const [latest] = rows;
  if (!latest || (await mayStillBeWritten(database, 'ledger_entry', latest.finished_at))) return null;
  return latest.last_entry_id;
}

/** Up to which entry the ledger is summed up; null: nothing is. */
async function readCheckpoint(transaction: StatementRunner): Promise<bigint | null> {
  const { rows } = await transaction.query<{ entry_id: bigint }>({ text: 'select entry_id from ledger_checkpoint' });
  return rows[0]?.entry_id ?? null;
}

/** $1 entries that are summed up already, 0 for none; $2 the entry to go to. */
const ADD_SUMS = `
insert into ledger_sum as s (account_id, api_key_id, available_micros, held_micros, used_micros, owed_micros)
${sumsOfEntries('where id > $1::bigint and id <= $2::bigint')}
on conflict (account_id, api_key_id) do update set available_micros = s.available_micros + excluded.available_micros,
  held_micros = s.held_micros + excluded.held_micros, used_micros = s.used_micros + excluded.used_micros,
  owed_micros = s.owed_micros + excluded.owed_micros`;
const ADD_OPEN_HOLDS = `
insert into ledger_open_hold as h (hold_id, open_micros)
${openHolds('where id > $1::bigint and id <= $2::bigint')}
on conflict (hold_id) do update set open_micros = h.open_micros + excluded.open_micros`;
const MOVE = `
insert into ledger_checkpoint (entry_id) values ($1) on conflict (single) do update set entry_id = excluded.entry_id`;

/** Sums up the proved entries behind `sinceId` up to `nextId`; 0 begins again. */
async function moveCheckpoint(transaction: StatementRunner, sinceId: bigint, nextId: bigint): Promise<void> {
  if (sinceId === 0n) await transaction.query({ text: 'delete from ledger_sum', limit: 'hour' });
  if (sinceId === 0n) await transaction.query({ text: 'delete from ledger_open_hold', limit: 'hour' });
  await transaction.query({ text: ADD_SUMS, values: [sinceId, nextId], limit: 'hour' });
  await transaction.query({ text: ADD_OPEN_HOLDS, values: [sinceId, nextId], limit: 'hour' });
  await transaction.query({ text: 'delete from ledger_open_hold where open_micros = 0', limit: 'hour' });
  await transaction.query({ text: MOVE, values: [nextId] });
}

const log = logger('reconciliation');

/** Something that does not add up. */
export interface Finding {
  readonly check: string;
  /** The id of the account, key, task or request. */
  readonly subject: string;
  readonly expected: string;
  readonly found: string;
}

export interface ReconciliationReport {
  readonly id: string;
  readonly startedAt: Date;
  readonly finishedAt: Date;
  /** True: there are no findings. */
  readonly balanced: boolean;
  /** True: every entry was read; false: those since the last proof were, and added to what that one had proved. */
  readonly full: boolean;
  /** How much was looked at; of tasks and entries, when the report is not full, only what is open or new. */
  readonly counts: Readonly<Record<'accounts' | 'keys' | 'tasks' | 'entries', string>>;
  readonly findings: readonly Finding[];
}

const REPORT =
  'id, started_at as "startedAt", finished_at as "finishedAt", balanced, is_full as "full", counts, findings';

/** Only one runs at a time, on whatever replica. Taking it needs no snapshot, so what the run before did is seen. */
const TAKE_TURN = 'lock table ledger_checkpoint in share row exclusive mode nowait';
const LOCK_NOT_AVAILABLE = '55P03';

const EVERY_HOURS = 24;
const FULL_EVERY_DAYS = 7;

/** What was proved is believed for a week, and not at all once something did not add up: old errors are reported again. */
const MUST_BE_FULL = `
select not coalesce((select balanced from reconciliation_report order by started_at desc limit 1), false)
  or not exists (
    select from reconciliation_report where is_full and started_at > now() - interval '${FULL_EVERY_DAYS} days'
  ) as full`;

/** $1 the last entry that is not looked at, 0 for none. */
const COUNTS = `
select (select count(*) from account)::text as accounts, (select count(*) from api_key)::text as keys,
  (select count(*) from task where $1::bigint = 0 or finished_at is null)::text as tasks,
  (select count(*) from ledger_entry where id > $1::bigint)::text as entries`;
const SAVE = `
insert into reconciliation_report (id, started_at, finished_at, balanced, is_full, counts, findings, last_entry_id)
values ($1, now(), clock_timestamp(), $2, $3, $4, $5, (select coalesce(max(id), 0) from ledger_entry)) returning ${REPORT}`;
const LIST = `select ${REPORT} from reconciliation_report order by started_at desc limit $1`;
const IS_DUE = `
select not exists (select from reconciliation_report where started_at > now() - interval '${EVERY_HOURS} hours') as due`;

/**
 * Proves that the money adds up. It reports and repairs nothing: an error in the books is for people to judge. The
 * ledger is only ever added to, so what was proved once is summed up, and the next run adds what came since; at least
 * once a week, and after a report with findings, every entry is read again.
 */
@Injectable()
export class ReconciliationService {
  constructor(private readonly database: Database) {}

  /**
   * Reconciles all books as they are at one moment, and keeps the report. `full`: reads every entry, whatever was
   * proved before. Null: another run is under way.
   */
  async run({ full = false }: { readonly full?: boolean } = {}): Promise<ReconciliationReport | null> {
    const settledId = await lastSettledEntry(this.database);
    const report = await this.database
      .transaction((transaction) => reconcile(transaction, settledId, full))
      .catch(nullWhenTaken);
    if (!report) return null;
    const { id: reportId, findings, counts } = report;
    if (report.balanced) log.info('books.balanced', { reportId, full: report.full, ...counts });
    else log.error('books.unbalanced', { reportId, findings: findings.length, first: findings[0] });
    return report;
  }

  /** Runs when no report is younger than a day. Any number of workers may call it. */
  async runWhenDue(): Promise<ReconciliationReport | null> {
    const [row] = (await this.database.query<{ due: boolean }>({ text: IS_DUE })).rows;
    return row?.due === true ? this.run() : null;
  }

  /** The latest reports, newest first. */
  async latest(limit: number): Promise<ReconciliationReport[]> {
    return (await this.database.query<ReconciliationReport>({ text: LIST, values: [limit] })).rows;
  }
}

/** All of it in one snapshot, so that entries written meanwhile neither wait nor are seen in part. */
async function reconcile(
  transaction: StatementRunner,
  settledId: bigint | null,
  full: boolean,
): Promise<ReconciliationReport> {
  await transaction.query({ text: 'set transaction isolation level repeatable read' });
  await transaction.query({ text: `set local statement_timeout = '1h'` });
  await transaction.query({ text: TAKE_TURN });
  const checkpointId = await readCheckpoint(transaction);
  const [must] = (await transaction.query<{ full: boolean }>({ text: MUST_BE_FULL })).rows;
  const isFull = full || checkpointId === null || must?.full !== false;
  const sinceId = isFull ? 0n : checkpointId;
  const findings = await runChecks(transaction, sinceId);
  const [counts] = (await transaction.query({ text: COUNTS, values: [sinceId], limit: 'hour' })).rows;
  if (findings.length === 0 && settledId !== null && settledId > sinceId)
    await moveCheckpoint(transaction, sinceId, settledId);
  const id = timeOrderedId('reconciliation');
  const values = [id, findings.length === 0, isFull, JSON.stringify(counts), JSON.stringify(findings)];
  const [saved] = (await transaction.query<ReconciliationReport>({ text: SAVE, values })).rows;
  if (!saved) throw new Error('the report of a reconciliation was not kept');
  return saved;
}

async function runChecks(transaction: StatementRunner, sinceId: bigint): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name, text, onlyFull } of RECONCILIATION_CHECKS) {
    if (onlyFull && sinceId > 0n) continue;
    const values = text.includes('$1') ? [sinceId] : [];
    const { rows } = await transaction.query<Omit<Finding, 'check'>>({ text, values, limit: 'hour' });
    findings.push(...rows.map((row) => ({ check: name, ...row })));
  }
  return findings;
}

function nullWhenTaken(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE) return null;
  throw error;
}
