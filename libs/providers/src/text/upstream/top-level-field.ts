const QUOTE = 34;
const BACKSLASH = 92;

/** The index just behind the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  let end = start;
  for (;;) {
    end = json.indexOf('"', end + 1);
    if (end === -1) return json.length;
    let slashes = 0;
    while (json.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
}

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;

function skipSpace(json: string, start: number): number {
  let at = start;
  while (isSpace(json.charCodeAt(at))) at += 1;
  return at;
}

/** Where the value of a top-level field begins; undefined when there is no such field. */
function findValue(json: string, name: string): number | undefined {
  const key = JSON.stringify(name);
  let depth = 0;
  let found: number | undefined;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === 123 || code === 91) depth += 1;
    else if (code === 125 || code === 93) depth -= 1;
    else if (code === QUOTE) {
      const end = endOfString(json, at);
      const colon = skipSpace(json, end);
      if (depth === 1 && json.charCodeAt(colon) === 58 && json.slice(at, end) === key) {
        // The last of several counts, as it does for JSON.parse.
        found = skipSpace(json, colon + 1);
      }
      at = end - 1;
    }
  }
  return found;
}

/**
 * Replaces the string value of a top-level field in the text of a valid JSON object and leaves every other character as
 * it is. Long strings are skipped, not read, so a large body costs little. Unchanged when the field holds no string.
 */
export function replaceTopLevelString(json: string, name: string, value: string): string {
  const start = findValue(json, name);
  if (start === undefined || json.charCodeAt(start) !== QUOTE) return json;
  return json.slice(0, start) + JSON.stringify(value) + json.slice(endOfString(json, start));
}

/**
 * Adds a member to the object that a top-level field holds, and leaves every other character as it is. Null when the
 * field holds no object, or is written in a way that is not found.
 *
 * @param member `"name":value`
 */
export function addToTopLevelObject(json: string, name: string, member: string): string | null {
  const start = findValue(json, name);
  if (start === undefined || json[start] !== '{') return null;
  const isEmpty = json[skipSpace(json, start + 1)] === '}';
  return `${json.slice(0, start + 1)}${member}${isEmpty ? '' : ','}${json.slice(start + 1)}`;
}
