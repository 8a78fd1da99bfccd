import type { MediaStore } from '#media';
import { type Database, logger, lruCache } from '#platform';
import type { Failpoints } from '#runtime';
import { accountsInTurn, METERED } from './uploaded-file.js';
import { forgetUnused, lockFiles, removeEntries, UNUSED_BEHIND } from './unused-indexes.js';
import { STORE_SHOWN_DAYS } from './vector-store.js';

const log = logger('maintenance');

/** How long files that the store would not remove are left before the next try, in milliseconds. */
const UNREMOVABLE_MAX = 10_000;
const UNREMOVABLE_MS = 600_000;

/** The most rows of a table that one statement removes: whatever a file holds, no statement takes long enough to be undone. */
const ROWS_AT_ONCE = 2_000;

const EXPIRE = `
with gone as (
  update uploaded_file set state = 'deleted' where id in (
    select id from uploaded_file where state = 'ready' and expires_at <= now()
    order by expires_at limit $1 for update skip locked
  ) returning id, account_id, bytes
), counted as (
  update file_usage u set ${METERED}, files = u.files - sums.files, bytes = u.bytes - sums.bytes
  from (select account_id, count(*) as files, sum(bytes) as bytes from gone group by account_id) as sums
  where u.account_id = sums.account_id
)
select id from gone`;

const REMOVABLE = `
select id, account_id as "accountId", store_key as "storeKey" from uploaded_file
where state <> 'ready' and expires_at <= now() and id <> all($2::text[]) order by expires_at limit $1`;

/** Of an expired file, and those that were made while it expired. They are not shown meanwhile. */
const REMOVE_ENTRIES = `delete from vector_store_file where file_id = $1`;
/** One with an index that is being written stays until the next round. */
const REMOVE_ROW = `
delete from uploaded_file where id = $1 and state <> 'ready' and expires_at <= now()
  and not exists (select from file_index where file_id = $1) returning id`;

const FILES_OF_EXPIRED_STORES = `
select e.vector_store_id as "storeId", e.file_id as "fileId" from vector_store s join vector_store_file e on e.vector_store_id = s.id
where s.expires_at <= now() limit $1`;

const FORGET_STORES = `
delete from vector_store where id in (
  select s.id from vector_store s where s.expires_at <= now() - $2 * interval '1 day'
    and not exists (select from vector_store_file e where e.vector_store_id = s.id) limit $1)`;

const partOf = (table: string): string => `
  delete from ${table} where ctid = any(array(
    select r.ctid from chosen join ${table} r on r.index_id = chosen.id limit ${ROWS_AT_ONCE})) returning 1`;

/** $1 the account that had the last turn. A part of what was made of a file that is gone, of the next account that has such. */
const REMOVE_PART = `
with chosen as (
  select next.id, turn.account_id from (${accountsInTurn('file_id is null', '$1')}) as turn cross join lateral (
    select id from file_index where file_id is null and file_index.account_id = turn.account_id
    order by id limit 1 for update skip locked) as next
  limit 1
), passages as (${partOf('file_passage')}
), terms as (${partOf('file_term')}
), vectors as (${partOf('passage_vector')}
)
select id::text, account_id as "accountId", greatest((select count(*) from passages), (select count(*) from terms),
  (select count(*) from vectors)) < ${ROWS_AT_ONCE} as "isLast" from chosen`;
const REMOVE_INDEX = `delete from file_index where id = $1 and file_id is null`;

interface RemovableFile {
  readonly id: string;
  readonly accountId: string;
  readonly storeKey: string;
}

interface RemovedPart {
  readonly id: string;
  readonly accountId: string;
  readonly isLast: boolean;
}

/** Removes the bytes, passages and rows of files and vector stores that were deleted or have expired. */
export class ExpiredUploads {
  private readonly unremovable = lruCache<string, true>(UNREMOVABLE_MAX, { ttl: UNREMOVABLE_MS });
  /** The account of which the last part was removed. */
  private served = '';
  /** The last index of which was found out whether anything finds it. */
  private lookedAt = 0n;

