import { isNativeError } from 'node:util/types';

/** What is in the log instead of a value that must not be there. */
export const REDACTED = '[redacted]';

/** Names are compared in lower case and without `-` and `_`. */
const PRIVATE_CREDENTIALS =
  'authorization proxyauthorization cookie setcookie key token accesstoken refreshtoken credentials';
const PRIVATE_CONTENTS =
  'prompt negativeprompt messages input contents instructions system body rawbody requestbody responsebody parameters arguments';
const PRIVATE_NAMES = new Set(`${PRIVATE_CREDENTIALS} ${PRIVATE_CONTENTS}`.split(' '));
const PRIVATE_ENDINGS = /(apikey|secret|password|pepper|signature)$/;

/** Begins where a scheme can begin and never in the middle of one, or each of its characters would start a search of its own. */
const ADDRESS = /(?<![a-z0-9+-])([a-z0-9+-]+:\/\/)(?:[^\s/@"'<>]*@)?([^\s?"'<>]*)(\?[^\s"'<>]*)?/gi;
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]+/gi;
const KEY_IN_TEXT = /\b(sk|gw|key)[-_][\w-]{12,}/gi;
/** Deeper values are cut: a log line is not an archive. */
const DEPTH_MAX = 6;

/**
 * A copy of a value that may be logged: values of private names are replaced, addresses lose their password and
 * query (signatures and keys live there), and keys inside texts are replaced. Errors become plain objects.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth >= DEPTH_MAX) return '[deeper]';
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  if (isNativeError(value)) return redactError(value, depth);
  return redactFields(value, depth);
}

/** The text without passwords and queries of addresses, bearer tokens and API keys. */
export const redactText = (text: string): string =>
  text
    .replace(ADDRESS, (_all, scheme: string, place: string, query?: string) =>
      query === undefined ? scheme + place : `${scheme}${place}?${REDACTED}`,
    )
    .replace(BEARER, `$1 ${REDACTED}`)
    .replace(KEY_IN_TEXT, REDACTED);

function redactFields(value: object, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, isPrivate(name) ? REDACTED : redact(field, depth + 1)]),
  );
}

/** Of the own fields of an error only plain values stay: drivers hang whole connections on theirs. */
function redactError(error: Error, depth: number): Record<string, unknown> {
  const plain = Object.entries(error).filter(([, field]) => typeof field !== 'object' && typeof field !== 'function');
  return {
    ...redactFields(Object.fromEntries(plain), depth),
    type: error.name,
    message: redactText(error.message),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  };
}

function isPrivate(name: string): boolean {
  const plain = name.toLowerCase().replace(/[-_]/g, '');
  return PRIVATE_NAMES.has(plain) || PRIVATE_ENDINGS.test(plain);
}
