import { type FileAttributes, GatewayError, passesFilter, type SearchFilter } from '#contracts';
import { nextTurn, type StatementRunner, Turns } from '#platform';
import { DEFAULT_CHUNKING, JOINED_FILE_IS_READY } from './uploaded-file.js';
import type { Language } from './stemmer.js';

export interface SearchedIndex {
  readonly id: string;
  readonly fileId: string;
  readonly filename: string;
  /** Where the file has its attributes; null in the default one, where files have none. */
  readonly storeId: string | null;
  readonly language: Language;
  readonly passages: number;
  /** Of all its passages together. */
  readonly terms: number;
  readonly embeddingModel: string | null;
}

/** The vector stores that are searched; `default`: every file of the account that is indexed by itself. */
export type SearchedStores = readonly string[] | 'default';

const COLUMNS = `i.id::text as id, f.id as "fileId", f.filename, i.language,
  octet_length(i.lengths) / 2 as passages, i.terms::integer as terms,
  i.embedding_model as "embeddingModel"`;

const READY = `${JOINED_FILE_IS_READY} and i.state = 'completed'`;

const OF_ACCOUNT = `
select ${COLUMNS}, null as "storeId" from uploaded_file f join file_index i on i.file_id = f.id
where f.account_id = $1 and i.chunk_tokens = $2 and i.overlap_tokens = $3 and ${READY}`;

/** So many are read at once: their attributes may be long, and are looked at one after the other. */
const ENTRIES_AT_ONCE = 500;

const OF_STORE = `
select ${COLUMNS}, e.vector_store_id as "storeId", e.attributes from vector_store_file e
join uploaded_file f on f.id = e.file_id join file_index i on i.id = e.index_id
where e.vector_store_id = $2 and e.file_id > $3 and e.cancelled_at is null and f.account_id = $1 and ${READY}
order by e.file_id limit ${ENTRIES_AT_ONCE}`;

const ATTRIBUTES = `
select e.index_id::text as index, e.attributes from unnest($1::text[], $2::text[]) as wanted (store_id, file_id)
join vector_store_file e on e.vector_store_id = wanted.store_id and e.file_id = wanted.file_id`;

/** Notes the use of the stores, by which they expire; at most once a minute each. */
const LIVE_STORES = `
with live as (
  select id, last_active_at, expires_after_days from vector_store
  where account_id = $1 and id = any($2) and (expires_at is null or expires_at > now())
), used as (
  update vector_store set last_active_at = now(), expires_at = now() + live.expires_after_days * interval '1 day'
  from live where vector_store.id = live.id and live.last_active_at < now() - interval '1 minute'
)
select id from live`;

/**
 * What is looked through: each index once, of files that pass the filter in one of the stores.
 *
 * @throws GatewayError `not_found` naming a vector store that the account does not have.
 */
export async function searchScope(
  database: StatementRunner,
  accountId: string,
  stores: SearchedStores,
  filter: SearchFilter | undefined,
): Promise<readonly SearchedIndex[]> {
  const found = new Map<string, SearchedIndex>();
  const turns = new Turns();
  const keep = async (rows: readonly EntryRow[]): Promise<void> => {
    turns.begin();
    for (const { attributes = {}, ...index } of rows) {
      if (turns.isOver) await nextTurn(turns);
      if (!found.has(index.id) && (!filter || passesFilter(filter, attributes))) found.set(index.id, index);
    }
  };
  if (stores === 'default') {
    const values = [accountId, DEFAULT_CHUNKING.chunkTokens, DEFAULT_CHUNKING.overlapTokens];
    await keep((await database.query<EntryRow>({ text: OF_ACCOUNT, values })).rows);
    return [...found.values()];
  }
  await expectLiveStores(database, accountId, stores, 'vector_store_ids');
  for (const store of new Set(stores)) {
    let last: string | undefined = '';
    while (last !== undefined) {
      const { rows }: { rows: EntryRow[] } = await database.query({ text: OF_STORE, values: [accountId, store, last] });
      await keep(rows);
      last = rows.length < ENTRIES_AT_ONCE ? undefined : rows.at(-1)?.fileId;
    }
  }
  return [...found.values()];
}

interface EntryRow extends SearchedIndex {
  readonly attributes?: FileAttributes;
}

/** The attributes of the files of some indexes, by index: where they were found, or none. */
export async function attributesOf(
  database: StatementRunner,
  indexes: readonly SearchedIndex[],
): Promise<ReadonlyMap<string, FileAttributes>> {
  const ofStores = indexes.filter(({ storeId }) => storeId !== null);
  if (ofStores.length === 0) return new Map();
  const values = [ofStores.map(({ storeId }) => storeId), ofStores.map(({ fileId }) => fileId)];
  const { rows } = await database.query<{ index: string; attributes: FileAttributes }>({ text: ATTRIBUTES, values });
  return new Map(rows.map(({ index, attributes }) => [index, attributes]));
}

/** Notes that they are used. @throws GatewayError `not_found` naming one that the account does not have. */
export async function expectLiveStores(
  database: StatementRunner,
  accountId: string,
  stores: readonly string[],
  param: string,
): Promise<void> {
  const { rows: live } = await database.query<{ id: string }>({ text: LIVE_STORES, values: [accountId, stores] });
  const missing = stores.find((id) => !live.some((store) => store.id === id));
  if (missing !== undefined)
    throw new GatewayError('not_found', `There is no vector store "${missing.slice(0, 80)}", or it has expired.`, {
      param,
    });
}
