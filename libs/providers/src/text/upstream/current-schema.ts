import type { JsonObject } from '#contracts';
import { withNestedSchemas } from './nested-schemas.js';

/**
 * A schema in the words of the current draft (2020-12), which is all that some vendors take: generators of schemas still write
 * earlier ones. A list says what it holds, if anything, which other vendors insist on.
 */
export function currentSchema(schema: JsonObject): JsonObject {
  const written = inCurrentWords(schema);
  const { $schema: draft } = written;
  if (draft === undefined || (typeof draft === 'string' && draft.includes('2020-12'))) return written;
  const { $schema: _dated, ...others } = written;
  return others;
}

const inCurrentWords = (schema: JsonObject): JsonObject =>
  withItems(withBounds(withPlaces(withNestedSchemas(schema, inCurrentWords))));

/** Schemas by place were a list of `items`, and `additionalItems` what follows them. */
function withPlaces(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema['items'])) return schema;
  const { items, additionalItems: others, ...rest } = schema;
  return { ...rest, prefixItems: items ?? [], ...(others !== undefined && { items: others }) };
}

const BOUNDS = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const;

/** That a bound is not among the values was a yes or no beside it. */
function withBounds(schema: JsonObject): JsonObject {
  let written = schema;
  for (const [bound, exclusive] of BOUNDS) {
    if (typeof written[exclusive] !== 'boolean') continue;
    const { [bound]: value, [exclusive]: isExclusive, ...rest } = written;
    written = { ...rest, ...(value !== undefined && { [isExclusive === true ? exclusive : bound]: value }) };
  }
  return written;
}

function withItems(schema: JsonObject): JsonObject {
  const { type } = schema;
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array'));
  return isList && !('items' in schema) ? { ...schema, items: {} } : schema;
}
