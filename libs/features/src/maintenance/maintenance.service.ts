import { type MediaStore } from '#media';
import { Database, logger } from '#platform';
import { type Failpoints, noFailpoints, type ProcessConfig } from '#runtime';
import { ExpiredUploads } from '../file-search/expired-uploads.js';
import { ExpiredFiles } from './expired-files.js';
import { MonthPartitions } from './month-partitions.js';
import { ROW_RETENTION, type RowRetention } from './old-rows.js';

const log = logger('maintenance');

/** The most files, and rows of each table, that one round removes. */
const BATCH = 200;

/** How long a round works on one table, in milliseconds, so that no table waits for what another has. */
const TABLE_MS = 5_000;

/** Removes what has expired or is older than it is kept, and makes the coming months ready. */
export class MaintenanceService {
  private readonly files: ExpiredFiles;
  private readonly uploads: ExpiredUploads;
  private readonly months: MonthPartitions;

  constructor(
    private readonly database: Database,
    store: MediaStore,
    private readonly retention: ProcessConfig['retention'],
    failpoints: Failpoints = noFailpoints,
  ) {
    this.files = new ExpiredFiles(database, store);
    this.uploads = new ExpiredUploads(database, store, failpoints);
    this.months = new MonthPartitions(database);
  }

  /** One round. True: there may be more to do at once. */
  async run(): Promise<boolean> {
    const removed: Record<string, number> = {
      task_file: await this.eachAlone('task_file', () => this.files.remove(BATCH)),
      uploaded_file: await this.eachAlone('uploaded_file', () => this.uploads.remove(BATCH)),
    };
    for (const rows of ROW_RETENTION) removed[rows.table] = await this.removeRows(rows);
    const counts = Object.entries(removed).filter(([, count]) => count > 0);
    if (counts.length > 0) log.info('maintenance.removed', Object.fromEntries(counts));
    await this.months.ensureAhead();
    await this.dropOldMonths();
    await this.months.ensureIndexes();
    return counts.some(([, count]) => count === BATCH);
  }

  private async removeRows({ table, keptFor, text }: RowRetention): Promise<number> {
    const days = keptFor === undefined ? [] : [this.retention[keptFor]];
    if (days[0] === 0) return 0;
    const statement = { text, values: [BATCH, ...days], limit: 'long' } as const;
    return this.eachAlone(table, async () => {
      const began = performance.now();
      for (let removed = 0; removed < BATCH;) {
        const { length } = (await this.database.query(statement)).rows;
        if (length === 0) return removed;
        removed += length;
        if (performance.now() - began > TABLE_MS) break;
      }
      return BATCH;
    });
  }

  /** Each table on its own: one that fails keeps nothing else from being cleaned. */
  private async eachAlone(table: string, remove: () => Promise<number>): Promise<number> {
    try {
      return await remove();
    } catch (error) {
      log.error('maintenance.rows_kept', { table, error });
      return 0;
    }
  }

  private async dropOldMonths(): Promise<void> {
    const { USAGE_RETENTION_DAYS, AUDIT_RETENTION_DAYS } = this.retention;
    const limits = [
      ['usage_record', USAGE_RETENTION_DAYS],
      ['audit_record', AUDIT_RETENTION_DAYS],
    ] as const;
    for (const [table, days] of limits) {
      await this.months
        .dropOlder(table, days)
        .catch((error: unknown) => log.error('maintenance.months_kept', { table, error }));
    }
  }
}
