import { Injectable } from '@nestjs/common';
import type { Passage, RankWeights, SearchFilter } from '#contracts';
import { AccountShares, Database, unlessAborted } from '#platform';
import { LENGTH_BYTES, POSTING_BYTES, wordsOf } from './words.js';
import { PassageRanking, type RankedPassage } from './rank-passages.js';
import {
  attributesOf,
  expectLiveStores,
  type SearchedIndex,
  type SearchedStores,
  searchScope,
} from './search-scope.js';
import { fuseRanks, SemanticSearch } from './vectors/semantic-search.js';
import { type Language, Stemmer } from './stemmer.js';

export interface FileSearchRequest {
  readonly accountId: string;
  readonly vectorStoreIds: SearchedStores;
  /** Words in any language, or a question; at most 4096 characters of it count. */
  readonly query: string;
  /** The most passages, 1 to 50. */
  readonly limit: number;
  readonly filters?: SearchFilter | undefined;
  /** 0 to 1: passages below are left out. */
  readonly scoreThreshold?: number | undefined;
  /** What words and meaning count, where both are compared; each the same when it is left out. */
  readonly weights?: RankWeights | undefined;
  /** The payer for the vector of the query, and the id it is billed under. Without them only words are compared. */
  readonly payer?: { readonly apiKeyId: string; readonly requestId: string } | undefined;
}

const QUERY_CHARACTERS_MAX = 4_096;

/** How many passages by words and by meaning are ranked together. */
const RANKED_TOGETHER = 100;
const EQUAL_WEIGHTS: RankWeights = { words: 1, meaning: 1 };

const QUERY_WORDS_MAX = 64;

/** Searches that a process ranks at once, and how long one waits for its turn, in milliseconds. */
const RANKED_AT_ONCE = 8;
const TURN_WAIT_MS = 10_000;

/** What is read at once of the postings of the words, in bytes; a word in one index is read whole. */
const READ_AT_ONCE_BYTES = 8 * 1024 * 1024;

/** Of the words of a query the rarest count until their postings have so many bytes; they weigh the most. */
const READ_IN_ALL_BYTES = 64 * 1024 * 1024;

/** In how many passages each term stands, and how long the postings of each index are, which is known without reading them. */
const SIZES = `
select term, index_id::text as index, sum(octet_length(postings))::float8 as bytes from file_term
where account_id = $1 and term = any($2) and index_id = any($3::bigint[]) group by grouping sets ((term), (index_id))`;

const POSTINGS = `
select term, index_id::text as index, postings from file_term
where account_id = $1 and term = any($2) and index_id = any($3::bigint[])`;

const LENGTHS = `select id::text as index, lengths from file_index where account_id = $1 and id = any($2::bigint[])`;

const PASSAGES = `
select p.index_id::text as index, p.nth, p.text, p.start_at as start, p.end_at as end, p.page
from unnest($1::bigint[], $2::integer[]) as wanted (index_id, nth)
join file_passage p on p.index_id = wanted.index_id and p.nth = wanted.nth`;

interface PassageRow {
  readonly index: string;
  readonly nth: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly page: number | null;
}

/** Finds passages in the files of an account. */
@Injectable()
export class FileSearch {
  private readonly stemmer: Stemmer;
  private readonly turns = new AccountShares(RANKED_AT_ONCE, TURN_WAIT_MS);

  /** @param meaning left out: words alone are compared. */
  constructor(
    private readonly database: Database,
    private readonly meaning?: SemanticSearch,
  ) {
    this.stemmer = new Stemmer(database);
  }

  /** @throws GatewayError `not_found` naming a vector store that the account does not have, at `param`. */
  async expectStores(accountId: string, stores: readonly string[], param: string): Promise<void> {
    await expectLiveStores(this.database.of(accountId), accountId, stores, param);
  }

  /**
   * The best passages, best first.
   *
   * @throws GatewayError `not_found` naming a vector store that the account does not have; `rate_limit_exceeded`: the account
   * searches too much at once; what no money for the vector of the query is refused with.
   */
  async search(request: FileSearchRequest, signal: AbortSignal): Promise<readonly Passage[]> {
    const { accountId, vectorStoreIds, filters, limit, scoreThreshold = 0 } = request;
    const searched = await searchScope(this.database.of(accountId), accountId, vectorStoreIds, filters);
    signal.throwIfAborted();
    if (searched.length === 0) return [];
    // A vector of the query that nobody waits for is made, and paid for, all the same.
    const ranked = await unlessAborted(this.ranked(request, searched), signal);
    return this.withTexts(accountId, ranked.filter(({ score }) => score >= scoreThreshold).slice(0, limit));
  }

