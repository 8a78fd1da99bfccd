import { Database, mayStillBeWritten, type StatementRunner } from '#platform';
import { openHolds, sumsOfEntries } from './reconciliation-checks.js';

const LATEST = `select last_entry_id, finished_at from reconciliation_report order by started_at desc limit 1`;

/**
 * The entry up to which the ledger may be summed up: the last one of the latest report. Ids are given in order, but
 * their transactions commit in any; when none is open that began before that report was finished, every entry up to its
 * last one is final. Null: it is not sure yet. Ask before the snapshot of a reconciliation.
 */
export async function lastSettledEntry(database: Database): Promise<bigint | null> {
  const { rows } = await database.query<{ last_entry_id: bigint | null; finished_at: Date }>({
    text: LATEST,
    limit: 'long',
  });
  const [latest] = rows;
  if (!latest || (await mayStillBeWritten(database, 'ledger_entry', latest.finished_at))) return null;
  return latest.last_entry_id;
}

/** Up to which entry the ledger is summed up; null: nothing is. */
export async function readCheckpoint(transaction: StatementRunner): Promise<bigint | null> {
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
export async function moveCheckpoint(transaction: StatementRunner, sinceId: bigint, nextId: bigint): Promise<void> {
  if (sinceId === 0n) await transaction.query({ text: 'delete from ledger_sum', limit: 'hour' });
  if (sinceId === 0n) await transaction.query({ text: 'delete from ledger_open_hold', limit: 'hour' });
  await transaction.query({ text: ADD_SUMS, values: [sinceId, nextId], limit: 'hour' });
  await transaction.query({ text: ADD_OPEN_HOLDS, values: [sinceId, nextId], limit: 'hour' });
  await transaction.query({ text: 'delete from ledger_open_hold where open_micros = 0', limit: 'hour' });
  await transaction.query({ text: MOVE, values: [nextId] });
}
