import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { referred, type SchemaWork } from '../upstream/object-schema.js';

const numberOr = (value: JsonValue | undefined, absent: number): number => (typeof value === 'number' ? value : absent);

/** What a schema says of a number. Open bounds are not allowed themselves. */
interface Bounds {
  readonly low: number;
  readonly high: number;
  readonly openLow: number;
  readonly openHigh: number;
}

function boundsOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonObject): Bounds {
  return {
    low: numberOr(minimum, Number.NEGATIVE_INFINITY),
    high: numberOr(maximum, Number.POSITIVE_INFINITY),
    openLow: numberOr(exclusiveMinimum, Number.NEGATIVE_INFINITY),
    openHigh: numberOr(exclusiveMaximum, Number.POSITIVE_INFINITY),
  };
}

/** Numbers worth trying, the plainest first. */
function candidates({ low, high, openLow, openHigh }: Bounds, step: number | undefined): number[] {
  const floor = Math.max(low, openLow);
  const ceiling = Math.min(high, openHigh);
  if (step !== undefined) {
    const first = Math.ceil(floor / step) * step;
    const last = Math.floor(ceiling / step) * step;
    return [1, first, first + step, last, last - step, 0, step];
  }
  return [1, low, high, (floor + ceiling) / 2, floor + 1, ceiling - 1];
}

/** A number that obeys the bounds and the step of a schema; 1 where nothing speaks against it, or where nothing fits. */
function exampleNumber(schema: JsonObject, wholeNumber: boolean): number {
  const bounds = boundsOf(schema);
  const step = typeof schema['multipleOf'] === 'number' ? schema['multipleOf'] : wholeNumber ? 1 : undefined;
  const fits = (value: number): boolean =>
    Number.isFinite(value) &&
    value >= bounds.low &&
    value <= bounds.high &&
    value > bounds.openLow &&
    value < bounds.openHigh &&
    (step === undefined || value % step === 0);
  return candidates(bounds, step).find(fits) ?? 1;
}

/** From here on only what must be there is written, so that most recursive schemas end. */
const SPARSE_DEPTH = 6;

/** How deep a schema is followed; one that demands to continue forever ends here. */
const MAX_DEPTH = 12;

/** What it takes to read a schema, and to write characters. */
const STEPS_OF_A_SCHEMA = 10;
const CHARACTERS_OF_A_STEP = 8;

/** The longest array that is written, however many items are demanded. */
const MAX_ITEMS = 100;

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
  constructor(
    private readonly root: JsonObject,
    private readonly word: string,
    /** Schemas that refer to themselves many times over would never end. */
    private readonly work: SchemaWork,
  ) {}

  value(): JsonValue {
    return this.of(this.root, 0);
  }

  private of(schema: JsonValue | undefined, depth: number): JsonValue {
    if (!isJsonObject(schema) || this.isTooMuch(depth)) return null;
    const whole = this.merged(schema, depth);
    const { const: only, enum: allowed, default: preset } = whole;
    if (only !== undefined) return this.repeated(only);
    const named = Array.isArray(allowed) ? (allowed as JsonValue[])[0] : preset;
    return named === undefined || named === null ? this.ofType(whole, depth) : this.repeated(named);
  }

  /** The schema with all that it refers to in one: references, all of `allOf`, and the first of several alternatives. */
  private merged(schema: JsonObject, depth: number): JsonObject {
    const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema;
    const others = [
      referred(this.root, reference),
      ...listOf(allOf),
      ...listOf(anyOf).slice(0, 1),
      ...listOf(oneOf).slice(0, 1),
    ].filter((other): other is JsonObject => isJsonObject(other));
    if (this.isTooMuch(depth)) return own;
    return others.map((other) => this.merged(other, depth + 1)).reduce((one, other) => this.together(one, other), own);
  }

  private isTooMuch(depth: number): boolean {
    return depth > MAX_DEPTH || !this.work.take(STEPS_OF_A_SCHEMA);
  }

  /** What a schema says itself may be long, and stand in many places. */
  private repeated(value: JsonValue): JsonValue {
    return this.work.take(JSON.stringify(value).length / CHARACTERS_OF_A_STEP) ? value : null;
  }

  /** Two schemas that both must hold. Of a rule that both state, the second counts. */
  private together(one: JsonObject, other: JsonObject): JsonObject {
    const properties = [one, other].map((schema) => schema['properties']).filter((named) => isJsonObject(named));
    const required = [...listOf(one['required']), ...listOf(other['required'])];
    const steps = properties.reduce<number>((sum, named) => sum + Object.keys(named).length, required.length);
    if (!this.work.take(steps)) return one;
    return {
      ...one,
      ...other,
      ...(properties.length > 0 && { properties: Object.assign({}, ...properties) as JsonObject }),
      ...(required.length > 0 && { required }),
    };
  }

  private ofType(schema: JsonObject, depth: number): JsonValue {
    const sent = schema['type'];
    const type: unknown = Array.isArray(sent) ? sent[0] : sent;
    switch (type) {
      case 'array':
        return this.array(schema, depth);
      case 'integer':
      case 'number':
        return exampleNumber(schema, type === 'integer');
      case 'boolean':
        return true;
      case 'null':
        return null;
      case 'string':
        return this.text(schema);
      default:
        return this.object(schema, depth);
    }
  }

  private array({ minItems, maxItems, items }: JsonObject, depth: number): JsonValue[] {
    const least = typeof minItems === 'number' ? minItems : 0;
    const most = typeof maxItems === 'number' ? maxItems : MAX_ITEMS;
    const length = Math.min(depth > SPARSE_DEPTH ? least : Math.max(1, least), most, MAX_ITEMS);
    return Array.from({ length }, () => this.of(items, depth + 1));
  }

  private object({ properties, required }: JsonObject, depth: number): JsonObject {
    const described = isJsonObject(properties) ? properties : {};
    const demanded = listOf(required).filter((name) => typeof name === 'string');
    const optional = depth > SPARSE_DEPTH ? [] : Object.keys(described);
    const names = [...new Set([...optional, ...demanded])];
    // Nothing is said of a property that is demanded and not described, so that a word will do.
    return Object.fromEntries(
      names.map((name) => [name, described[name] ? this.of(described[name], depth + 1) : this.word]),
    );
  }

  private text({ format, minLength, maxLength }: JsonObject): string {
    const text = FORMATS[typeof format === 'string' ? format : ''] ?? this.word;
    const padded = typeof minLength === 'number' ? text.padEnd(Math.min(minLength, 10_000), '.') : text;
    this.work.take(padded.length / CHARACTERS_OF_A_STEP);
    return typeof maxLength === 'number' ? padded.slice(0, maxLength) : padded;
  }
}

const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]) : [];
