const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;

/** The index just behind the string that begins at `start`. */
function endOfString(json: Buffer, start: number): number {
  let end = start;
  for (;;) {
    end = json.indexOf(QUOTE, end + 1);
    if (end === -1) return json.length;
    let slashes = 0;
    while (json[end - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
}

const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;

function skipSpace(json: Buffer, start: number): number {
  let at = start;
  while (isSpace(json[at])) at += 1;
  return at;
}

/** Where a top-level field stands: its name in quotes, and the beginning of its value. */
interface Place {
  readonly name: number;
  readonly nameEnd: number;
  readonly value: number;
}

/** Undefined when there is no such field. */
function findField(json: Buffer, name: string): Place | undefined {
  const key = Buffer.from(JSON.stringify(name));
  let depth = 0;
  let found: Place | undefined;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === BRACE || byte === BRACKET) depth += 1;
    else if (byte === BRACE_END || byte === BRACKET_END) depth -= 1;
    else if (byte === QUOTE) {
      const end = endOfString(json, at);
      if (depth === 1 && end - at === key.length && key.equals(json.subarray(at, end))) {
        const colon = skipSpace(json, end);
        // The last of several counts, as it does for JSON.parse.
        if (json[colon] === COLON) found = { name: at, nameEnd: end, value: skipSpace(json, colon + 1) };
      }
      at = end - 1;
    }
  }
  return found;
}

/**
 * Replaces the string value of a top-level field in a valid JSON object and leaves every other byte as it is. Long strings
 * are skipped, not read, and nothing is copied, so a large body costs little. Unchanged when the field holds no string.
 *
 * @returns what to send one after the other.
 */
export function replaceTopLevelString(json: Buffer, name: string, value: string): readonly Buffer[] {
  const start = findField(json, name)?.value;
  if (start === undefined || json[start] !== QUOTE) return [json];
  return [json.subarray(0, start), Buffer.from(JSON.stringify(value)), json.subarray(endOfString(json, start))];
}

/**
 * Adds a member to the object that a top-level field holds, and leaves every other byte as it is. Null when the field holds
 * no object, or is written in a way that is not found.
 *
 * @param member `"name":value`
 */
export function addToTopLevelObject(json: Buffer, name: string, member: string): Buffer | null {
  const start = findField(json, name)?.value;
  if (start === undefined || json[start] !== BRACE) return null;
  const isEmpty = json[skipSpace(json, start + 1)] === BRACE_END;
  const added = Buffer.from(isEmpty ? member : `${member},`);
  return Buffer.concat([json.subarray(0, start + 1), added, json.subarray(start + 1)]);
}

/**
 * Gives a top-level field another name, and leaves every other byte as it is. Null when it is not found, or another one has
 * that name: no object may have it twice.
 */
export function renameTopLevelField(json: Buffer, name: string, other: string): Buffer | null {
  const place = findField(json, name);
  if (place === undefined || findField(json, other) !== undefined) return null;
  return Buffer.concat([
    json.subarray(0, place.name),
    Buffer.from(JSON.stringify(other)),
    json.subarray(place.nameEnd),
  ]);
}
