import type { MediaStore } from '#media';
import { type Database, logger, lruCache } from '#platform';
import type { Failpoints } from '#runtime';
import { notPaused, PausedWork } from '../observability/paused-work.js';
import { accountsInTurn, METERED } from './uploaded-file.js';
import { forgetUnused, lockFiles, removeEntries, UNUSED_BEHIND } from './unused-indexes.js';
import { STORE_SHOWN_DAYS } from './vector-store.js';

const log = logger('maintenance');

/** How long files that the store would not remove are left before the next try, in milliseconds. */
const UNREMOVABLE_MAX = 10_000;
const UNREMOVABLE_MS = 600_000;

/** The most rows of a table that one statement removes: whatever a file holds, no statement takes long enough to be undone. */
const ROWS_AT_ONCE = 2_000;

/** The accounts of the files that expired first. */
const EXPIRED_ACCOUNTS = `
select distinct account_id as "accountId" from (
  select account_id from uploaded_file
  where state = 'ready' and expires_at <= now() and ${notPaused('file-removal', 'account_id')} order by expires_at limit $1
) as expired`;

/** $1 most files, $2 account. */
const EXPIRE = `
with gone as (
  update uploaded_file set state = 'deleted' where id in (
    select id from uploaded_file where state = 'ready' and expires_at <= now() and account_id = $2
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
select e.vector_store_id as "storeId", s.account_id as "accountId", e.file_id as "fileId"
from vector_store s join vector_store_file e on e.vector_store_id = s.id
where s.expires_at <= now() and ${notPaused('file-removal', 's.account_id')} limit $1`;

const FORGET_STORES = `
delete from vector_store where id in (
  select s.id from vector_store s where s.expires_at <= now() - $2 * interval '1 day'
    and not exists (select from vector_store_file e where e.vector_store_id = s.id) limit $1)`;

const partOf = (table: string): string => `
  delete from ${table} where ctid = any(array(
    select r.ctid from chosen join ${table} r on r.index_id = chosen.id limit ${ROWS_AT_ONCE})) returning 1`;

/** $1 the account that had the last turn. What was made of a file that is gone, of the next account that has such. */
const NEXT_REMOVED = `
select next.id::text, turn.account_id as "accountId" from (${accountsInTurn('file_id is null', '$1')}) as turn cross join lateral (
  select id from file_index where file_id is null and file_index.account_id = turn.account_id
  order by id limit 1 for update skip locked) as next
where ${notPaused('file-removal', 'turn.account_id')} limit 1`;

/** $1 the index. Another process may be at it. */
const REMOVE_PART = `
with chosen as materialized (
  select id from file_index where id = $1 and file_id is null for update skip locked
), passages as (${partOf('file_passage')}
), terms as (${partOf('file_term')}
), vectors as (${partOf('passage_vector')}
)
select greatest((select count(*) from passages), (select count(*) from terms),
  (select count(*) from vectors)) < ${ROWS_AT_ONCE} as "isLast" from chosen`;
const REMOVE_INDEX = `delete from file_index where id = $1 and file_id is null`;

interface RemovableFile {
  readonly id: string;
  readonly accountId: string;
  readonly storeKey: string;
}

interface RemovedIndex {
  readonly id: string;
  readonly accountId: string;
}

/**
 * Removes the bytes, passages and rows of files and vector stores that were deleted or have expired, each account's whatever becomes of
 * the others'.
 */
export class ExpiredUploads {
  private readonly unremovable = lruCache<string, true>(UNREMOVABLE_MAX, { ttl: UNREMOVABLE_MS });
  /** The account of which the last part was removed. */
  private served = '';
  /** The last index of which was found out whether anything finds it. */
  private lookedAt = 0n;
  private readonly paused: PausedWork;

  constructor(
    private readonly database: Database,
    private readonly store: MediaStore,
    private readonly failpoints: Failpoints,
  ) {
    this.paused = new PausedWork(database);
  }

  /** At most `limit` of each, files and parts of what was made of them; as many of one of them: there may be more. */
  async remove(limit: number): Promise<number> {
    await goingOn(this.expire(limit));
    await goingOn(this.emptyStores());
    const values = [limit, STORE_SHOWN_DAYS];
    await goingOn(this.database.query({ text: FORGET_STORES, values, limit: 'long' }));
    await goingOn(this.forgetUnused());
    const { rows } = await this.database.query<RemovableFile>({
      text: REMOVABLE,
      values: [limit, [...this.unremovable.keys()]],
      limit: 'long',
    });
    let removed = 0;
    for (const file of rows) if (await this.removeFile(file)) removed += 1;
    return Math.max(removed, await this.removeParts(limit));
  }

  private async expire(limit: number): Promise<void> {
    const { rows } = await this.database.query<{ accountId: string }>({
      text: EXPIRED_ACCOUNTS,
      values: [limit],
      limit: 'long',
    });
    for (const { accountId } of rows)
      await this.forAccount(accountId, () =>
        this.database.query({ text: EXPIRE, values: [limit, accountId], limit: 'long' }),
      );
  }

  private async emptyStores(): Promise<void> {
    const { rows } = await this.database.query<{ storeId: string; accountId: string; fileId: string }>({
      text: FILES_OF_EXPIRED_STORES,
      values: [ROWS_AT_ONCE],
      limit: 'long',
    });
    for (const [id, accountId] of new Map(rows.map((row) => [row.storeId, row.accountId]))) {
      const files = rows.filter(({ storeId }) => storeId === id).map(({ fileId }) => fileId);
      await this.forAccount(accountId, () => removeEntries(this.database, id, files));
    }
  }

  /** A turn through all indexes, a part in each round: hardly any is unused that was not found so when it became so. */
  private async forgetUnused(): Promise<void> {
    const { rows } = await this.database.query<{ last: bigint | null; files: Record<string, string[]> | null }>({
      text: UNUSED_BEHIND,
      values: [this.lookedAt, ROWS_AT_ONCE],
      limit: 'long',
    });
    const { last = null, files } = rows[0] ?? {};
    this.lookedAt = last ?? 0n;
    for (const [accountId, unused] of Object.entries(files ?? {}))
      await this.forAccount(accountId, () =>
        this.database.transaction(async (transaction) => {
          await lockFiles(transaction, accountId, unused);
          await forgetUnused(transaction, unused);
        }),
      );
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
      const { rows } = await this.database.query<RemovedIndex>({ text: NEXT_REMOVED, values, limit: 'long' });
      if (!rows[0]) return parts;
      const { id, accountId } = rows[0];
      this.served = accountId;
      await this.forAccount(accountId, () => this.removePart(id));
    }
    return limit;
  }

  private async removePart(id: string): Promise<void> {
    const { rows } = await this.database.query<{ isLast: boolean }>({ text: REMOVE_PART, values: [id], limit: 'long' });
    if (rows[0]?.isLast) await this.database.query({ text: REMOVE_INDEX, values: [id], limit: 'long' });
  }

  private forAccount(accountId: string, work: () => Promise<unknown>): Promise<boolean> {
    return this.paused.attempt('file-removal', accountId, work);
  }
}

/** What fails is done by a later round, and keeps nothing else from being removed. */
const goingOn = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => log.error('maintenance.files_kept', { error }));
