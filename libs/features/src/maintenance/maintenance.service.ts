import { Database, logger, type MediaStore } from '#platform';
import { LRUCache } from 'lru-cache';

const log = logger('maintenance');

const BATCH = 200;

/** Files that the store would not remove rest so long, in milliseconds, and stand in nobody's way meanwhile. */
const UNREMOVABLE = { max: 10_000, ttl: 600_000 } as const;

const EXPIRED_FILES = `
select task_id, ordinal, store_key from task_file
where expires_at <= now() and removed_at is null and store_key <> all($2::text[]) order by expires_at limit $1`;
const MARK_REMOVED = `update task_file set removed_at = now() where task_id = $1 and ordinal = $2`;

interface ExpiredFile {
  readonly task_id: string;
  readonly ordinal: number;
  readonly store_key: string;
}

/** Tables whose rows are thrown away once they expire. */
const EXPIRING_TABLES = ['idempotency_record', 'text_response', 'text_item'] as const;

const PARTITIONED_TABLES = ['usage_record', 'audit_record'] as const;
/** This month and those to come, counted from 0, whose partitions are kept ready. */
const MONTHS_AHEAD = [0, 1, 2] as const;
const ENSURE_PARTITION = `
select ensure_month_partition($1, (now() at time zone 'utc' + $2::integer * interval '1 month')::date)`;

/** Keeps the house clean: expired files and records go, the coming months' partitions are made in time. */
export class MaintenanceService {
  private readonly unremovable = new LRUCache<string, true>(UNREMOVABLE);

  constructor(
    private readonly database: Database,
    private readonly store: MediaStore,
  ) {}

  /** One round. True: there may be more to do at once. */
  async run(): Promise<boolean> {
    const removedFiles = await this.removeExpiredFiles();
    const removedRecords = await this.removeExpiredRecords();
    const removed = [removedFiles, ...removedRecords];
    const total = removed.reduce((sum, count) => sum + count, 0);
    await this.ensurePartitions();
    if (total > 0) log.info('maintenance.done', { removedFiles, removedRecords: total - removedFiles });
    return removed.includes(BATCH);
  }

  /** The file first, then the note of it: a crash in between removes a file that is already gone, which is no error. */
  private async removeExpiredFiles(): Promise<number> {
    const { rows: files } = await this.database.query<ExpiredFile>({
      text: EXPIRED_FILES,
      values: [BATCH, [...this.unremovable.keys()]],
    });
    let removed = 0;
    for (const file of files) if (await this.removeFile(file)) removed += 1;
    return removed;
  }

  /** False: the store would not; a later round tries again, and the other files need not wait for this one. */
  private async removeFile({ task_id, ordinal, store_key }: ExpiredFile): Promise<boolean> {
    try {
      await this.store.delete(store_key);
      await this.database.query({ text: MARK_REMOVED, values: [task_id, ordinal] });
      return true;
    } catch (error) {
      this.unremovable.set(store_key, true);
      log.warn('maintenance.file_kept', { taskId: task_id, storeKey: store_key, error });
      return false;
    }
  }

  /** Each on its own: a partition that cannot be made must not keep the others from being made in time. */
  private async ensurePartitions(): Promise<void> {
    for (const table of PARTITIONED_TABLES) {
      for (const monthsAhead of MONTHS_AHEAD) {
        await this.database
          .query({ text: ENSURE_PARTITION, values: [table, monthsAhead] })
          .catch((error: unknown) => log.error('maintenance.partition_missing', { table, monthsAhead, error }));
      }
    }
  }

  /** How many of each table. */
  private async removeExpiredRecords(): Promise<number[]> {
    const removed: number[] = [];
    for (const table of EXPIRING_TABLES) {
      const { rows } = await this.database.query({
        text: `delete from ${table} where ctid = any(array(select ctid from ${table} where expires_at <= now() limit $1)) returning 1`,
        values: [BATCH],
      });
      removed.push(rows.length);
    }
    return removed;
  }
}
