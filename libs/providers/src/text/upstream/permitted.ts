import { isJsonObject, type JsonObject, type NativeBody, permits, type UpstreamPolicy } from '#contracts';

const BETA = 'anthropic-beta';

/** The caller's headers with only those betas that the policy lists. */
export function permittedHeaders(
  headers: Readonly<Record<string, string>>,
  { betas }: UpstreamPolicy,
): Readonly<Record<string, string>> {
  const { [BETA]: sent, ...others } = headers;
  if (sent === undefined) return headers;
  const passed = sent
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '' && permits(betas, beta));
  return passed.length === 0 ? others : { ...others, [BETA]: passed.join(',') };
}

/** The body without the fields whose price nobody knows. */
export function pricedBody(
  native: NativeBody,
  unknownFields: readonly string[] = [],
  { fields }: UpstreamPolicy,
): NativeBody {
  const left = unknownFields.filter((name) => !permits(fields, name));
  if (left.length === 0) return native;
  const body = native.kind === 'rewritten' ? native.body : native.parsed();
  return { kind: 'rewritten', body: without(body, new Set(left), '') };
}

/** Names are compared in camelCase as well, in which one style allows them. */
const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());

function without(body: JsonObject, left: ReadonlySet<string>, path: string): JsonObject {
  const kept: Record<string, JsonObject[string]> = {};
  for (const [name, value] of Object.entries(body)) {
    const camel = camelCase(name);
    if (left.has(path + name) || left.has(path + camel)) continue;
    const isConfig = path === '' && camel === 'generationConfig' && isJsonObject(value);
    kept[name] = isConfig ? without(value, left, 'generationConfig.') : value;
  }
  return kept;
}
