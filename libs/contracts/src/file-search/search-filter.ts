import { GatewayError } from '../errors.js';
import { isJsonObject } from '../json.js';
import type { FileAttributes } from './passage.js';

type Value = string | number | boolean;

/** Compares one attribute. Without it a file passes `ne` and `nin`, and nothing else. */
export interface ComparisonFilter {
  readonly type: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'nin';
  readonly key: string;
  /** A list for `in` and `nin`. */
  readonly value: Value | readonly (string | number)[];
}

/** Joins filters. */
export interface CompoundFilter {
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
  #count = 0;

  read(sent: unknown, param: string, depth: number): SearchFilter {
    this.#count += 1;
    if (depth > DEPTH_MAX || this.#count > FILTERS_MAX)
      throw wrong(param, `of at most ${FILTERS_MAX} filters, in at most ${DEPTH_MAX} levels`);
    if (!isJsonObject(sent)) throw wrong(param, 'a filter: an object with a type');
    const { type } = sent;
    if (type === 'and' || type === 'or') return { type, filters: this.#all(sent, param, depth) };
    const comparison = COMPARISONS.find((known) => known === type);
    if (!comparison) throw wrong(`${param}.type`, `one of ${COMPARISONS.join(', ')}, and, or`);
    expectFields(sent, ['type', 'key', 'value'], param);
    return { type: comparison, key: keyOf(sent['key'], `${param}.key`), value: valueOf(sent, comparison, param) };
  }

  #all(sent: Readonly<Record<string, unknown>>, param: string, depth: number): SearchFilter[] {
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
    if (isList) return value;
    throw wrong(param, `a list of at most ${LIST_MAX} texts and numbers`);
  }
  const isOrdered = type !== 'eq' && type !== 'ne';
  if (isListed(value) || (typeof value === 'boolean' && !isOrdered)) return value;
  throw wrong(param, isOrdered ? 'a number or a text' : 'a text, a number, true or false');
}

const isListed = (value: unknown): value is string | number =>
  (typeof value === 'string' && value.length <= CHARACTERS_MAX) ||
  (typeof value === 'number' && Number.isFinite(value));

const wrong = (param: string, rule: string): GatewayError =>
  new GatewayError('invalid_parameter', `${param} must be ${rule}.`, { param });

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
  const isAmong = Array.isArray(value) && value.some((each) => each === own);
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
