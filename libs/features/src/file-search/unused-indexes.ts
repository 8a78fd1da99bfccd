import type { StatementRunner } from '#platform';
import { DEFAULT_CHUNKING } from './chunking.js';
import { SEARCHED_PURPOSES } from './uploaded-file.js';

/** In the order of their ids, so that two that lock several never wait for each other. */
const LOCK_FILES = `
select id from uploaded_file where id = any($1) and account_id = coalesce($2, account_id) order by id for no key update`;

/** Of a file `f` and its index `i`: nothing finds it any more. */
const IS_UNUSED = `not (f.state = 'ready' and i.chunk_tokens = ${DEFAULT_CHUNKING.chunkTokens}
    and i.overlap_tokens = ${DEFAULT_CHUNKING.overlapTokens}
    and f.purpose in (${SEARCHED_PURPOSES.map((purpose) => `'${purpose}'`).join(', ')}))
  and not exists (select from vector_store_file e where e.index_id = i.id)`;

/**
 * A job goes as it is; what was made stays as an index of no file, which gives its place back at once and is removed
 * piece by piece. Whoever works on it finds that it has ended; one that is being written is left to the maintenance.
 */
const FORGET_UNUSED = `
with unused as materialized (
  select i.id, i.state from file_index i join uploaded_file f on f.id = i.file_id
  where i.file_id = any($1) and ${IS_UNUSED} for update of i skip locked
), dropped as (
  delete from file_index where id = any(array(select id from unused where state = 'waiting'))
)
update file_index set file_id = null, state = 'failed', vector_turn = vector_turn + 1,
  vector_attempt = vector_attempt + 1
where id = any(array(select id from unused where state <> 'waiting'))`;

/** $1 the most. */
export const FILES_WITH_UNUSED = `
select distinct f.id from (
  select i.file_id from file_index i join uploaded_file f on f.id = i.file_id where ${IS_UNUSED} limit $1
) as unused join uploaded_file f on f.id = unused.file_id`;

/**
 * Keeps others from putting these files into vector stores, or taking them out, until the end of the transaction.
 *
 * @param accountId whose files they are; null: whosever.
 */
export async function lockFiles(
  transaction: StatementRunner,
  accountId: string | null,
  fileIds: readonly string[],
): Promise<void> {
  await transaction.query({ text: LOCK_FILES, values: [fileIds, accountId], limit: 'long' });
}

/** Drops what was made, or is to be made, of files that are locked and that nothing finds any more. */
export async function forgetUnused(transaction: StatementRunner, fileIds: readonly string[]): Promise<void> {
  await transaction.query({ text: FORGET_UNUSED, values: [fileIds], limit: 'long' });
}
