import { type MediaStore, MediaStoreError } from '#media';
import { Database, logger, lruCache } from '#platform';

const log = logger('maintenance');

/** How long files that the store would not remove are left, in milliseconds, so that others are removed before the next try. */
const UNREMOVABLE_MAX = 10_000;
const UNREMOVABLE_MS = 600_000;

type Outcome = 'removed' | 'kept' | 'store away';

const EXPIRED_FILES = `
select task_id, ordinal, store_key from task_file
where expires_at <= now() and removed_at is null and store_key <> all($2::text[]) order by expires_at limit $1`;
const MARK_REMOVED = `update task_file set removed_at = now() where task_id = $1 and ordinal = $2`;

interface ExpiredFile {
  readonly task_id: string;
  readonly ordinal: number;
  readonly store_key: string;
}

/** Removes files from the store once they expire. */
export class ExpiredFiles {
  private readonly unremovable = lruCache<string, true>(UNREMOVABLE_MAX, { ttl: UNREMOVABLE_MS });

  constructor(
    private readonly database: Database,
    private readonly store: MediaStore,
  ) {}

  /**
   * Removes at most `limit` and answers how many. The file first, then the note of it: a crash in between removes a
   * file that is already gone, which is no error.
   */
  async remove(limit: number): Promise<number> {
    const { rows: files } = await this.database.query<ExpiredFile>({
      text: EXPIRED_FILES,
      values: [limit, [...this.unremovable.keys()]],
      limit: 'long',
    });
    let removed = 0;
    for (const file of files) {
      const outcome = await this.removeFile(file);
      if (outcome === 'removed') removed += 1;
      // Each of the others would only wait for it once more.
      if (outcome === 'store away') break;
    }
    return removed;
  }

  /** What the store would not remove is tried again by a later round, and the other files need not wait for it. */
  private async removeFile({ task_id, ordinal, store_key }: ExpiredFile): Promise<Outcome> {
    try {
      await this.store.delete(store_key);
      await this.database.query({ text: MARK_REMOVED, values: [task_id, ordinal] });
      return 'removed';
    } catch (error) {
      log.warn('maintenance.file_kept', { taskId: task_id, storeKey: store_key, error });
      this.unremovable.set(store_key, true);
      return error instanceof MediaStoreError && error.code === 'unavailable' ? 'store away' : 'kept';
    }
  }
}
