import { DIFFERENT_KEYS_MAX, type JsonScan, nextTurn, parsedJson, parsedParts, textOf } from '#platform';
import { expectFewDifferentKeys, keysIn, refuseKeys } from './object-keys.js';

/** Bodies of more bytes are parsed in steps, with other work in between. At once is twice as fast, and takes 2 ms for so much. */
const LARGE_BYTES = 1024 * 1024;

/** Each pass over so many keys takes some milliseconds where they stand in one object. Parsing them is the first of six. */
const MANY_KEYS = 5_000;

/**
 * The value that a scanned body is the JSON of. Each key stands once in its object and means what it reads as.
 *
 * @param bytes as they were scanned.
 * @param from where the JSON begins in them: behind a byte order mark.
 * @throws GatewayError `invalid_json`.
 */
export function readJson(bytes: Buffer, from: number, scan: JsonScan): unknown {
  if (bytes.length > LARGE_BYTES) return readLargeJson(bytes, from, scan);
  const text = from === 0 ? textOf(bytes, scan.takeLatin1()) : textOf(bytes.subarray(from));
  return scan.keys > MANY_KEYS ? readManyKeys(text, scan) : unambiguous(text, scan);
}

async function readManyKeys(text: string, scan: JsonScan): Promise<unknown> {
  if (scan.keys > DIFFERENT_KEYS_MAX) expectFewDifferentKeys(text);
  await nextTurn();
  const value = unambiguous(text, scan);
  await nextTurn();
  return value;
}

function unambiguous(text: string, scan: JsonScan): unknown {
  const value = parsedJson(text);
  if (mayHoldRefusedKeys(text, scan) || keysIn(value) !== scan.keys) refuseKeys(text);
  return value;
}

/** Long texts are decoded one by one; what is left is small, however large the body. */
async function readLargeJson(bytes: Buffer, from: number, scan: JsonScan): Promise<unknown> {
  const parts = await parsedParts(bytes, from, scan.longStrings);
  await nextTurn();
  const structure = textOf(parts.structure);
  if (scan.keys > DIFFERENT_KEYS_MAX) {
    expectFewDifferentKeys(structure);
    await nextTurn();
  }
  const value = parsedJson(structure, (message) => message.replaceAll(parts.mark, '…'));
  await nextTurn();
  if (mayHoldRefusedKeys(structure, scan) || keysIn(value) !== scan.keys) refuseKeys(structure);
  await nextTurn();
  return parts.restored(value);
}

/** Text is searched several times faster than bytes are. */
const mayHoldRefusedKeys = (text: string, scan: JsonScan): boolean => scan.hasEscapedKeys || text.includes('__proto__');
