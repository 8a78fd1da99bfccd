import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';

function lowerCaseTypes(value: JsonValue, key: string): JsonValue {
  if (typeof value === 'string') return key === 'type' ? value.toLowerCase() : value;
  if (Array.isArray(value)) return value.map((entry: JsonValue) => lowerCaseTypes(entry, key));
  if (!isJsonObject(value)) return value;
  const nameIsOurs = key !== 'properties';
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, lowerCaseTypes(entry, nameIsOurs ? name : '')]),
  );
}

/** The style's own schema dialect writes types in capitals ("STRING"); JSON Schema wants them small. */
export const jsonSchemaOf = (schema: JsonObject): JsonObject => lowerCaseTypes(schema, '') as JsonObject;
