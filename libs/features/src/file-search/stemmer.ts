import type { StatementRunner } from '#platform';
import { folded } from './words.js';

/** Stemmers that every Postgres brings (Snowball), each with a list of stop words. */
const LANGUAGES = [
  'english',
  'german',
  'french',
  'spanish',
  'italian',
  'portuguese',
  'dutch',
  'russian',
  'swedish',
  'danish',
  'norwegian',
  'finnish',
  'hungarian',
  'turkish',
] as const;

export type Language = (typeof LANGUAGES)[number];

/** Of texts whose language does not show: names, numbers, source code. */
export const COMMON_LANGUAGE: Language = 'english';

/** The share of stop words from which on a text is taken to be of a language. */
const SHARE_MIN = 0.08;

/** The words that are looked at to find the language: the most frequent ones. */
const SAMPLE_WORDS = 400;

const STOP_WORD_COUNTS = `
select language, coalesce(sum(times) filter (where ts_lexize((language || '_stem')::regdictionary, word) = '{}'), 0)::integer as count
from unnest($1::text[]) as language, unnest($2::text[], $3::integer[]) as sample (word, times)
group by language`;

const STEMS = `
select coalesce(array_agg(coalesce(lexemes[1], '') order by nth), '{}') as stems from (
  select nth, ts_lexize($1::regdictionary, word) as lexemes from unnest($2::text[]) with ordinality as given (word, nth)
) as stemmed`;

/** Finds the terms that words stand for, with the stemmers of the database. */
export class Stemmer {
  constructor(private readonly database: StatementRunner) {}

  /** The language whose stop words are the most frequent. */
  async languageOf(counts: ReadonlyMap<string, number>): Promise<Language> {
    const sample = [...counts].sort(([, left], [, right]) => right - left).slice(0, SAMPLE_WORDS);
    const all = sample.reduce((sum, [, count]) => sum + count, 0);
    if (all === 0) return COMMON_LANGUAGE;
    const { rows } = await this.database.query<{ language: Language; count: number }>({
      text: STOP_WORD_COUNTS,
      values: [LANGUAGES, sample.map(([word]) => word), sample.map(([, count]) => count)],
    });
    const [best] = rows.toSorted((left, right) => right.count - left.count || order(left) - order(right));
    return best && best.count / all >= SHARE_MIN ? best.language : COMMON_LANGUAGE;
  }

  /** The term of each word; null: the word is a stop word of this language. */
  async termsOf(words: readonly string[], language: Language): Promise<ReadonlyMap<string, string | null>> {
    if (words.length === 0) return new Map();
    const { rows } = await this.database.query<{ stems: string[] }>({
      text: STEMS,
      values: [`${language}_stem`, words],
      limit: 'long',
    });
    const stems = rows[0]?.stems ?? [];
    return new Map(words.map((word, index) => [word, folded(stems[index] ?? '') || null]));
  }
}

const order = ({ language }: { readonly language: Language }): number => LANGUAGES.indexOf(language);
