import type { MediaStore } from '#media';
import { type Database, type HealthCheck, pendingMigrations } from '#platform';
import type { TaskNotifier } from '../queue/task-notifier.js';

/** The parts of the platform that readiness depends on. */
export interface CheckedPlatform {
  readonly database: Database;
  readonly notifier: TaskNotifier;
  readonly store: MediaStore;
}

/**
 * The checks behind `/readyz` of every process. Reasons say what to check and nothing about where it is. Postgres alone
 * is needed: without the queue wake-ups are lost and tasks are found by the sweep, without the store results wait and are
 * tried again, and text needs neither.
 */
export function platformChecks({ database, notifier, store }: CheckedPlatform): HealthCheck[] {
  return [
    { part: 'database', isNeeded: true, check: () => database.unfitness() },
    {
      part: 'migrations',
      isNeeded: true,
      check: async () => {
        const pending = await pendingMigrations(database);
        return pending.length === 0 ? null : `the database lacks ${pending.length} migration(s) of this version`;
      },
    },
    { part: 'queue', isNeeded: false, check: () => notifier.unfitness() },
    { part: 'store', isNeeded: false, check: async () => ((await store.healthy()) ? null : 'files cannot be written') },
  ];
}
