import type { Database } from '#platform';
import { eventually } from './eventually.js';

const BLOCKED = {
  text: `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
};

/** Waits until so many statements on this database wait for the locks of others. */
export const untilBlocked = (database: Pick<Database, 'query'>, count = 1): Promise<boolean> =>
  eventually(async () => (await database.query(BLOCKED)).rows.length >= count);
