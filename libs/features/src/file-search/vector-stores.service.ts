import { Injectable } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { Database, timeOrderedId } from '#platform';
import { type ListPart, listPart, type ListQuery } from './list-part.js';
import { type NewEntry, VectorStoreFilesService } from './vector-store-files.service.js';
import { removeEntries } from './unused-indexes.js';
import { JOINED_FILE_IS_READY } from './uploaded-file.js';
import { COUNTS, STORE_SHOWN_DAYS, type VectorStore, type VectorStoreSettings } from './vector-store.js';

const STORES_MAX = 1_000;

/** Entries that are counted for one part of a list: it ends behind the vector store that has the last of them. */
const COUNTED_MAX = 20_000;

const COLUMNS = `s.id, s.name, s.description, s.metadata, s.expires_after_days as "expiresAfterDays",
  s.last_active_at as "lastActiveAt", s.created_at as "createdAt", s.expires_at as "expiresAt",
  coalesce(s.expires_at <= now(), false) as "isExpired", sums.counts, sums.bytes as "usageBytes"`;

const SUMS = `
cross join lateral (
  select ${COUNTS} as counts, coalesce(sum(i.stored_bytes), 0)::bigint as bytes
  from vector_store_file e join file_index i on i.id = e.index_id join uploaded_file f on f.id = e.file_id
  where e.vector_store_id = s.id and ${JOINED_FILE_IS_READY}
) as sums`;

const FIND = `select ${COLUMNS} from vector_store s ${SUMS} where s.account_id = $1 and s.id = $2`;

const LISTED = `
select id, (select count(*) from vector_store_file e where e.vector_store_id = s.id)::integer as entries
from vector_store s where s.account_id = $1`;

const NAMED = `select ${COLUMNS} from vector_store s ${SUMS} where s.account_id = $1 and s.id = any($2)`;

const CREATE = `
insert into vector_store (id, account_id, name, description, metadata, expires_after_days, expires_at)
select $1, $2, $3, $4, $5::jsonb, $6::integer, now() + $6::integer * interval '1 day'
where (select count(*) from vector_store where account_id = $2) < $7::integer returning id`;

const CHANGE = `
update vector_store set name = case when $3::boolean then $4 else name end,
  description = case when $5::boolean then $6 else description end, metadata = coalesce($7::jsonb, metadata),
  expires_after_days = case when $8::boolean then $9::integer else expires_after_days end,
  expires_at = case when $8::boolean then now() + $9::integer * interval '1 day' else expires_at end, last_active_at = now()
where account_id = $1 and id = $2 and (expires_at is null or expires_at > now()) returning id`;

/** It takes no files any more; what a stop leaves of it is removed as of one whose time is over. */
const END = `
update vector_store set expires_at = now() - interval '${STORE_SHOWN_DAYS} days' where account_id = $1 and id = $2 returning id`;
const SOME_FILES = `select file_id as id from vector_store_file where vector_store_id = $1 limit $2`;
const REMOVE = `delete from vector_store where id = $1`;

/** The most entries of one transaction that empties a vector store. */
const REMOVED_AT_ONCE = 2_000;

@Injectable()
export class VectorStoresService {
  constructor(
    private readonly database: Database,
    private readonly entries: VectorStoreFilesService,
  ) {}

  /** With its first files. @throws GatewayError `not_found`: one of them; `conflict`: there are too many stores. */
  async create(accountId: string, settings: VectorStoreSettings, files: readonly NewEntry[]): Promise<VectorStore> {
    const { name = null, description = null, metadata = {}, expiresAfterDays = null } = settings;
    const id = timeOrderedId('vs');
    await this.database.of(accountId).transaction(async (transaction) => {
      const values = [id, accountId, name, description, JSON.stringify(metadata), expiresAfterDays, STORES_MAX];
      const { rows } = await transaction.query({ text: CREATE, values });
      if (rows.length === 0)
        throw new GatewayError('conflict', `An account may have at most ${STORES_MAX} vector stores: delete some.`);
      await this.entries.addAll(transaction, { accountId, vectorStoreId: id, files, batchId: null });
    });
    return this.find(accountId, id);
  }

  /** @throws GatewayError `not_found`. */
  async find(accountId: string, id: string): Promise<VectorStore> {
    const { rows } = await this.database.of(accountId).query<VectorStore>({
      text: FIND,
      values: [accountId, id],
    });
    if (!rows[0]) throw noStore(id);
    return rows[0];
  }

  /** It may hold fewer than were asked for although there are more: counting their files has a bound. */
  async list(accountId: string, query: ListQuery): Promise<ListPart<VectorStore>> {
    const database = this.database.of(accountId);
    const listed = await listPart<{ id: string; entries: number }>(database, {
      select: LISTED,
      values: [accountId],
      key: 's.id',
      query,
    });
    let counted = 0;
    const ids = listed.items
      .filter(({ entries }) => counted <= COUNTED_MAX && (counted += entries) >= 0)
      .map(({ id }) => id);
    const { rows } = await database.query<VectorStore>({ text: NAMED, values: [accountId, ids] });
    const stores = new Map(rows.map((store) => [store.id, store]));
    const items = ids.flatMap((id) => stores.get(id) ?? []);
    return { items, hasMore: listed.hasMore || ids.length < listed.items.length };
  }

  /** @throws GatewayError `not_found`. */
  async change(accountId: string, id: string, settings: VectorStoreSettings): Promise<VectorStore> {
    const { name, description, metadata, expiresAfterDays } = settings;
    const { rows } = await this.database.of(accountId).query({
      text: CHANGE,
      values: [
        accountId,
        id,
        name !== undefined,
        name ?? null,
        description !== undefined,
        description ?? null,
        metadata === undefined ? null : JSON.stringify(metadata),
        expiresAfterDays !== undefined,
        expiresAfterDays ?? null,
      ],
    });
    if (rows.length === 0) throw noStore(id);
    return this.find(accountId, id);
  }

  /** Its files stay. @throws GatewayError `not_found`. */
  async remove(accountId: string, id: string): Promise<void> {
    const database = this.database.of(accountId);
    const { rows } = await database.query({ text: END, values: [accountId, id] });
    if (rows.length === 0) throw noStore(id);
    for (let removed = REMOVED_AT_ONCE; removed === REMOVED_AT_ONCE;) {
      const entries = await database.query<{ id: string }>({ text: SOME_FILES, values: [id, REMOVED_AT_ONCE] });
      const files = entries.rows.map((file) => file.id);
      if (files.length > 0) await removeEntries(database, id, files);
      removed = files.length;
    }
    await database.query({ text: REMOVE, values: [id] });
  }
}

const noStore = (id: string): GatewayError =>
  new GatewayError('not_found', `There is no vector store "${id.slice(0, 80)}", or it has expired.`, {
    param: 'vector_store_id',
  });
