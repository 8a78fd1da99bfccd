import type { Database } from '#platform';
import { eventually } from './eventually.js';

const BLOCKED = {
  text: `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
};

/** Waits until a statement on this database waits for the lock of another. */
export const untilBlocked = (database: Pick<Database, 'query'>): Promise<boolean> =>
  eventually(async () => (await database.query(BLOCKED)).rows.length > 0);
