import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';

/** What resellers and proxies call that which their own upstream said. */
const NAMES = ['data', 'output', 'result', 'response', 'task'] as const;

/** How often a reseller may wrap what it passes on. */
const MOST_WRAPPINGS = 4;

const objectIn = (value: JsonValue | undefined): JsonObject | undefined => {
  const [first]: readonly (JsonValue | undefined)[] = Array.isArray(value) ? value : [value];
  return isJsonObject(first) ? first : undefined;
};

/** What a reply holds, from the outside in: resellers wrap what their own upstream says in an envelope of theirs. */
export function wrappedIn(body: JsonObject): JsonObject[] {
  const found: JsonObject[] = [body];
  for (let depth = 0; depth < MOST_WRAPPINGS; depth += 1) {
    const around = found.at(-1);
    const inside = NAMES.map((name) => objectIn(around?.[name])).find((value) => value !== undefined);
    if (inside === undefined) break;
    found.push(inside);
  }
  return found;
}

/** A reply as its vendor wrote it: the innermost object with one of these fields, else all of it. */
export const withoutEnvelope = (body: JsonObject, marks: readonly string[]): JsonObject =>
  wrappedIn(body).findLast((each) => marks.some((mark) => each[mark] !== undefined && each[mark] !== null)) ?? body;
