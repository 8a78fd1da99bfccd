import { buffer } from 'node:stream/consumers';
import { type MediaStore, MediaStoreError } from '#media';
import { type Database, logger, type StatementRunner } from '#platform';
import type { Failpoints } from '#runtime';
import { accountsInTurn } from './uploaded-file.js';
import type { WordCounts } from './extract/count-words.js';
import type { Prepared, PreparedPassage } from './extract/prepare-file.js';
import { FilePreparer, FULL_BOUNDS, QUICK_BOUNDS } from './file-preparer.js';
import { packLengths } from './words.js';
import { type Language, Stemmer } from './stemmer.js';

/** A term and where it stands, packed as `file_term.postings` has it. */
interface TermPostings {
  readonly term: string;
  readonly postings: Buffer;
}

const TIMES_MAX = 255;

/**
 * Joins the words that stand for one term.
 *
 * @param terms of the words with spaces; null: a stop word.
 */
function mergeTerms(words: WordCounts, terms: ReadonlyMap<string, string | null>): TermPostings[] {
  const merged = new Map<string, readonly number[]>(words.unspaced);
  for (const [word, postings] of words.spaced) {
    const term = terms.get(word);
    if (!term) continue;
    const known = merged.get(term);
    merged.set(term, known ? joined(known, postings) : postings);
  }
  return [...merged].map(([term, postings]) => ({ term, postings: packed(postings) }));
}

function joined(left: readonly number[], right: readonly number[]): number[] {
  const times = new Map<number, number>();
  for (const posting of [...left, ...right]) {
    const nth = posting >>> 8;
    times.set(nth, Math.min(TIMES_MAX, (times.get(nth) ?? 0) + (posting & TIMES_MAX)));
  }
  return [...times].sort(([a], [b]) => a - b).map(([nth, count]) => nth * 256 + count);
}

function packed(postings: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(postings.length * 4);
  for (const [index, posting] of postings.entries()) bytes.writeUInt32LE(posting, index * 4);
  return bytes;
}

const log = logger('file-indexer');

/** How long one attempt may take before another worker makes the next, in seconds. */
const LEASE_SECONDS = 300;

/** A file that ended its worker so often is given up. */
const ATTEMPTS_MAX = 3;

const PASSAGES_AT_ONCE = 500;
const TERMS_AT_ONCE = 5_000;

const IS_OPEN = `state in ('waiting', 'working') and is_slow = $2`;

/** $1 lease in seconds, $2 the slow lane or not, $3 the account that had the last turn: the next one that has a file due has this. */
const CLAIM = `
with chosen as (
  select due.id from (${accountsInTurn(IS_OPEN, '$3')}) as turn cross join lateral (
    select id from file_index where ${IS_OPEN} and file_index.account_id = turn.account_id and due_at <= now()
    order by due_at limit 1 for update skip locked) as due
  limit 1
)
update file_index set state = 'working', attempt = attempt + 1, due_at = now() + $1 * interval '1 second'
from chosen, uploaded_file f where file_index.id = chosen.id and f.id = file_index.file_id
returning file_index.id::text as id, file_index.account_id as "accountId", attempt, chunk_tokens as "chunkTokens",
  overlap_tokens as "overlapTokens", f.filename, f.store_key as "storeKey", f.state as "fileState"`;

/** What the account has, counted before anything is written: others that are written meanwhile may pass the limit by themselves. */
const USED = `select index_bytes::float8 as bytes from file_usage where account_id = $1`;

/** Nothing else works on it until the end of the transaction. */
const HOLD = `select id from file_index where id = $1 and attempt = $2 and state = 'working' for update`;

const COMPLETE = `
update file_index set state = 'completed', ended_at = now(), language = $3, lengths = $4, terms = $5, stored_bytes = $6,
  index_bytes = $7
where id = $1 and attempt = $2 and state = 'working'`;

const FAIL = `
update file_index set state = 'failed', ended_at = now(), error_code = $3, error_message = $4
where id = $1 and attempt = $2 and state = 'working'`;

/** No attempt of its own: what comes is the first with all the time there is. The file's other cuts would take as long. */
const SET_ASIDE = `
with set_aside as (
  update file_index set state = 'waiting', due_at = now(), attempt = attempt - 1, is_slow = true
  where id = $1 and attempt = $2 and state = 'working' returning file_id
)
update file_index i set is_slow = true from set_aside s
where i.file_id = s.file_id and i.id <> $1 and i.state = 'waiting' and not i.is_slow`;

