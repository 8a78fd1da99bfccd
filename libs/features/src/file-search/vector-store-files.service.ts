import { Inject, Injectable } from '@nestjs/common';
import { type FileAttributes, GatewayError } from '#contracts';
import { Database, type StatementRunner, timeOrderedId } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import type { ReserveMemory } from '../limits/reserve-memory.js';
import { type Chunking, FILE_IS_READY, indexBytesMax, JOINED_FILE_IS_READY } from './uploaded-file.js';
import { type ListPart, listPart, type ListQuery } from './list-part.js';
import { LENGTH_BYTES } from './words.js';
import { forgetUnused, lockFiles } from './unused-indexes.js';
import { COUNTS, ENTRY_STATE, type EntryState, type FileBatch, type StoreEntry } from './vector-store.js';

/** The most files of a vector store, and of all vector stores of an account together: each entry has attributes of its own. */
const ENTRIES_MAX = 10_000;
const ENTRIES_OF_ACCOUNT_MAX = 100_000;

/** The most ways in which a file is cut, and the most cuts of an account that wait. */
const CUTS_MAX = 16;
const WAITING_MAX = 10_000;

export interface NewEntry {
  readonly fileId: string;
  /** Where the request names it: `file_ids[0]`. */
  readonly param: string;
  readonly attributes: FileAttributes;
  readonly chunking: Chunking;
}

export interface NewEntries {
  readonly accountId: string;
  readonly vectorStoreId: string;
  readonly files: readonly NewEntry[];
  readonly batchId: string | null;
}

interface ContentRow {
  readonly indexId: string;
  readonly passages: number;
  readonly bytes: number;
}

export interface EntryListQuery extends ListQuery {
  readonly state: EntryState | undefined;
  readonly batchId?: string | undefined;
}

const LOCK_STORE = `
select id from vector_store where account_id = $1 and id = $2 and (expires_at is null or expires_at > now()) for share`;

/** Locked until the end of the transaction. */
const READY_FILES = `
select id from uploaded_file where account_id = $1 and id = any($2) and ${FILE_IS_READY} order by id for no key update`;

/**
 * Files that are cut the same way share their passages. One that failed by no fault of its own is tried again; one that took
 * long in another cut will do so in this one.
 */
const ADD_INDEXES = `
insert into file_index (file_id, account_id, chunk_tokens, overlap_tokens, is_slow)
select file_id, $1, chunk_tokens, overlap_tokens,
  exists (select from file_index other where other.file_id = f.file_id and other.is_slow)
from unnest($2::text[], $3::integer[], $4::integer[])
  as f (file_id, chunk_tokens, overlap_tokens) order by file_id
on conflict (file_id, chunk_tokens, overlap_tokens) do update set
  state = case when file_index.error_code = 'server_error' then 'waiting' else file_index.state end,
  attempt = case when file_index.error_code = 'server_error' then 0 else file_index.attempt end,
  due_at = case when file_index.error_code = 'server_error' then now() else file_index.due_at end,
  error_code = nullif(file_index.error_code, 'server_error')`;

const ADD_ENTRIES = `
insert into vector_store_file (vector_store_id, file_id, index_id, batch_id, attributes)
select $1, f.file_id, i.id, $2, f.attributes
from unnest($3::text[], $4::integer[], $5::integer[], $6::jsonb[]) as f (file_id, chunk_tokens, overlap_tokens, attributes)
join file_index i on i.file_id = f.file_id and i.chunk_tokens = f.chunk_tokens and i.overlap_tokens = f.overlap_tokens
on conflict (vector_store_id, file_id) do update set index_id = excluded.index_id, batch_id = excluded.batch_id,
  attributes = excluded.attributes, cancelled_at = null`;

/** One request of an account after the other counts. */
const LOCK_USAGE = `select from file_usage where account_id = $1 for no key update`;

const COUNT_CUTS = `
select (select count(*) from (
    select from file_index where account_id = $1 and state in ('waiting', 'working') limit ${WAITING_MAX + 1}
  ) as waiting)::integer as waiting,
  (select file_id from file_index where file_id = any($2) group by file_id having count(*) > ${CUTS_MAX} limit 1) as "cutTooOften"`;

/** With what the last changes have not counted yet. */
const USED = `
select (coalesce((select index_bytes from file_usage where account_id = $1), 0)
  + coalesce((select sum(index_bytes) from text_bytes_change where account_id = $1), 0))::float8 as bytes`;

