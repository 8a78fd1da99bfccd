import {
  type FileAttributes,
  GatewayError,
  isIdentifier,
  isJsonObject,
  type RankWeights,
  readRankWeights,
  readSearchFilter,
  type SearchFilter,
  isStorable,
} from '#contracts';
import { type Chunking, DEFAULT_CHUNKING, type NewEntry, type VectorStoreSettings } from '#features';
import { mustBe } from '../../list-query.js';

type Fields = Readonly<Record<string, unknown>>;

const PAIRS_MAX = 16;
const KEY_MAX = 64;
const VALUE_MAX = 512;
const NAME_MAX = 256;
const BATCH_MAX = 500;
const QUERY_MAX = 4_096;
const RESULTS_MAX = 50;

/** @throws GatewayError `invalid_parameter` or `unknown_parameter`. */
function fieldsOf(body: unknown, allowed: readonly string[], at = ''): Fields {
  if (body === undefined && at === '') return {};
  if (!isJsonObject(body))
    throw at === ''
      ? new GatewayError('invalid_parameter', 'The body must be a JSON object.')
      : mustBe(at, 'an object');
  const stray = Object.keys(body).find((name) => !allowed.includes(name));
  if (stray === undefined) return body;
  const param = `${at === '' ? '' : `${at}.`}${stray.slice(0, 64)}`;
  throw new GatewayError(
    'unknown_parameter',
    `${param} is not a field of this request. Known fields: ${allowed.join(', ')}.`,
    {
      param,
    },
  );
}

const missing = (param: string, rule: string): GatewayError =>
  new GatewayError('missing_parameter', `${param} is missing: it must be ${rule}.`, { param });

function wholeNumber(value: unknown, param: string, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw mustBe(param, `a whole number from ${min} to ${max}`);
}

function textOrNull(value: unknown, param: string, max: number): string | null | undefined {
  if (value === undefined || value === null || (typeof value === 'string' && value.length <= max && isStorable(value)))
    return value;
  throw mustBe(param, `a text of at most ${max} characters, or null`);
}

export interface NewStore {
  readonly settings: VectorStoreSettings;
  readonly files: readonly NewEntry[];
}

/** @throws GatewayError naming the field. */
export function readNewStore(body: unknown): NewStore {
  const fields = fieldsOf(body, ['name', 'description', 'metadata', 'expires_after', 'file_ids', 'chunking_strategy']);
  const chunking = chunkingOf(fields['chunking_strategy'], 'chunking_strategy');
  const ids = fields['file_ids'] === undefined ? [] : idsOf(fields['file_ids'], 'file_ids', 0);
  return {
    settings: settingsOf(fields),
    files: ids.map((fileId, index) => ({ fileId, param: `file_ids[${index}]`, attributes: {}, chunking })),
  };
}

/** @throws GatewayError naming the field. */
export const readStoreChange = (body: unknown): VectorStoreSettings =>
  settingsOf(fieldsOf(body, ['name', 'description', 'metadata', 'expires_after']));

function settingsOf(fields: Fields): VectorStoreSettings {
  return {
    name: textOrNull(fields['name'], 'name', NAME_MAX),
    description: textOrNull(fields['description'], 'description', VALUE_MAX),
    metadata: metadataOf(fields['metadata']),
    expiresAfterDays: expiryOf(fields['expires_after']),
  };
}

function metadataOf(sent: unknown): Readonly<Record<string, string>> | undefined {
  if (sent === undefined) return undefined;
  if (sent === null) return {};
  const pairs = attributesOf(sent, 'metadata');
  for (const [key, value] of Object.entries(pairs))
    if (typeof value !== 'string') throw mustBe(`metadata.${key}`, `a text of at most ${VALUE_MAX} characters`);
  return pairs as Readonly<Record<string, string>>;
}

function expiryOf(sent: unknown): number | null | undefined {
  if (sent === undefined || sent === null) return sent;
  const { anchor, days } = fieldsOf(sent, ['anchor', 'days'], 'expires_after');
  if (anchor !== 'last_active_at') throw mustBe('expires_after.anchor', 'last_active_at');
  return wholeNumber(days, 'expires_after.days', 1, 365);
}

/** @throws GatewayError naming the field. */
export const readAttributes = (body: unknown): FileAttributes =>
  attributesOf(fieldsOf(body, ['attributes'])['attributes'], 'attributes');

function attributesOf(sent: unknown, param = 'attributes'): FileAttributes {
  if (sent === undefined || sent === null) return {};
  const pairs = Object.entries(fieldsOfAny(sent, param));
  if (pairs.length > PAIRS_MAX) throw mustBe(param, `an object of at most ${PAIRS_MAX} fields`);
  for (const [key, value] of pairs) {
    if (key === '' || key.length > KEY_MAX || !isStorable(key))
      throw mustBe(param, `an object whose names have 1 to ${KEY_MAX} characters`);
    if (!isAttribute(value))
      throw mustBe(`${param}.${key}`, `a text of at most ${VALUE_MAX} characters, a number, true or false`);
  }
  return sent as FileAttributes;
}

function fieldsOfAny(sent: unknown, param: string): Fields {
  if (isJsonObject(sent)) return sent;
  throw mustBe(param, 'an object');
}

const isAttribute = (value: unknown): boolean =>
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value)) ||
  (typeof value === 'string' && value.length <= VALUE_MAX && isStorable(value));

