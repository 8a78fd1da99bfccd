import type { JsonScan } from './json-scan.js';
import { parsedJson, textOf } from './json-text.js';
import { parsedParts } from './long-strings.js';
import { keysIn, refuseKeys } from './object-keys.js';
import { nextTurn } from '#platform';

/** Bodies of more bytes are parsed in steps, with other work in between. */
const LARGE_BYTES = 256 * 1024;

const PROTO = Buffer.from('__proto__');

/**
 * The value that a scanned body is the JSON of. Each key stands once in its object and means what it reads as.
 *
 * @param bytes as they were scanned.
 * @param from where the JSON begins in them: behind a byte order mark.
 * @throws GatewayError `invalid_json`.
 */
export function readJson(bytes: Buffer, from: number, scan: JsonScan): unknown {
  if (bytes.length > LARGE_BYTES) return readLargeJson(bytes, from, scan);
  const text = textOf(from === 0 ? bytes : bytes.subarray(from));
  const value = parsedJson(text);
  if (mayHoldRefusedKeys(bytes, scan) || keysIn(value) !== scan.keys) refuseKeys(text);
  return value;
}

/** Long texts are decoded one by one; what is left is small, however large the body. */
async function readLargeJson(bytes: Buffer, from: number, scan: JsonScan): Promise<unknown> {
  const parts = await parsedParts(bytes, from, scan.longStrings);
  await nextTurn();
  const structure = textOf(parts.structure);
  const value = parsedJson(structure, (message) => message.replaceAll(parts.mark, '…'));
  await nextTurn();
  if (mayHoldRefusedKeys(parts.structure, scan) || keysIn(value) !== scan.keys) refuseKeys(structure);
  await nextTurn();
  return parts.restored(value);
}

const mayHoldRefusedKeys = (bytes: Buffer, scan: JsonScan): boolean => scan.hasEscapedKeys || bytes.includes(PROTO);