const ENTRIES = `
select e.file_id as "fileId", e.vector_store_id as "vectorStoreId", e.created_at as "createdAt", e.attributes,
  ${ENTRY_STATE} as state, i.error_code as "errorCode", i.error_message as "errorMessage",
  i.chunk_tokens as "chunkTokens", i.overlap_tokens as "overlapTokens", i.stored_bytes as "usageBytes"
from vector_store_file e join file_index i on i.id = e.index_id join vector_store s on s.id = e.vector_store_id
join uploaded_file f on f.id = e.file_id
where s.account_id = $1 and s.id = $2 and ${JOINED_FILE_IS_READY}`;

/** Passages that are read at once of a text, and about what they hold, in bytes. */
const CONTENT_PAGE = 500;
const CONTENT_PAGE_BYTES = 4 * 1024 * 1024;

const CONTENT = `
select e.index_id::text as "indexId", coalesce(octet_length(i.lengths), 0) / ${LENGTH_BYTES} as passages,
  i.stored_bytes::float8 as bytes
from vector_store_file e join vector_store s on s.id = e.vector_store_id join file_index i on i.id = e.index_id
join uploaded_file f on f.id = e.file_id
where s.account_id = $1 and s.id = $2 and e.file_id = $3 and ${JOINED_FILE_IS_READY}`;

const CONTENT_PART = `
select text, start_at as start, end_at as end from file_passage
where index_id = $1 and nth >= $2 and nth < $2 + ${CONTENT_PAGE} order by nth`;

const FIND_BATCH = `
select b.id, b.vector_store_id as "vectorStoreId", b.created_at as "createdAt",
  b.cancelled_at is not null as "isCancelled", sums.counts
from file_batch b join vector_store s on s.id = b.vector_store_id cross join lateral (
  select ${COUNTS} as counts from vector_store_file e join file_index i on i.id = e.index_id
  join uploaded_file f on f.id = e.file_id where e.batch_id = b.id and ${JOINED_FILE_IS_READY}
) as sums where s.account_id = $1 and s.id = $2 and b.id = $3`;

const CANCEL_BATCH = `
with cancelled as (
  update file_batch set cancelled_at = coalesce(cancelled_at, now()) where id = $1 returning id
)
update vector_store_file e set cancelled_at = now() from cancelled, file_index i
where e.batch_id = cancelled.id and i.id = e.index_id and i.state in ('waiting', 'working')`;

@Injectable()
export class VectorStoreFilesService {
  private readonly bytesMax: number;

  constructor(
    private readonly database: Database,
    @Inject(PLATFORM) { config }: Pick<Platform, 'config'>,
  ) {
    this.bytesMax = indexBytesMax(config.files);
  }

  /** @throws GatewayError as `addAll`. */
  async add(entries: Omit<NewEntries, 'batchId'>): Promise<void> {
    await this.database
      .of(entries.accountId)
      .transaction((transaction) => this.addAll(transaction, { ...entries, batchId: null }));
  }

  /** Adds files together. @throws GatewayError as `addAll`. */
  async addBatch(entries: Omit<NewEntries, 'batchId'>): Promise<FileBatch> {
    const { accountId, vectorStoreId } = entries;
    const batchId = timeOrderedId('vsfb');
    await this.database.of(accountId).transaction(async (transaction) => {
      await expectStore(transaction, accountId, vectorStoreId);
      const text = 'insert into file_batch (id, vector_store_id) values ($1, $2)';
      await transaction.query({ text, values: [batchId, vectorStoreId] });
      await this.addAll(transaction, { ...entries, batchId });
    });
    return this.findBatch(accountId, vectorStoreId, batchId);
  }

