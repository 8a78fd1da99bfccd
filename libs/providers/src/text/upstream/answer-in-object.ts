import { isJsonObject, type JsonObject, type JsonValue, type OutputFormat, type TextEvent } from '#contracts';
import type { ProtocolCodec } from './protocol-codec.js';
import { isOneObject, referred } from './object-schema.js';

/** The field that holds an answer which is no object, in the one that the vendor is asked for. */
const FIELD = 'answer';

/** Protocols whose vendors answer by a schema only with one object. */
const OBJECTS_ONLY: ReadonlySet<ProtocolCodec['protocol']> = new Set(['chat', 'responses']);

/** The form of an answer as the vendors of a protocol take it. */
interface AcceptedFormat {
  readonly format: OutputFormat;
  /** True: what was asked for stands in a field of the answer, from which it is to be taken out. */
  readonly isInObject: boolean;
}

/** Lists, choices and plain values are asked for as the field of an object, where vendors answer with nothing else. */
export function withAnswerInObject(format: OutputFormat, protocol: ProtocolCodec['protocol']): AcceptedFormat {
  if (format.type !== 'json-schema' || !OBJECTS_ONLY.has(protocol)) return { format, isInObject: false };
  const schema = followed(format.schema);
  if (isOneObject(schema)) return { format: { ...format, schema: withFields(schema) }, isInObject: false };
  return { format: { ...format, schema: inObject(format.schema) }, isInObject: true };
}

/** The object that the root only refers to, as generators of schemas write it. */
function followed(schema: JsonObject): JsonObject {
  const { $ref: ref, ...beside } = schema;
  const target = referred(schema, ref);
  const written = isJsonObject(target) && target !== schema ? { ...target, ...beside } : schema;
  const { type, properties } = written;
  return type === undefined && isJsonObject(properties) ? { type: 'object', ...written } : written;
}

const withFields = (schema: JsonObject): JsonObject =>
  'properties' in schema ? schema : { ...schema, properties: {} };

function inObject(schema: JsonObject): JsonObject {
  const { $defs, definitions, ...root } = schema;
  return {
    type: 'object',
    properties: { [FIELD]: moved(root) },
    required: [FIELD],
    additionalProperties: false,
    ...($defs !== undefined && { $defs: moved($defs) }),
    ...(definitions !== undefined && { definitions: moved(definitions) }),
  };
}

const SHARED = /^#\/(\$defs|definitions)(\/|$)/;

/** References to the root and into it lead where it is now. */
function moved(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(moved);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([word, inside]) => [
      word,
      word === '$ref' && typeof inside === 'string' && /^#(\/|$)/.test(inside) && !SHARED.test(inside)
        ? `#/properties/${FIELD}${inside.slice(1)}`
        : moved(inside ?? null),
    ]),
  );
}

const OPENING = new RegExp(String.raw`^\s*\{\s*"${FIELD}"\s*:\s*`);
const BARE_OPENING = `{"${FIELD}":`;
/** In UTF-16 units. What has not opened the object by then is no object. */
const LONGEST_OPENING = 1_000;

/** Takes the answer of one reply out of its object, piece by piece. Words that are no such object stay as they are. */
export class AnswerTaker {
  private state: 'before' | 'inside' | 'plain' = 'before';
  /** What may belong to the object, and so must not go out yet. */
  private held = '';

  take(events: readonly TextEvent[]): readonly TextEvent[] {
    return events.flatMap((event) => {
      if (event.type === 'text') return said(this.push(event.text));
      if (event.type === 'citation' || event.type === 'start') return [event];
      const isCut = event.type === 'finish' && event.reason === 'length';
      return [...said(this.close(isCut)), event];
    });
  }

  private push(text: string): string {
    if (this.state === 'plain') return text;
    if (this.state === 'inside') return this.released(text);
    const all = this.held + text;
    const opening = OPENING.exec(all)?.[0];
    this.held = '';
    if (opening !== undefined) {
      this.state = 'inside';
      return this.released(all.slice(opening.length));
    }
    if (all.length <= LONGEST_OPENING && BARE_OPENING.startsWith(all.replaceAll(/\s+/g, ''))) {
      this.held = all;
      return '';
    }
    this.state = 'plain';
    return all;
  }

  /** All but the braces and spaces at the end, of which the last brace closes the object. Each character is looked at once. */
  private released(text: string): string {
    let end = text.length;
    while (end > 0 && ENDINGS.has(text[end - 1] ?? '')) end -= 1;
    const before = this.held;
    this.held = end === 0 ? before + text : text.slice(end);
    return end === 0 ? '' : before + text.slice(0, end);
  }

  private close(isCut: boolean): string {
    const held = this.state === 'inside' && !isCut ? withoutLastBrace(this.held) : this.held;
    this.state = 'before';
    this.held = '';
    return held;
  }
}

const ENDINGS: ReadonlySet<string> = new Set(['}', ' ', '\n', '\r', '\t']);

/** Braces and spaces without the last brace, and the spaces around it. */
function withoutLastBrace(endings: string): string {
  const brace = endings.lastIndexOf('}');
  return brace === -1 ? endings : endings.slice(0, brace).trimEnd();
}

const said = (text: string): TextEvent[] => (text === '' ? [] : [{ type: 'text', text }]);
