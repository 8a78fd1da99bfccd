import { type FileAttributes, GatewayError } from '#contracts';
import type { StatementRunner } from '#platform';
import { DEFAULT_CHUNKING, JOINED_FILE_IS_READY } from './uploaded-file.js';
import type { Language } from './stemmer.js';

/** An index that is looked through. */
export interface SearchedIndex {
  readonly id: string;
  readonly fileId: string;
  readonly filename: string;
  readonly attributes: FileAttributes;
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
select ${COLUMNS}, '{}'::jsonb as attributes from uploaded_file f join file_index i on i.file_id = f.id
where f.account_id = $1 and i.chunk_tokens = $2 and i.overlap_tokens = $3 and ${READY}`;

const OF_STORES = `
select ${COLUMNS}, e.attributes from vector_store_file e
join uploaded_file f on f.id = e.file_id join file_index i on i.id = e.index_id
where e.vector_store_id = any($2) and e.cancelled_at is null and f.account_id = $1 and ${READY}
order by i.id, e.created_at`;

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
 * What is looked through; an index that several of the stores hold once for each of them, with its attributes there.
 *
 * @throws GatewayError `not_found` naming a vector store that the account does not have.
 */
export async function searchScope(
  database: StatementRunner,
  accountId: string,
  stores: SearchedStores,
): Promise<readonly SearchedIndex[]> {
  if (stores === 'default') {
    const values = [accountId, DEFAULT_CHUNKING.chunkTokens, DEFAULT_CHUNKING.overlapTokens];
    return (await database.query<SearchedIndex>({ text: OF_ACCOUNT, values })).rows;
  }
  await expectLiveStores(database, accountId, stores, 'vector_store_ids');
  return (await database.query<SearchedIndex>({ text: OF_STORES, values: [accountId, stores] })).rows;
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