  /**
   * As part of a transaction of others.
   *
   * @throws GatewayError `not_found`: the vector store, or a file; `conflict`: the store has too many files, a file is cut
   * in too many ways, or there is no room for the attributes; `rate_limit_exceeded`: too many cuts of the account wait.
   */
  async addAll(transaction: StatementRunner, { accountId, vectorStoreId, files, batchId }: NewEntries): Promise<void> {
    await expectStore(transaction, accountId, vectorStoreId);
    const unique = [...new Map(files.map((file) => [file.fileId, file])).values()];
    const ids = unique.map(({ fileId }) => fileId);
    const { rows: ready } = await transaction.query<{ id: string }>({ text: READY_FILES, values: [accountId, ids] });
    const known = new Set(ready.map(({ id }) => id));
    const missing = unique.find(({ fileId }) => !known.has(fileId));
    if (missing) throw noFile(missing.fileId, missing.param);
    const chunks = unique.map(({ chunking }) => chunking.chunkTokens);
    const overlaps = unique.map(({ chunking }) => chunking.overlapTokens);
    await transaction.query({ text: ADD_INDEXES, values: [accountId, ids, chunks, overlaps] });
    const attributes = unique.map((file) => JSON.stringify(file.attributes));
    await transaction.query({ text: ADD_ENTRIES, values: [vectorStoreId, batchId, ids, chunks, overlaps, attributes] });
    await forgetUnused(transaction, ids);
    await transaction.query({ text: LOCK_USAGE, values: [accountId] });
    await expectFits(transaction, accountId, vectorStoreId);
    await expectFewCuts(transaction, accountId, unique);
    if (unique.some((file) => hasAny(file.attributes))) await this.expectRoom(transaction, accountId);
  }

  /** @throws GatewayError `not_found`. */
  async find(accountId: string, vectorStoreId: string, fileId: string): Promise<StoreEntry> {
    const values = [accountId, vectorStoreId, fileId];
    const { rows } = await this.database
      .of(accountId)
      .query<StoreEntry>({ text: `${ENTRIES} and e.file_id = $3`, values });
    if (!rows[0]) throw noFile(fileId);
    return rows[0];
  }

  list(accountId: string, vectorStoreId: string, query: EntryListQuery): Promise<ListPart<StoreEntry>> {
    const { state, batchId, ...part } = query;
    return listPart(this.database.of(accountId), {
      select: `${ENTRIES} and ($3::text is null or ${ENTRY_STATE} = $3) and ($4::text is null or e.batch_id = $4)`,
      values: [accountId, vectorStoreId, state ?? null, batchId ?? null],
      key: 'e.file_id',
      query: part,
    });
  }

  /** @throws GatewayError `not_found`; `conflict`: there is no room for them. */
  async change(accountId: string, vectorStoreId: string, fileId: string, attributes: FileAttributes): Promise<void> {
    await this.database.of(accountId).transaction(async (transaction) => {
      const { rows } = await transaction.query({
        text: `update vector_store_file e set attributes = $4::jsonb from vector_store s
          where s.id = e.vector_store_id and s.account_id = $1 and s.id = $2 and e.file_id = $3 returning e.file_id`,
        values: [accountId, vectorStoreId, fileId, JSON.stringify(attributes)],
      });
      if (rows.length === 0) throw noFile(fileId);
      if (hasAny(attributes)) await this.expectRoom(transaction, accountId);
    });
  }

  /** Attributes count with what is made of the files. */
  private async expectRoom(transaction: StatementRunner, accountId: string): Promise<void> {
    const { rows } = await transaction.query<{ bytes: number }>({ text: USED, values: [accountId] });
    if ((rows[0]?.bytes ?? 0) <= this.bytesMax) return;
    throw new GatewayError(
      'conflict',
      `What is made of the files of an account, with their attributes, may have at most ${this.bytesMax} bytes: delete some that are no longer needed.`,
      { param: 'attributes' },
    );
  }

  /** The file itself stays. @throws GatewayError `not_found`. */
  async remove(accountId: string, vectorStoreId: string, fileId: string): Promise<void> {
    await this.database.of(accountId).transaction(async (transaction) => {
      await lockFiles(transaction, accountId, [fileId]);
      const { rows } = await transaction.query({
        text: `delete from vector_store_file e using vector_store s
          where s.id = e.vector_store_id and s.account_id = $1 and s.id = $2 and e.file_id = $3 returning e.file_id`,
        values: [accountId, vectorStoreId, fileId],
      });
      if (rows.length === 0) throw noFile(fileId);
      await forgetUnused(transaction, [fileId]);
    });
  }

  /**
   * The text of a file, which its passages hold together, in pieces that are read one after the other.
   *
   * @param reserve memory for what is read at once.
   * @throws GatewayError `not_found`; what `reserve` throws. Reading on, an Error: the text was removed meanwhile.
   */
  async content(
    accountId: string,
    vectorStoreId: string,
    fileId: string,
    reserve: ReserveMemory,
  ): Promise<AsyncIterable<string>> {
    const { rows } = await this.database.of(accountId).query<ContentRow>({
      text: CONTENT,
      values: [accountId, vectorStoreId, fileId],
    });
    if (!rows[0]) throw noFile(fileId);
    reserve(Math.min(rows[0].bytes, CONTENT_PAGE_BYTES));
    return this.pieces(accountId, rows[0]);
  }