const AGAIN = `
update file_index set state = 'waiting', due_at = now() + $3 * interval '1 second', attempt = attempt - $4
where id = $1 and attempt = $2 and state = 'working'`;

const ADD_PASSAGES = `
insert into file_passage (index_id, nth, text, start_at, end_at, page)
select $1, nth, text, start_at, end_at, page
from unnest($2::integer[], $3::text[], $4::integer[], $5::integer[], $6::integer[]) as p (nth, text, start_at, end_at, page)`;

const ADD_TERMS = `
insert into file_term (account_id, term, index_id, postings)
select $1, term, $2, postings from unnest($3::text[], $4::bytea[]) as t (term, postings)`;

interface ClaimedIndex {
  readonly id: string;
  readonly accountId: string;
  readonly attempt: number;
  readonly chunkTokens: number;
  readonly overlapTokens: number;
  readonly filename: string;
  readonly storeKey: string;
  readonly fileState: string;
}

/**
 * How files are read, each lane one at a time: `quick` those that take seconds, and any file first; `slow` those that took
 * longer, so that no small file waits behind them.
 */
export type IndexLane = 'quick' | 'slow';

type Passages = Extract<Prepared, { kind: 'passages' }>;

/** Makes the passages of files, one file of each lane at a time. The rows of `file_index` are its queue. */
export class FileIndexer {
  private readonly stemmer: Stemmer;
  /** The account that had the last turn. */
  private readonly served: Record<IndexLane, string> = { quick: '', slow: '' };
  private readonly leaving = new AbortController();

  constructor(
    private readonly database: Database,
    private readonly store: MediaStore,
    private readonly failpoints: Failpoints,
    private readonly preparers = { quick: new FilePreparer(QUICK_BOUNDS), slow: new FilePreparer(FULL_BOUNDS) },
    /** The most bytes of what is made of the files of an account. */
    private readonly bytesMax = Number.MAX_SAFE_INTEGER,
  ) {
    this.stemmer = new Stemmer(database);
  }

  /** Works on the next file of a lane that is due; false: there is none. */
  async indexNext(lane: IndexLane): Promise<boolean> {
    const values = [LEASE_SECONDS, lane === 'slow', this.served[lane]];
    const { rows } = await this.database.query<ClaimedIndex>({ text: CLAIM, values });
    const claimed = rows[0];
    if (!claimed) return false;
    this.served[lane] = claimed.accountId;
    this.failpoints.reach('after-index-claim');
    await this.index(claimed, lane).catch((error: unknown) => this.postpone(claimed, error));
    return true;
  }

  /** Files under way are given back, for the next attempt of any process. */
  async close(): Promise<void> {
    this.leaving.abort();
    await Promise.all(Object.values(this.preparers).map((preparer) => preparer.close()));
  }

  private async index(claimed: ClaimedIndex, lane: IndexLane): Promise<void> {
    const { id, attempt, fileState, filename, storeKey, chunkTokens, overlapTokens } = claimed;
    if (fileState !== 'ready') return this.fail(claimed, 'invalid_file', 'The file was deleted.');
    if (attempt > ATTEMPTS_MAX)
      return this.fail(claimed, 'server_error', `Reading the file did not finish in ${ATTEMPTS_MAX} attempts.`);
    const content = await buffer(await this.store.open(storeKey, undefined, this.leaving.signal));
    const file = { bytes: new Uint8Array(content), filename, sizes: { chunkTokens, overlapTokens } };
    const prepared = await this.preparers[lane].prepare(file, this.leaving.signal);
    if (prepared.kind === 'unreadable' && prepared.byBounds && lane === 'quick') return this.setAside(claimed);
    if (prepared.kind === 'unreadable') return this.fail(claimed, prepared.code, prepared.message);
    const language = await this.stemmer.languageOf(timesOf(prepared));
    const stems = await this.stemmer.termsOf([...prepared.words.spaced.keys()], language);
    const terms = mergeTerms(prepared.words, stems);
    const bytes = bytesOf(claimed.accountId, prepared.passages, terms);
    const { rows: used } = await this.database.query<{ bytes: number }>({ text: USED, values: [claimed.accountId] });
    if ((used[0]?.bytes ?? 0) + bytes > this.bytesMax)
      return this.fail(
        claimed,
        'server_error',
        `What is made of the files of an account to search them may have at most ${this.bytesMax} bytes: delete some, and add this one again.`,
      );
    await this.write(claimed, prepared, terms, bytes, language);
    log.info('file.indexed', { index: id, passages: prepared.passages.length });
  }

