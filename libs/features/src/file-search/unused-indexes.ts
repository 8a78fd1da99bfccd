import type { AccountDatabase, StatementRunner } from '#platform';
import { DEFAULT_CHUNKING, SEARCHED_PURPOSES } from './uploaded-file.js';

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

/**
 * Whether anything finds the indexes behind $1, $2 at a time, so that it takes the same time however many there are. Answers
 * the last that was looked at, and the files of those that nothing finds, by account.
 */
export const UNUSED_BEHIND = `
with looked as materialized (
  select id, file_id from file_index where id > $1 order by id limit $2
)
select (select max(id) from looked) as last, (
  select jsonb_object_agg(account_id, files) from (
    select f.account_id, array_agg(distinct f.id) as files
    from looked join file_index i on i.id = looked.id join uploaded_file f on f.id = looked.file_id
    where ${IS_UNUSED} group by f.account_id) as unused) as files`;

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

/** Takes files out of a vector store: some of many, so that the end of one transaction is all that a stop can undo. */
export async function removeEntries(
  database: Pick<AccountDatabase, 'transaction'>,
  vectorStoreId: string,
  fileIds: readonly string[],
): Promise<void> {
  await database.transaction(async (transaction) => {
    await lockFiles(transaction, null, fileIds);
    const text = 'delete from vector_store_file where vector_store_id = $1 and file_id = any($2)';
    await transaction.query({ text, values: [vectorStoreId, fileIds], limit: 'long' });
    await forgetUnused(transaction, fileIds);
  });
}
