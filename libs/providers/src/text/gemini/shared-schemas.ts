import { isJsonObject, type JsonObject } from '#contracts';

const REFERENCE = /"\$ref":"#\/definitions\//g;

/** A schema whose shared parts stand in `$defs`: the interface does not know `definitions`, as older drafts name them. */
export function withSharedSchemas(schema: JsonObject): JsonObject {
  const { definitions, $defs, ...others } = schema;
  if (!isJsonObject(definitions)) return schema;
  const shared = { ...definitions, ...(isJsonObject($defs) && $defs) };
  const written = JSON.stringify({ ...others, $defs: shared });
  return JSON.parse(written.replace(REFERENCE, '"$$ref":"#/$$defs/')) as JsonObject;
}
