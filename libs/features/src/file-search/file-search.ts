import { Injectable } from '@nestjs/common';
import { type Passage, passesFilter, type RankWeights, type SearchFilter } from '#contracts';
import { Database } from '#platform';
import { type Match, rankPassages, type RankedPassage } from './rank-passages.js';
import { expectLiveStores, type SearchedIndex, type SearchedStores, searchScope } from './search-scope.js';
import { MeaningSearch } from './vectors/meaning-search.js';
import { fuseRanks } from './vectors/fuse-ranks.js';
import { type Language, Stemmer } from './stemmer.js';
import { wordsOf } from './words.js';

/** What is looked for, and where. */
export interface FileSearchRequest {
  readonly accountId: string;
  readonly vectorStoreIds: SearchedStores;
  /** Words in any language, or a question; at most 4096 characters of it count. */
  readonly query: string;
  /** The most passages, 1 to 50. */
  readonly limit: number;
  /** Which files, by their attributes. */
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

/** The most words of a query that count. */
const QUERY_WORDS_MAX = 64;

const POSTINGS = `
select term, index_id::text as index, postings from file_term
where account_id = $1 and term = any($2) and index_id = any($3::bigint[])`;

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
  readonly #stemmer: Stemmer;

  /** @param meaning left out: words alone are compared. */
  constructor(
    private readonly database: Database,
    private readonly meaning?: MeaningSearch,
  ) {
    this.#stemmer = new Stemmer(database);
  }

  /** @throws GatewayError `not_found` naming a vector store that the account does not have, at `param`. */
  async expectStores(accountId: string, stores: readonly string[], param: string): Promise<void> {
    await expectLiveStores(this.database, accountId, stores, param);
  }

  /**
   * The best passages, best first.
   *
   * @throws GatewayError `not_found` naming a vector store that the account does not have; what no money for the vector
   * of the query is refused with.
   */
  async search(request: FileSearchRequest, signal: AbortSignal): Promise<readonly Passage[]> {
    const { accountId, vectorStoreIds, filters, limit, scoreThreshold = 0 } = request;
    const all = await searchScope(this.database, accountId, vectorStoreIds);
    const passing = filters ? all.filter(({ attributes }) => passesFilter(filters, attributes)) : all;
    const searched = onePerId(passing);
    signal.throwIfAborted();
    if (searched.length === 0) return [];
    const ranked = await this.#ranked(request, searched);
    signal.throwIfAborted();
    return this.#withTexts(ranked.filter(({ score }) => score >= scoreThreshold).slice(0, limit));
  }

  async #ranked(request: FileSearchRequest, searched: readonly SearchedIndex[]): Promise<readonly RankedPassage[]> {
    const { limit, weights = EQUAL_WEIGHTS, query, accountId, payer } = request;
    const isCompared = payer && weights.meaning > 0 && this.meaning?.canSearch(searched);
    if (!isCompared) return this.#byWords(request, searched, limit);
    const order = { accountId, ...payer, texts: [query.slice(0, QUERY_CHARACTERS_MAX)] };
    const [byWords, byMeaning] = await Promise.all([
      this.#byWords(request, searched, RANKED_TOGETHER),
      this.meaning?.search(order, searched, RANKED_TOGETHER),
    ]);
    return byMeaning ? fuseRanks(byWords, byMeaning, weights) : byWords;
  }

  async #byWords(
    { accountId, query }: FileSearchRequest,
    searched: readonly SearchedIndex[],
    limit: number,
  ): Promise<readonly RankedPassage[]> {
    const words = wordsOf(query.slice(0, QUERY_CHARACTERS_MAX));
    const languages = [...new Set(searched.map(({ language }) => language))];
    const spaced = [...new Set(words.spaced)].slice(0, QUERY_WORDS_MAX);
    const unspaced = [...new Set(words.unspaced)].slice(0, QUERY_WORDS_MAX);
    const terms = new QueryTerms();
    for (const language of languages) {
      const stems = await this.#stemmer.termsOf(spaced, language);
      for (const word of [...spaced, ...unspaced]) terms.add(language, word, stems.has(word) ? stems.get(word) : word);
    }
    const { rows } = await this.database.query<{ term: string; index: string; postings: Buffer }>({
      text: POSTINGS,
      values: [accountId, terms.all, searched.map(({ id }) => id)],
    });
    const indexes = new Map(searched.map((index) => [index.id, index]));
    const matches = rows.flatMap((row): Match[] => {
      const index = indexes.get(row.index);
      const word = index && terms.wordOf(index.language, row.term);
      return index && word !== undefined ? [{ word, index, postings: row.postings }] : [];
    });
    return rankPassages(searched, terms.words, matches, limit);
  }

  async #withTexts(ranked: readonly RankedPassage[]): Promise<Passage[]> {
    if (ranked.length === 0) return [];
    const { rows } = await this.database.query<PassageRow>({
      text: PASSAGES,
      values: [ranked.map(({ index }) => index.id), ranked.map(({ nth }) => nth)],
    });
    const found = new Map(rows.map((row) => [`${row.index}/${row.nth}`, row]));
    return ranked.flatMap(({ index: { id, fileId, filename, attributes }, nth, score }) => {
      const row = found.get(`${id}/${nth}`);
      if (!row) return [];
      const { text, start, end, page } = row;
      return [{ fileId, filename, score, text, attributes, start, end, page }];
    });
  }
}

/** Of indexes that several vector stores hold, the one that came first. */
const onePerId = (indexes: readonly SearchedIndex[]): readonly SearchedIndex[] => [
  ...new Map(indexes.toReversed().map((index) => [index.id, index])).values(),
];

/** Which word of a query a term stands for, in each language that is searched. */
class QueryTerms {
  readonly #words = new Map<string, number>();
  readonly #byLanguage = new Map<Language, Map<string, number>>();

  /** How many words have a term in some language. */
  get words(): number {
    return this.#words.size;
  }

  get all(): string[] {
    return [...new Set([...this.#byLanguage.values()].flatMap((terms) => [...terms.keys()]))];
  }

  add(language: Language, word: string, term: string | null | undefined): void {
    const terms = this.#byLanguage.get(language) ?? new Map<string, number>();
    this.#byLanguage.set(language, terms);
    // Of several words with the same term one counts.
    if (!term || terms.has(term)) return;
    const number = this.#words.get(word) ?? this.#words.size;
    this.#words.set(word, number);
    terms.set(term, number);
  }

  wordOf(language: Language, term: string): number | undefined {
    return this.#byLanguage.get(language)?.get(term);
  }
}