  constructor(
    private readonly database: Database,
    private readonly store: MediaStore,
    private readonly failpoints: Failpoints,
  ) {}

  /** At most `limit` of each, files and parts of what was made of them; as many of one of them: there may be more. */
  async remove(limit: number): Promise<number> {
    await this.change(EXPIRE, [limit]);
    await this.emptyStores().catch((error: unknown) => log.error('maintenance.files_kept', { error }));
    await this.change(FORGET_STORES, [limit, STORE_SHOWN_DAYS]);
    await this.forgetUnused().catch((error: unknown) => log.error('maintenance.files_kept', { error }));
    const { rows } = await this.database.query<RemovableFile>({
      text: REMOVABLE,
      values: [limit, [...this.unremovable.keys()]],
      limit: 'long',
    });
    let removed = 0;
    for (const file of rows) if (await this.removeFile(file)) removed += 1;
    return Math.max(removed, await this.removeParts(limit));
  }

  private async emptyStores(): Promise<void> {
    const { rows } = await this.database.query<{ storeId: string; fileId: string }>({
      text: FILES_OF_EXPIRED_STORES,
      values: [ROWS_AT_ONCE],
      limit: 'long',
    });
    for (const id of new Set(rows.map(({ storeId }) => storeId))) {
      const files = rows.filter(({ storeId }) => storeId === id).map(({ fileId }) => fileId);
      await removeEntries(this.database, id, files);
    }
  }

  /** A turn through all indexes, a part in each round: hardly any is unused that was not found so when it became so. */
  private async forgetUnused(): Promise<void> {
    const { rows } = await this.database.query<{ last: bigint | null; files: string[] }>({
      text: UNUSED_BEHIND,
      values: [this.lookedAt, ROWS_AT_ONCE],
      limit: 'long',
    });
    const { last = null, files = [] } = rows[0] ?? {};
    if (files.length > 0)
      await this.database.transaction(async (transaction) => {
        await lockFiles(transaction, null, files);
        await forgetUnused(transaction, files);
      });
    this.lookedAt = last ?? 0n;
  }

  /** The bytes first: a crash in between removes bytes that are gone already, which is no error. */
  private async removeFile({ id, accountId, storeKey }: RemovableFile): Promise<boolean> {
    try {
      await this.store.delete(storeKey);
      this.failpoints.reach('after-bytes-removed');
      return await this.database.transaction(async (transaction) => {
        await lockFiles(transaction, accountId, [id]);
        await transaction.query({ text: REMOVE_ENTRIES, values: [id], limit: 'long' });
        await forgetUnused(transaction, [id]);
        return (await transaction.query({ text: REMOVE_ROW, values: [id] })).rows.length > 0;
      });
    } catch (error) {
      log.warn('maintenance.upload_kept', { fileId: id, error });
      this.unremovable.set(id, true);
      return false;
    }
  }

  /** Each part is committed by itself, so that what is removed stays removed, whatever ends this. */
  private async removeParts(limit: number): Promise<number> {
    for (let parts = 0; parts < limit; parts += 1) {
      const values = [this.served];
      const { rows } = await this.database.query<RemovedPart>({ text: REMOVE_PART, values, limit: 'long' });
      if (!rows[0]) return parts;
      const { id, accountId, isLast } = rows[0];
      this.served = accountId;
      if (isLast) await this.database.query({ text: REMOVE_INDEX, values: [id], limit: 'long' });
    }
    return limit;
  }

  /** What fails is done by a later round, and keeps nothing else from being removed. */
  private async change(text: string, values: readonly unknown[]): Promise<void> {
    await this.database
      .query({ text, values, limit: 'long' })
      .catch((error: unknown) => log.error('maintenance.files_kept', { error }));
  }
}