function idsOf(sent: unknown, param: string, min: number): string[] {
  if (Array.isArray(sent) && sent.length >= min && sent.length <= BATCH_MAX && sent.every(isIdentifier)) return sent;
  throw mustBe(param, `a list of ${min} to ${BATCH_MAX} ids of files`);
}

const AUTO_FIELDS = ['type'];
const STATIC_FIELDS = ['max_chunk_size_tokens', 'chunk_overlap_tokens'];

/** @throws GatewayError naming the field. */
function chunkingOf(sent: unknown, param: string): Chunking {
  if (sent === undefined || sent === null) return DEFAULT_CHUNKING;
  const { type } = fieldsOfAny(sent, param);
  if (type === 'auto') return (fieldsOf(sent, AUTO_FIELDS, param), DEFAULT_CHUNKING);
  if (type !== 'static') throw mustBe(`${param}.type`, 'auto or static');
  const { static: sizes } = fieldsOf(sent, ['type', 'static'], param);
  const fields = fieldsOf(sizes, STATIC_FIELDS, `${param}.static`);
  const chunkTokens = wholeNumber(fields['max_chunk_size_tokens'], `${param}.static.max_chunk_size_tokens`, 100, 4_096);
  const overlap = `${param}.static.chunk_overlap_tokens`;
  const overlapTokens = wholeNumber(fields['chunk_overlap_tokens'], overlap, 0, Math.floor(chunkTokens / 2));
  return { chunkTokens, overlapTokens };
}

/** @throws GatewayError naming the field. */
export function readEntry(body: unknown, at = ''): NewEntry {
  const fields = fieldsOf(body, ['file_id', 'attributes', 'chunking_strategy'], at);
  const prefix = at === '' ? '' : `${at}.`;
  const fileId = fields['file_id'];
  if (fileId === undefined) throw missing(`${prefix}file_id`, 'the id of a file');
  if (!isIdentifier(fileId)) throw mustBe(`${prefix}file_id`, 'the id of a file');
  return {
    fileId,
    param: `${prefix}file_id`,
    attributes: attributesOf(fields['attributes'], `${prefix}attributes`),
    chunking: chunkingOf(fields['chunking_strategy'], `${prefix}chunking_strategy`),
  };
}

/** @throws GatewayError naming the field. */
export function readBatch(body: unknown): readonly NewEntry[] {
  const fields = fieldsOf(body, ['file_ids', 'files', 'attributes', 'chunking_strategy']);
  const { file_ids: ids, files } = fields;
  if ((ids === undefined) === (files === undefined))
    throw missing('file_ids', 'a list of ids of files, or files a list of objects');
  if (files !== undefined) {
    const isList = Array.isArray(files) && files.length >= 1 && files.length <= BATCH_MAX;
    if (!isList) throw mustBe('files', `a list of 1 to ${BATCH_MAX} objects`);
    return files.map((file: unknown, index) => readEntry(file, `files[${index}]`));
  }
  const chunking = chunkingOf(fields['chunking_strategy'], 'chunking_strategy');
  const attributes = attributesOf(fields['attributes']);
  return idsOf(ids, 'file_ids', 1).map((fileId, index) => ({
    fileId,
    param: `file_ids[${index}]`,
    attributes,
    chunking,
  }));
}

export interface SearchBody {
  readonly queries: readonly string[];
  readonly limit: number;
  readonly filters: SearchFilter | undefined;
  readonly scoreThreshold: number | undefined;
  readonly weights: RankWeights | undefined;
}

/** @throws GatewayError naming the field. */
export function readSearch(body: unknown): SearchBody {
  const fields = fieldsOf(body, ['query', 'filters', 'max_num_results', 'ranking_options', 'rewrite_query']);
  const { query, filters, max_num_results: limit = 10, rewrite_query: rewrite = false } = fields;
  const rule = `a text of 1 to ${QUERY_MAX} characters, or a list of up to 8 of them`;
  if (query === undefined) throw missing('query', rule);
  const queries: unknown[] = Array.isArray(query) ? query : [query];
  const areTexts = queries.length >= 1 && queries.length <= 8 && queries.every((text) => isQuery(text));
  if (!areTexts) throw mustBe('query', rule);
  if (rewrite !== false) throw mustBe('rewrite_query', 'false: queries are searched as they are');
  return {
    queries: queries as string[],
    limit: wholeNumber(limit, 'max_num_results', 1, RESULTS_MAX),
    filters: filters === undefined || filters === null ? undefined : readSearchFilter(filters, 'filters'),
    ...rankingOf(fields['ranking_options']),
  };
}

const isQuery = (text: unknown): boolean =>
  typeof text === 'string' && text !== '' && text.length <= QUERY_MAX && isStorable(text);

const RANKERS = ['auto', 'none', 'default-2024-11-15'];

function rankingOf(sent: unknown): Pick<SearchBody, 'scoreThreshold' | 'weights'> {
  if (sent === undefined || sent === null) return { scoreThreshold: undefined, weights: undefined };
  const at = 'ranking_options';
  const {
    ranker = 'auto',
    score_threshold: threshold = 0,
    hybrid_search: hybrid,
  } = fieldsOf(sent, ['ranker', 'score_threshold', 'hybrid_search'], at);
  if (!RANKERS.some((known) => known === ranker)) throw mustBe(`${at}.ranker`, `one of ${RANKERS.join(', ')}`);
  if (!(typeof threshold === 'number' && threshold >= 0 && threshold <= 1))
    throw mustBe(`${at}.score_threshold`, 'a number from 0 to 1');
  return { scoreThreshold: threshold, weights: readRankWeights(hybrid, `${at}.hybrid_search`) };
}
