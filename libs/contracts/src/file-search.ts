import { GatewayError } from './errors.js';
import { isJsonObject } from './json.js';

type Value = string | number | boolean;

/** Compares one attribute. Without it a file passes `ne` and `nin`, and nothing else. */
interface ComparisonFilter {
  readonly type: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'nin';
  readonly key: string;
  /** Several for `in` and `nin`. */
  readonly value: Value | ReadonlySet<unknown>;
}

interface CompoundFilter {
  readonly type: 'and' | 'or';
  readonly filters: readonly SearchFilter[];
}

/** Which files are searched, by their attributes. */
export type SearchFilter = ComparisonFilter | CompoundFilter;

const COMPARISONS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'] as const;
const DEPTH_MAX = 8;
const FILTERS_MAX = 100;
const LIST_MAX = 1_000;
const CHARACTERS_MAX = 512;

/** @throws GatewayError `invalid_parameter`, `missing_parameter` or `unknown_parameter` naming the field below `param`. */
export function readSearchFilter(sent: unknown, param: string): SearchFilter {
  return new FilterReader().read(sent, param, 1);
}

/** Counts what all levels of a filter hold together. */
class FilterReader {
  private count = 0;

  read(sent: unknown, param: string, depth: number): SearchFilter {
    this.count += 1;
    if (depth > DEPTH_MAX || this.count > FILTERS_MAX)
      throw wrong(param, `of at most ${FILTERS_MAX} filters, in at most ${DEPTH_MAX} levels`);
    if (!isJsonObject(sent)) throw wrong(param, 'a filter: an object with a type');
    const { type } = sent;
    if (type === 'and' || type === 'or') return { type, filters: this.all(sent, param, depth) };
    const comparison = COMPARISONS.find((known) => known === type);
    if (!comparison) throw wrong(`${param}.type`, `one of ${COMPARISONS.join(', ')}, and, or`);
    expectFields(sent, ['type', 'key', 'value'], param);
    return { type: comparison, key: keyOf(sent['key'], `${param}.key`), value: valueOf(sent, comparison, param) };
  }

  private all(sent: Readonly<Record<string, unknown>>, param: string, depth: number): SearchFilter[] {
    expectFields(sent, ['type', 'filters'], param);
    const { filters } = sent;
    if (!Array.isArray(filters) || filters.length === 0)
      throw wrong(`${param}.filters`, 'a list of at least one filter');
    return filters.map((filter: unknown, index) => this.read(filter, `${param}.filters[${index}]`, depth + 1));
  }
}

function expectFields(sent: Readonly<Record<string, unknown>>, allowed: readonly string[], param: string): void {
  const stray = Object.keys(sent).find((name) => !allowed.includes(name));
  if (stray === undefined) return;
  const field = `${param}.${stray.slice(0, 64)}`;
  throw new GatewayError('unknown_parameter', `${field} is not a field of this filter: it has ${allowed.join(', ')}.`, {
    param: field,
  });
}

function keyOf(sent: unknown, param: string): string {
  if (typeof sent === 'string' && sent !== '' && sent.length <= 64) return sent;
  throw wrong(param, 'the name of an attribute, of 1 to 64 characters');
}

function valueOf(
  { value }: Readonly<Record<string, unknown>>,
  type: ComparisonFilter['type'],
  filterParam: string,
): ComparisonFilter['value'] {
  const param = `${filterParam}.value`;
  if (type === 'in' || type === 'nin') {
    const isList = Array.isArray(value) && value.length <= LIST_MAX && value.every(isListed);
    if (isList) return new Set(value);
    throw wrong(param, `a list of at most ${LIST_MAX} texts and numbers`);
  }
  const isOrdered = type !== 'eq' && type !== 'ne';
  if (isListed(value) || (typeof value === 'boolean' && !isOrdered)) return value;
  throw wrong(param, isOrdered ? 'a number or a text' : 'a text, a number, true or false');
}

const isListed = (value: unknown): value is string | number =>
  (typeof value === 'string' && value.length <= CHARACTERS_MAX) ||
  (typeof value === 'number' && Number.isFinite(value));

const wrong = (param: string, rule: string): GatewayError => GatewayError.ofField(param, `must be ${rule}`);

/** Whether a file with these attributes is searched. Values of different types are never equal, nor in an order. */
export function passesFilter(filter: SearchFilter, attributes: FileAttributes): boolean {
  if ('filters' in filter) {
    const passes = (each: SearchFilter): boolean => passesFilter(each, attributes);
    return filter.type === 'and' ? filter.filters.every(passes) : filter.filters.some(passes);
  }
  const { key, value, type } = filter;
  const own = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  if (type === 'eq') return own === value;
  if (type === 'ne') return own !== value;
  const isAmong = value instanceof Set && value.has(own);
  if (type === 'in') return isAmong;
  if (type === 'nin') return !isAmong;
  return isInOrder(type, own, value);
}

function isInOrder(type: 'gt' | 'gte' | 'lt' | 'lte', own: unknown, value: unknown): boolean {
  if (typeof own !== typeof value || (typeof own !== 'number' && typeof own !== 'string')) return false;
  const [left, right] = [own, value as typeof own];
  if (type === 'gt') return left > right;
  if (type === 'gte') return left >= right;
  return type === 'lt' ? left < right : left <= right;
}

/** What a file is given to be found by: at most 16 names, each with a text, a number or a truth value. */
export type FileAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Passage {
  readonly fileId: string;
  readonly filename: string;
  /** 0 to 1, better ones higher. How it is made: docs/api.md, "Files and search". */
  readonly score: number;
  readonly text: string;
  /** Of the file in the vector store that was searched; empty in the default one. */
  readonly attributes: FileAttributes;
  /** Where the chunk begins in the text of the file, in characters (UTF-16) as `GET …/content` has it. */
  readonly start: number;
  /** The first character after it. */
  readonly end: number;
  /** The page that it begins on, from 1; null where files of its type have none. */
  readonly page: number | null;
}

/** The weights of words and of meaning where chunks are ranked by both. At least one is above 0. */
export interface RankWeights {
  readonly words: number;
  readonly meaning: number;
}

/**
 * Reads `hybrid_search` of `ranking_options`: `{embedding_weight, text_weight}`, each from 0 to 1000 and not both 0.
 *
 * @returns undefined where it is left out.
 * @throws GatewayError `invalid_parameter`.
 */
export function readRankWeights(sent: unknown, param: string): RankWeights | undefined {
  if (sent === undefined || sent === null) return undefined;
  const { embedding_weight: meaning = 0, text_weight: words = 0 } = isJsonObject(sent) ? sent : {};
  const areNumbers = isJsonObject(sent) && isWeight(meaning) && isWeight(words);
  if (areNumbers && meaning + words > 0) return { words, meaning };
  const rule = 'an object with embedding_weight and text_weight, numbers from 0 to 1000 of which one is above 0';
  throw GatewayError.ofField(param, `must be ${rule}`);
}

const isWeight = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1_000;
