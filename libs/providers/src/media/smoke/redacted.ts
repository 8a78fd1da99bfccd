import { isJsonObject, type JsonValue } from '#contracts';
import type { Exchange } from '../http/vendor-exchanges.js';

const MOST_TEXT = 2_000;
/** A link up to its query or fragment, wherever it stands in a text, and what follows. */
const SIGNED_PART = /(\bhttps?:\/\/[^\s"'?#]{1,2000})[?#][^\s"']*/gi;

/** An exchange fit for a fixture: no headers, no signatures of links, no files, nothing long. */
export const redacted = ({ request, reply }: Exchange): Record<string, unknown> => ({
  request: { method: request.method, path: request.path, body: request.body && plain(request.body) },
  reply: { status: reply.status, body: reply.body === undefined ? null : plain(reply.body) },
});

function plain(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(plain);
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
  if (typeof value !== 'string') return value;
  if (value.startsWith('data:')) return 'data:[file]';
  const unsigned = value.replace(SIGNED_PART, '$1');
  return unsigned.length > MOST_TEXT ? `${unsigned.slice(0, MOST_TEXT)}…` : unsigned;
}
