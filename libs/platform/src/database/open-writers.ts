import type { StatementRunner } from './database.js';

/**
 * Vacuum and similar write no rows of ours, however long they take. When a transaction of another role began is not
 * shown to us; that it has the table open is.
 */
const MAY_BE_WRITTEN = `
select exists (
  select from pg_stat_activity a
  where datname = current_database() and pid <> pg_backend_pid()
    and coalesce(backend_type, 'client backend') = 'client backend'
    and (xact_start < $2 or (xact_start is null and exists (
      select from pg_locks l where l.pid = a.pid and l.relation = $1::regclass)))
) as written`;

/**
 * True while a transaction is open that began before `time`, and so may still commit rows of a table that belong to
 * that time. Once it is false, a statement that begins afterwards sees all of them. The table's name is one of ours.
 */
export async function mayStillBeWritten(runner: StatementRunner, table: string, time: Date): Promise<boolean> {
  const { rows } = await runner.query<{ written: boolean }>({ text: MAY_BE_WRITTEN, values: [table, time] });
  return rows[0]?.written !== false;
}