  private async ranked(
    request: FileSearchRequest,
    searched: readonly SearchedIndex[],
  ): Promise<readonly RankedPassage[]> {
    const { limit, weights = EQUAL_WEIGHTS, query, accountId, payer } = request;
    const isCompared = payer && weights.meaning > 0 && this.meaning?.canSearch(searched);
    if (!isCompared) return this.byWords(request, searched, limit);
    const order = { accountId, ...payer, texts: [query.slice(0, QUERY_CHARACTERS_MAX)] };
    const [byWords, byMeaning] = await Promise.all([
      this.byWords(request, searched, RANKED_TOGETHER),
      this.meaning?.search(order, searched, RANKED_TOGETHER),
    ]);
    return byMeaning ? fuseRanks(byWords, byMeaning, weights) : byWords;
  }

  private async byWords(
    request: FileSearchRequest,
    searched: readonly SearchedIndex[],
    limit: number,
  ): Promise<readonly RankedPassage[]> {
    const terms = await this.termsOf(request.query, searched);
    return this.turns.run(request.accountId, () => this.rank(request.accountId, terms, searched, limit));
  }

  private async termsOf(query: string, searched: readonly SearchedIndex[]): Promise<QueryTerms> {
    const words = wordsOf(query.slice(0, QUERY_CHARACTERS_MAX));
    const languages = [...new Set(searched.map(({ language }) => language))];
    const spaced = [...new Set(words.spaced)].slice(0, QUERY_WORDS_MAX);
    const unspaced = [...new Set(words.unspaced)].slice(0, QUERY_WORDS_MAX);
    const terms = new QueryTerms();
    for (const language of languages) {
      const stems = await this.stemmer.termsOf(spaced, language);
      for (const word of [...spaced, ...unspaced]) terms.add(language, word, stems.has(word) ? stems.get(word) : word);
    }
    return terms;
  }

  private async rank(
    accountId: string,
    terms: QueryTerms,
    searched: readonly SearchedIndex[],
    limit: number,
  ): Promise<readonly RankedPassage[]> {
    const found = Array.from({ length: terms.words }, () => 0);
    const parts: SearchedPart[] = [];
    for (const language of new Set(searched.map((index) => index.language))) {
      const indexes = new Map(searched.flatMap((index) => (index.language === language ? [[index.id, index]] : [])));
      const values = [accountId, terms.of(language), [...indexes.keys()]];
      const { rows } = await this.database.of(accountId).query<SizeRow>({ text: SIZES, values });
      const part = new PartsOfIndexes();
      for (const { term, index: id, bytes } of rows) {
        const word = term === null ? undefined : terms.wordOf(language, term);
        if (word !== undefined) found[word] = (found[word] ?? 0) + bytes / POSTING_BYTES;
        const index = id === null ? undefined : indexes.get(id);
        if (index) part.add(index, bytes + index.passages * (LENGTH_BYTES + Float64Array.BYTES_PER_ELEMENT));
      }
      parts.push(...part.all);
    }
    const ranking = new PassageRanking(searched, found, limit);
    const read = wordsToRead(found);
    for (const part of parts) {
      const [{ language }] = part.indexes;
      const ofLanguage = terms.of(language).filter((term) => read.has(terms.wordOf(language, term) ?? -1));
      await this.rankPart(accountId, ranking, terms, part, ofLanguage);
    }
    return ranking.best;
  }

