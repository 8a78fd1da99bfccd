import { type FunctionTool, isJsonObject, type JsonObject, type JsonValue } from '#contracts';

/**
 * Whether calls of a function are held to its schema. The interfaces differ in what they take then: one lets fields be left out, and
 * two refuse a schema in which some may be. There the function is one like any other.
 */
export const strictness = ({ parameters, strict }: FunctionTool): boolean | undefined =>
  strict === true && parameters && leavesOut(parameters) ? undefined : strict;

/** Whether some object in the schema has a field that may be absent. */
function leavesOut(schema: JsonValue): boolean {
  if (Array.isArray(schema)) return schema.some(leavesOut);
  if (!isJsonObject(schema)) return false;
  const { properties, required, ...others } = schema;
  const fields = isJsonObject(properties) ? properties : {};
  const needed: readonly JsonValue[] = Array.isArray(required) ? required : [];
  return Object.keys(fields).some((name) => !needed.includes(name)) || [fields, others].some(anyLeavesOut);
}

const anyLeavesOut = (schemas: JsonObject): boolean =>
  Object.values(schemas).some((schema) => typeof schema === 'object' && leavesOut(schema));
