import type { JsonObject, JsonValue } from '#contracts';
import { withNestedSchemas } from '../upstream/nested-schemas.js';

/**
 * Rules that the interface takes and does not keep to. It keeps to type, format, enum, bounds of numbers and lists, properties,
 * required, additionalProperties, items, prefixItems, anyOf and oneOf
 * (https://ai.google.dev/api/generate-content#FIELDS.response_json_schema).
 */
const UNKEPT: ReadonlySet<string> = new Set([
  'const',
  'pattern',
  'minLength',
  'maxLength',
  'contentEncoding',
  'contentMediaType',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'uniqueItems',
  'contains',
  'minContains',
  'maxContains',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'unevaluatedItems',
  'unevaluatedProperties',
  'not',
  'if',
  'then',
  'else',
  'allOf',
]);

/**
 * A schema whose descriptions say, for the model to follow, what the vendor would not hold it to. The words themselves stay,
 * which a vendor may come to keep to. The very same schema where it keeps to all of them, as in nearly every tool.
 */
export function withUnkeptInWords(schema: JsonObject): JsonObject {
  const unkept = Object.keys(schema).filter((word) => UNKEPT.has(word));
  if (unkept.length === 0) return withNestedSchemas(schema, withUnkeptInWords);
  const rules: Record<string, JsonValue> = {};
  const kept: Record<string, JsonValue> = {};
  for (const [word, value] of Object.entries(schema)) (UNKEPT.has(word) ? rules : kept)[word] = value;
  const written = withNestedSchemas(kept, withUnkeptInWords);
  const said = unkept.map((word) => `${word}: ${JSON.stringify(rules[word])}`).join(', ');
  const { description } = schema;
  return { ...written, ...rules, description: typeof description === 'string' ? `${description} (${said})` : said };
}
