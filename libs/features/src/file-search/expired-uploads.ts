import { LRUCache } from 'lru-cache';
import type { MediaStore } from '#media';
import { type Database, logger } from '#platform';
import type { Failpoints } from '#runtime';
import { DEFAULT_CHUNKING } from './chunking.js';
import { METERED, SEARCHED_PURPOSES } from './uploaded-file.js';

const log = logger('maintenance');

/** How long files that the store would not remove are left before the next try, in milliseconds. */
const UNREMOVABLE = { max: 10_000, ttl: 600_000 } as const;

/** How long an expired vector store is still shown, in days. */
const STORE_SHOWN_DAYS = 30;

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
), entries as (
  delete from vector_store_file e using gone where e.file_id = gone.id
)
select id from gone`;

const REMOVABLE = `
select id, store_key as "storeKey" from uploaded_file
where state <> 'ready' and expires_at <= now() and id <> all($2::text[]) order by expires_at limit $1`;

/** Those that were made while the file expired. */
const REMOVE_ENTRIES = `delete from vector_store_file where file_id = $1`;

/** With its passages, terms and vectors. */
const REMOVE_INDEXES = `delete from file_index where file_id = $1`;
const REMOVE_ROW = `delete from uploaded_file where id = $1 and state <> 'ready' and expires_at <= now()`;

const EMPTY_EXPIRED_STORES = `
delete from vector_store_file where ctid = any(array(
  select e.ctid from vector_store s join vector_store_file e on e.vector_store_id = s.id
  where s.expires_at <= now() limit $1))`;

const FORGET_STORES = `
delete from vector_store where id in (
  select id from vector_store where expires_at <= now() - $2 * interval '1 day' limit $1)`;

/** Cut in a way that no vector store asks for any more. */
const UNUSED_INDEXES = `
delete from file_index where id in (
  select i.id from file_index i join uploaded_file f on f.id = i.file_id
  where not (i.chunk_tokens = $2 and i.overlap_tokens = $3 and f.purpose = any($4)) and i.state <> 'working'
    and not exists (select from vector_store_file e where e.index_id = i.id) limit $1)`;

/** Removes the bytes, passages and rows of files and vector stores that were deleted or have expired. */
export class ExpiredUploads {
  readonly #unremovable = new LRUCache<string, true>(UNREMOVABLE);

  constructor(
    private readonly database: Database,
    private readonly store: MediaStore,
    private readonly failpoints: Failpoints,
  ) {}

  /** At most `limit` of each; answers how many files went. */
  async remove(limit: number): Promise<number> {
    await this.#change(EXPIRE, [limit]);
    await this.#change(EMPTY_EXPIRED_STORES, [limit]);
    await this.#change(FORGET_STORES, [limit, STORE_SHOWN_DAYS]);
    const { chunkTokens, overlapTokens } = DEFAULT_CHUNKING;
    await this.#change(UNUSED_INDEXES, [limit, chunkTokens, overlapTokens, SEARCHED_PURPOSES]);
    const { rows } = await this.database.query<{ id: string; storeKey: string }>({
      text: REMOVABLE,
      values: [limit, [...this.#unremovable.keys()]],
      limit: 'long',
    });
    let removed = 0;
    for (const file of rows) if (await this.#removeFile(file)) removed += 1;
    return removed;
  }

  /** The bytes first: a crash in between removes bytes that are gone already, which is no error. */
  async #removeFile({ id, storeKey }: { id: string; storeKey: string }): Promise<boolean> {
    try {
      await this.store.delete(storeKey);
      this.failpoints.reach('after-bytes-removed');
      await this.database.transaction(async (transaction) => {
        await transaction.query({ text: REMOVE_ENTRIES, values: [id], limit: 'long' });
        await transaction.query({ text: REMOVE_INDEXES, values: [id], limit: 'long' });
        await transaction.query({ text: REMOVE_ROW, values: [id] });
      });
      return true;
    } catch (error) {
      log.warn('maintenance.upload_kept', { fileId: id, error });
      this.#unremovable.set(id, true);
      return false;
    }
  }

  /** What fails is done by a later round, and keeps nothing else from being removed. */
  async #change(text: string, values: readonly unknown[]): Promise<void> {
    await this.database
      .query({ text, values, limit: 'long' })
      .catch((error: unknown) => log.error('maintenance.files_kept', { error }));
  }
}
