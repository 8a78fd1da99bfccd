import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { parseBounded } from '#platform';

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

/** What else holds an error that a reseller hands on, and where it is written as a text. */
const ERROR_NAMES = ['error', 'detail', 'metadata', ...NAMES] as const;
const ERROR_TEXTS = ['message', 'msg', 'error', 'detail', 'raw'] as const;

/** Objects of a refusal that are looked at, at most. */
const MOST_ERRORS = 12;

/** What a refusal holds, from the outside in: resellers wrap an error as an object, or write it into a sentence of theirs. */
export function errorsIn(body: JsonObject): JsonObject[] {
  const found: JsonObject[] = [body];
  for (const around of found) {
    const texts = ERROR_TEXTS.map((name) => around[name]).filter((text) => typeof text === 'string');
    const inside = [...ERROR_NAMES.map((name) => around[name]), ...texts.map((text) => handedOn(text) as JsonValue)];
    found.push(...inside.map(objectIn).filter((each) => each !== undefined));
    if (found.length >= MOST_ERRORS) break;
  }
  return found.slice(0, MOST_ERRORS);
}

/** Characters of the words in front, at most. */
const MOST_IN_FRONT = 160;

/** Words of servers that hand on what another one said. In any other sentence JSON may be the caller's own. */
const IN_FRONT =
  /^(?:an?|api|bad|b|code|failed|from|http|litellm|provider|remote|response|returned|server|status|status_code|upstream|vendor|with|[45]\d\d|[\w.]{0,60}(?:error|exception))$/i;

/**
 * What another server said, out of a sentence that hands it on as JSON: `{"error":{…}}`, `upstream error: status_code=400, {"error":{…}}`,
 * `litellm.BadRequestError: AnthropicException - {…}. Received Model Group=…`. Undefined: the sentence is none of these.
 */
export function handedOn(sentence: string): unknown {
  const start = sentence.search(/[[{]/);
  if (start === -1 || start > MOST_IN_FRONT) return undefined;
  const words = sentence.slice(0, start).split(/[\s:;,=()'"-]+|\.\s/);
  if (!words.every((word) => word === '' || IN_FRONT.test(word))) return undefined;
  const end = sentence.lastIndexOf(sentence[start] === '{' ? '}' : ']');
  try {
    return parseBounded(sentence.slice(start, end + 1));
  } catch {
    return undefined;
  }
}
