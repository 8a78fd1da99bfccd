import { getMetadataStorage } from 'class-validator';
import { type JsonObject, type JsonValue, omitUndefined } from '#contracts';
import { fieldsOf } from '#platform';
import { inQuery } from './operation.js';

type InputClass = new () => object;
type Check = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/** A day, such as 2026-11-20. */
export const DAY_FORM = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

/** What the document says of a field beside its checks. */
interface Said {
  readonly note?: string | undefined;
  /** The class of what a list of objects holds. */
  readonly entries?: InputClass;
  /** Where its class extends one in which the field may be left out. */
  readonly isRequired?: true;
}

const said = new Map<object, Map<string, Said>>();

/** Says in the document what a field means. */
export const Described =
  (note?: string, facts: Omit<Said, 'note'> = {}): PropertyDecorator =>
  (prototype, name) => {
    const fields = said.get(prototype) ?? new Map<string, Said>();
    said.set(prototype, fields.set(String(name), { note, ...facts }));
  };

/** The schema of a body: what the checks of its class let in. */
export function schemaOfInput(inputClass: InputClass): JsonObject {
  const usual: Readonly<Record<string, unknown>> = { ...new inputClass() };
  const all = getMetadataStorage().getTargetValidationMetadatas(inputClass, '', false, false);
  const fields = fieldsOf(inputClass).map((name) => ({
    name,
    checks: all.filter((each) => each.propertyName === name),
  }));
  const required = fields.filter(
    ({ name, checks }) =>
      saidOf(inputClass, name).isRequired ?? (usual[name] === undefined && !letsIn(checks, name, undefined)),
  );
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required: required.map(({ name }) => name) }),
    properties: Object.fromEntries(
      fields.map(({ name, checks }): [string, JsonObject] => {
        const { note, entries } = saidOf(inputClass, name);
        const { type, ...rest } = schemaOfField(checks, entries);
        const mayBeNull = letsIn(checks, name, null) && !checks.some((check) => check.name === 'isOptional');
        return [
          name,
          {
            ...(type !== undefined && { type: mayBeNull ? [type, 'null'] : type }),
            ...rest,
            ...(usual[name] !== undefined && { default: usual[name] as JsonValue }),
            ...(note !== undefined && { description: note }),
          },
        ];
      }),
    ),
  };
}

/** The parameters of a query: what the checks of its class let in. */
export const queryOf = (inputClass: InputClass): JsonObject[] =>
  Object.entries(schemaOfInput(inputClass)['properties'] as Readonly<Record<string, JsonObject>>).map(
    ([name, { description: _said, ...schema }]) => inQuery(name, saidOf(inputClass, name).note ?? '', schema),
  );

/** That of the class itself comes before that of the class that it extends. */
function saidOf(inputClass: InputClass, name: string): Said {
  for (let at: object | null = inputClass.prototype as object; at; at = Object.getPrototypeOf(at) as object | null) {
    const found = said.get(at)?.get(name);
    if (found) return found;
  }
  return {};
}

/** Whether a field with this value is not looked at any further. */
const letsIn = (checks: readonly Check[], name: string, value: unknown): boolean =>
  checks.some(
    (check) =>
      check.type === 'conditionalValidation' &&
      !(check.constraints[0] as (object: object, value: unknown) => boolean)({ [name]: value }, value),
  );

function schemaOfField(checks: readonly Check[], entries: InputClass | undefined): JsonObject {
  const of = (name: string): unknown => checks.find((check) => check.name === name)?.constraints[0];
  const has = (name: string) => checks.some((check) => check.name === name);
  if (has('isArray') || has('arrayMaxSize')) {
    const each = schemaOfField(
      checks.filter((check) => check.each),
      undefined,
    );
    return schema({
      type: 'array',
      items: entries ? schemaOfInput(entries) : each,
      minItems: of('arrayMinSize'),
      maxItems: of('arrayMaxSize'),
    });
  }
  if (has('isInt')) return schema({ type: 'integer', minimum: of('min'), maximum: of('max') });
  if (has('isBoolean')) return { type: 'boolean' };
  if (has('isObject')) return { type: 'object' };
  if (has('isIso8601')) return { type: 'string', format: 'date-time' };
  if (has('isIn')) return schema({ type: 'string', enum: of('isIn') });
  const form = of('matches');
  if (form === DAY_FORM) return { type: 'string', format: 'date' };
  const pattern = form instanceof RegExp ? form.source : undefined;
  return ['isString', 'matches', 'isTimeZoneName', 'isMillionths'].some(has)
    ? schema({ type: 'string', minLength: of('minLength'), maxLength: of('maxLength'), pattern })
    : {};
}

/** Without what no check says. */
const schema = (parts: Readonly<Record<string, unknown>>): JsonObject =>
  omitUndefined(parts as Readonly<Record<string, JsonValue | undefined>>);
