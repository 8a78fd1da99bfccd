import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';

/** How deep a schema is followed; a recursive one ends here. */
const MAX_DEPTH = 12;

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '12:00:00Z',
  email: 'sandbox@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/** Makes a value that fits a JSON Schema; strings say `word` where the schema leaves them free. */
export class SchemaExample {
  readonly #root: JsonObject;
  readonly #word: string;

  constructor(schema: JsonObject, word: string) {
    this.#root = schema;
    this.#word = word;
  }

  value(): JsonValue {
    return this.#of(this.#root, 0);
  }

  #of(schema: JsonValue | undefined, depth: number): JsonValue {
    if (!isJsonObject(schema) || depth > MAX_DEPTH) return null;
    const fixed = this.#fixed(schema);
    if (fixed !== undefined) return fixed;
    const inner = this.#inner(schema);
    return inner ? this.#of(inner, depth + 1) : this.#ofType(schema, depth);
  }

  #fixed(schema: JsonObject): JsonValue | undefined {
    if (schema['const'] !== undefined) return schema['const'];
    const { enum: allowed, default: preset } = schema;
    return Array.isArray(allowed) ? (allowed as JsonValue[])[0] : preset;
  }

  /** The schema that stands for this one: a reference, or the first of several alternatives. */
  #inner(schema: JsonObject): JsonObject | undefined {
    const { $ref: reference } = schema;
    if (typeof reference === 'string') return this.#resolve(reference);
    const alternatives = schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf'];
    const first: unknown = Array.isArray(alternatives) ? alternatives[0] : undefined;
    return isJsonObject(first) ? (first as JsonObject) : undefined;
  }

  #resolve(reference: string): JsonObject | undefined {
    let at: JsonValue | undefined = this.#root;
    for (const step of reference.replace(/^#\/?/, '').split('/').filter(Boolean))
      at = isJsonObject(at) ? at[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
    return isJsonObject(at) ? at : undefined;
  }

  #ofType(schema: JsonObject, depth: number): JsonValue {
    const sent = schema['type'];
    const type: unknown = Array.isArray(sent) ? sent[0] : sent;
    switch (type) {
      case 'array': {
        const { minItems, items } = schema;
        const length = Math.min(typeof minItems === 'number' ? Math.max(1, minItems) : 1, 100);
        return Array.from({ length }, () => this.#of(items, depth + 1));
      }
      case 'integer':
      case 'number':
        return numberIn(schema, type === 'integer');
      case 'boolean':
        return true;
      case 'null':
        return null;
      case 'string':
        return this.#text(schema);
      default:
        return this.#object(schema, depth);
    }
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    const { properties } = schema;
    if (!isJsonObject(properties)) return {};
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, this.#of(property, depth + 1)]),
    );
  }

  #text({ format, minLength, maxLength }: JsonObject): string {
    const text = FORMATS[typeof format === 'string' ? format : ''] ?? this.#word;
    const padded = typeof minLength === 'number' ? text.padEnd(Math.min(minLength, 10_000), '.') : text;
    return typeof maxLength === 'number' ? padded.slice(0, maxLength) : padded;
  }
}

function numberIn({ minimum, maximum, exclusiveMinimum }: JsonObject, wholeNumber: boolean): number {
  const low = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : minimum;
  const value = typeof low === 'number' ? low : 1;
  const bounded = typeof maximum === 'number' ? Math.min(value, maximum) : value;
  return wholeNumber ? Math.ceil(bounded) : bounded;
}