  private async *pieces(accountId: string, { indexId, passages }: ContentRow): AsyncGenerator<string> {
    let end = 0;
    for (let nth = 0; nth < passages; nth += CONTENT_PAGE) {
      const { rows } = await this.database.of(accountId).query<{ text: string; start: number; end: number }>({
        text: CONTENT_PART,
        values: [indexId, nth],
      });
      if (rows.length < Math.min(CONTENT_PAGE, passages - nth))
        throw new Error('The text was removed while it was read');
      for (const passage of rows) {
        yield passage.text.slice(end - passage.start);
        ({ end } = passage);
      }
    }
  }

  /** @throws GatewayError `not_found`. */
  async findBatch(accountId: string, vectorStoreId: string, batchId: string): Promise<FileBatch> {
    const { rows } = await this.database.of(accountId).query<FileBatch>({
      text: FIND_BATCH,
      values: [accountId, vectorStoreId, batchId],
    });
    if (!rows[0])
      throw new GatewayError('not_found', `There is no batch "${batchId.slice(0, 80)}".`, { param: 'batch_id' });
    return rows[0];
  }

  /** What is not indexed yet is left out of the vector store's searches. @throws GatewayError `not_found`. */
  async cancelBatch(accountId: string, vectorStoreId: string, batchId: string): Promise<FileBatch> {
    await this.findBatch(accountId, vectorStoreId, batchId);
    await this.database.of(accountId).query({ text: CANCEL_BATCH, values: [batchId] });
    return this.findBatch(accountId, vectorStoreId, batchId);
  }
}

const hasAny = (attributes: FileAttributes): boolean => Object.keys(attributes).length > 0;

async function expectStore(transaction: StatementRunner, accountId: string, id: string): Promise<void> {
  const { rows } = await transaction.query({ text: LOCK_STORE, values: [accountId, id] });
  if (rows.length > 0) return;
  throw new GatewayError('not_found', `There is no vector store "${id.slice(0, 80)}", or it has expired.`, {
    param: 'vector_store_id',
  });
}

const COUNT_ENTRIES = `
select (select count(*) from vector_store_file where vector_store_id = $2)::integer as "ofStore", (
  select count(*) from (
    select from vector_store s join vector_store_file e on e.vector_store_id = s.id
    where s.account_id = $1 limit ${ENTRIES_OF_ACCOUNT_MAX + 1}
  ) as counted
)::integer as "ofAccount"`;

async function expectFits(transaction: StatementRunner, accountId: string, vectorStoreId: string): Promise<void> {
  const { rows } = await transaction.query<{ ofStore: number; ofAccount: number }>({
    text: COUNT_ENTRIES,
    values: [accountId, vectorStoreId],
  });
  const { ofStore = 0, ofAccount = 0 } = rows[0] ?? {};
  if (ofStore > ENTRIES_MAX)
    throw new GatewayError('conflict', `A vector store may hold at most ${ENTRIES_MAX} files.`);
  if (ofAccount > ENTRIES_OF_ACCOUNT_MAX)
    throw new GatewayError(
      'conflict',
      `The vector stores of an account may hold at most ${ENTRIES_OF_ACCOUNT_MAX} files together.`,
    );
}

async function expectFewCuts(
  transaction: StatementRunner,
  accountId: string,
  files: readonly NewEntry[],
): Promise<void> {
  const { rows } = await transaction.query<{ waiting: number; cutTooOften: string | null }>({
    text: COUNT_CUTS,
    values: [accountId, files.map(({ fileId }) => fileId)],
  });
  const { waiting = 0, cutTooOften = null } = rows[0] ?? {};
  const crowded = files.find(({ fileId }) => fileId === cutTooOften);
  if (crowded)
    throw new GatewayError(
      'conflict',
      `A file may be cut in at most ${CUTS_MAX} ways (chunking_strategy), its own included: take it out of a vector store first.`,
      { param: crowded.param },
    );
  if (waiting > WAITING_MAX)
    throw new GatewayError(
      'rate_limit_exceeded',
      `At most ${WAITING_MAX} cuts of an account's files may wait to be indexed: try again shortly.`,
      { retryAfterMs: 30_000 },
    );
}

const noFile = (id: string, param = 'file_id'): GatewayError =>
  new GatewayError('not_found', `There is no file "${id.slice(0, 80)}".`, { param });