  /** All of it and its state at once, unless another attempt has begun. */
  private async write(
    { id, accountId, attempt }: ClaimedIndex,
    { passages, words: { lengths } }: Passages,
    terms: readonly TermPostings[],
    bytes: number,
    language: Language,
  ): Promise<void> {
    const storedBytes = passages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    await this.database.transaction(async (transaction) => {
      const { rows } = await transaction.query({ text: HOLD, values: [id, attempt] });
      if (rows.length === 0) return;
      await addPassages(transaction, id, passages);
      this.failpoints.reach('after-passages-written');
      await addTerms(transaction, accountId, id, terms);
      // Last, because it counts for the account: others that do wait for the end of the transaction.
      const values = [id, attempt, language, packLengths(lengths), total, storedBytes, bytes];
      await transaction.query({ text: COMPLETE, values });
    });
    this.failpoints.reach('after-indexed');
  }

  private async fail({ id, attempt }: ClaimedIndex, code: string, message: string): Promise<void> {
    await this.database.query({ text: FAIL, values: [id, attempt, code, message] });
    log.info('file.not_indexed', { index: id, code });
  }

  private async setAside({ id, attempt }: ClaimedIndex): Promise<void> {
    await this.database.query({ text: SET_ASIDE, values: [id, attempt] });
    log.info('file.set_aside', { index: id });
  }

  /** What is no fault of the file is tried again a little later. A file that is not in the store stays away. */
  private async postpone(claimed: ClaimedIndex, error: unknown): Promise<void> {
    const { id, attempt } = claimed;
    log.warn('file.index_postponed', { index: id, attempt, error });
    if (error instanceof MediaStoreError && error.code === 'not_found')
      return this.fail(claimed, 'server_error', 'The content of the file is missing.');
    const isLeaving = this.leaving.signal.aborted;
    // An attempt that the end of its worker cut short does not count.
    const values = [id, attempt, isLeaving ? 0 : 2 ** attempt, isLeaving ? 1 : 0];
    await this.database.query({ text: AGAIN, values });
  }
}

/** What a row and its places in indexes take besides its values, in bytes. */
const ROW_BYTES = 64;

/** About what these rows take in the database, in bytes. */
function bytesOf(accountId: string, passages: readonly PreparedPassage[], terms: readonly TermPostings[]): number {
  const ofPassages = passages.reduce((sum, { text }) => sum + ROW_BYTES + Buffer.byteLength(text), 0);
  // Account and term stand in the row and in its primary key.
  return terms.reduce(
    (sum, { term, postings }) => sum + ROW_BYTES + postings.length + 2 * (accountId.length + Buffer.byteLength(term)),
    ofPassages,
  );
}

/** How often each word that a stemmer takes stands in the passages. */
const timesOf = ({ words }: Passages): Map<string, number> =>
  new Map(
    [...words.spaced].map(([word, postings]) => [word, postings.reduce((sum, posting) => sum + (posting & 0xff), 0)]),
  );

async function addPassages(
  transaction: StatementRunner,
  indexId: string,
  passages: readonly PreparedPassage[],
): Promise<void> {
  for (let from = 0; from < passages.length; from += PASSAGES_AT_ONCE) {
    const some = passages.slice(from, from + PASSAGES_AT_ONCE);
    const values = [
      indexId,
      some.map((_, index) => from + index),
      some.map(({ text }) => text),
      some.map(({ start }) => start),
      some.map(({ end }) => end),
      some.map(({ page }) => page),
    ];
    await transaction.query({ text: ADD_PASSAGES, values, limit: 'long' });
  }
}

async function addTerms(
  transaction: StatementRunner,
  accountId: string,
  indexId: string,
  terms: readonly TermPostings[],
): Promise<void> {
  for (let from = 0; from < terms.length; from += TERMS_AT_ONCE) {
    const some = terms.slice(from, from + TERMS_AT_ONCE);
    const values = [accountId, indexId, some.map(({ term }) => term), some.map(({ postings }) => postings)];
    await transaction.query({ text: ADD_TERMS, values, limit: 'long' });
  }
}