  private async rankPart(
    accountId: string,
    ranking: PassageRanking,
    terms: QueryTerms,
    { indexes, bytes }: SearchedPart,
    read: readonly string[],
  ): Promise<void> {
    const database = this.database.of(accountId);
    const ids = indexes.map(({ id }) => id);
    const { rows: lengthRows } = await database.query<{ index: string; lengths: Buffer }>({
      text: LENGTHS,
      values: [accountId, ids],
    });
    const lengths = new Map(lengthRows.map((row) => [row.index, row.lengths]));
    const scored = new Map(indexes.map((index) => [index.id, { index, scores: new Float64Array(index.passages) }]));
    for (const group of groupsOf(read, bytes / READ_AT_ONCE_BYTES)) {
      const { rows } = await database.query<{ term: string; index: string; postings: Buffer }>({
        text: POSTINGS,
        values: [accountId, group, ids],
      });
      for (const { term, index: id, postings } of rows) {
        const ofIndex = scored.get(id);
        const itsLengths = lengths.get(id);
        const word = ofIndex && terms.wordOf(ofIndex.index.language, term);
        if (ofIndex && itsLengths && word !== undefined)
          await ranking.score(ofIndex.scores, itsLengths, { word, postings });
      }
    }
    for (const { index, scores } of scored.values()) await ranking.keep(index, scores);
  }

  private async withTexts(accountId: string, ranked: readonly RankedPassage[]): Promise<Passage[]> {
    if (ranked.length === 0) return [];
    const { rows } = await this.database.of(accountId).query<PassageRow>({
      text: PASSAGES,
      values: [ranked.map(({ index }) => index.id), ranked.map(({ nth }) => nth)],
    });
    const found = new Map(rows.map((row) => [`${row.index}/${row.nth}`, row]));
    const indexes = new Set(ranked.map(({ index }) => index));
    const attributesByIndex = await attributesOf(this.database.of(accountId), [...indexes]);
    return ranked.flatMap(({ index: { id, fileId, filename }, nth, score }) => {
      const row = found.get(`${id}/${nth}`);
      if (!row) return [];
      const { text, start, end, page } = row;
      const attributes = attributesByIndex.get(id) ?? {};
      return [{ fileId, filename, score, text, attributes, start, end, page }];
    });
  }
}

/** How long the postings of a term are in all indexes, or those of all terms in an index. */
interface SizeRow {
  readonly term: string | null;
  readonly index: string | null;
  readonly bytes: number;
}

/** Indexes of one language that are read together; one alone may be longer than what is read at once. */
interface SearchedPart {
  readonly indexes: [SearchedIndex, ...SearchedIndex[]];
  bytes: number;
}

class PartsOfIndexes {
  readonly all: SearchedPart[] = [];

  add(index: SearchedIndex, bytes: number): void {
    const part = this.all.at(-1);
    if (part && part.bytes + bytes <= READ_AT_ONCE_BYTES) {
      part.indexes.push(index);
      part.bytes += bytes;
    } else this.all.push({ indexes: [index], bytes });
  }
}

/** Terms in so many groups of about the same number. */
function groupsOf(terms: readonly string[], groups: number): readonly (readonly string[])[] {
  const size = Math.max(1, Math.floor(terms.length / Math.max(1, Math.ceil(groups))));
  return Array.from({ length: Math.ceil(terms.length / size) }, (_, nth) => terms.slice(nth * size, (nth + 1) * size));
}

/** The rarest words, as many as may be read; always the rarest one that stands anywhere. */
function wordsToRead(found: readonly number[]): ReadonlySet<number> {
  const rarestFirst = [...found.entries()].filter(([, count]) => count > 0).sort(([, left], [, right]) => left - right);
  const read = new Set<number>();
  let bytes = 0;
  for (const [word, count] of rarestFirst) {
    bytes += count * POSTING_BYTES;
    if (read.size > 0 && bytes > READ_IN_ALL_BYTES) break;
    read.add(word);
  }
  return read;
}

/** Which word of a query a term stands for, in each language that is searched. */
class QueryTerms {
  private readonly numbers = new Map<string, number>();
  private readonly byLanguage = new Map<Language, Map<string, number>>();

  /** How many words have a term in some language. */
  get words(): number {
    return this.numbers.size;
  }

  of(language: Language): readonly string[] {
    return [...(this.byLanguage.get(language)?.keys() ?? [])];
  }

  add(language: Language, word: string, term: string | null | undefined): void {
    const terms = this.byLanguage.get(language) ?? new Map<string, number>();
    this.byLanguage.set(language, terms);
    // Of several words with the same term one counts.
    if (!term || terms.has(term)) return;
    const number = this.numbers.get(word) ?? this.numbers.size;
    this.numbers.set(word, number);
    terms.set(term, number);
  }

  wordOf(language: Language, term: string): number | undefined {
    return this.byLanguage.get(language)?.get(term);
  }
}
