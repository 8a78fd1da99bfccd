import { Database, logger, type StatementRunner, timeOrderedId } from '#platform';
import { RECONCILIATION_CHECKS } from './reconciliation-checks.js';

const log = logger('reconciliation');

/** Something that does not add up. */
export interface Finding {
  readonly check: string;
  /** The id of the account, key, task or request. */
  readonly subject: string;
  readonly expected: string;
  readonly found: string;
}

/** What one reconciliation found. */
export interface ReconciliationReport {
  readonly id: string;
  readonly startedAt: Date;
  readonly finishedAt: Date;
  /** True: there are no findings. */
  readonly balanced: boolean;
  /** How much was looked at. */
  readonly counts: Readonly<Record<'accounts' | 'keys' | 'tasks' | 'entries', string>>;
  readonly findings: readonly Finding[];
}

interface ReportRow {
  readonly id: string;
  readonly started_at: Date;
  readonly finished_at: Date;
  readonly balanced: boolean;
  readonly counts: ReconciliationReport['counts'];
  readonly findings: Finding[];
}

/** Only one runs at a time, on whatever replica. */
const LOCK = 5_120_773_401;
const EVERY_HOURS = 24;

const COUNTS = `
select (select count(*) from account)::text as accounts, (select count(*) from api_key)::text as keys,
  (select count(*) from task)::text as tasks, (select count(*) from ledger_entry)::text as entries`;
const SAVE = `
insert into reconciliation_report (id, started_at, finished_at, balanced, counts, findings)
values ($1, $2, $3, $4, $5, $6)`;
const LIST = `select * from reconciliation_report order by started_at desc limit $1`;
const IS_DUE = `
select not exists (select from reconciliation_report where started_at > now() - interval '${EVERY_HOURS} hours') as due`;

/** Proves that the money adds up. It reports and repairs nothing: an error in the books is for people to judge. */
export class ReconciliationService {
  constructor(private readonly database: Database) {}

  /** Reconciles all books as they stand at one moment, and keeps the report. Null: another run is under way. */
  async run(): Promise<ReconciliationReport | null> {
    const startedAt = new Date();
    const looked = await this.database.transaction(look);
    if (!looked) return null;
    const { findings, counts } = looked;
    const report: ReconciliationReport = {
      id: timeOrderedId('reconciliation'),
      startedAt,
      finishedAt: new Date(),
      balanced: findings.length === 0,
      counts,
      findings,
    };
    const { id, finishedAt, balanced } = report;
    const values = [id, startedAt, finishedAt, balanced, JSON.stringify(counts), JSON.stringify(findings)];
    await this.database.query({ text: SAVE, values });
    if (balanced) log.info('books.balanced', { reportId: id, ...counts });
    else log.error('books.unbalanced', { reportId: id, findings: findings.length, first: findings[0] });
    return report;
  }

  /** Runs when no report is younger than a day. Any number of workers may call it. */
  async runWhenDue(): Promise<ReconciliationReport | null> {
    const [row] = (await this.database.query<{ due: boolean }>({ text: IS_DUE })).rows;
    return row?.due === true ? this.run() : null;
  }

  /** The latest reports, newest first. */
  async latest(limit: number): Promise<ReconciliationReport[]> {
    return (await this.database.query<ReportRow>({ text: LIST, values: [limit] })).rows.map(toReport);
  }
}

async function look(transaction: StatementRunner): Promise<Pick<ReconciliationReport, 'counts' | 'findings'> | null> {
  await transaction.query({ text: 'set transaction isolation level repeatable read read only' });
  await transaction.query({ text: `set local statement_timeout = '1h'` });
  const statement = { text: 'select pg_try_advisory_xact_lock($1) as alone', values: [LOCK] };
  const [lock] = (await transaction.query<{ alone: boolean }>(statement)).rows;
  if (lock?.alone !== true) return null;
  const findings: Finding[] = [];
  for (const { name, text } of RECONCILIATION_CHECKS) {
    const { rows } = await transaction.query<Omit<Finding, 'check'>>({ text });
    findings.push(...rows.map((row) => ({ check: name, ...row })));
  }
  const [counts] = (await transaction.query<ReconciliationReport['counts']>({ text: COUNTS })).rows;
  if (!counts) throw new Error('the books could not be counted');
  return { findings, counts };
}

const toReport = (row: ReportRow): ReconciliationReport => ({
  id: row.id,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
  balanced: row.balanced,
  counts: row.counts,
  findings: row.findings,
});
