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

/** Fields in which Postgres quotes rows, parameters and documents, and its class of errors whose message quotes a value. */
const QUOTING_NAMES = new Set('detail where hint internalquery originalmessage'.split(' '));
const BAD_VALUE = /^22/;
const BEFORE_VALUE = /^[^:"]*/;
const VALUE_IN_MODELS = /(Raw query failed\. Code: `22\w{3}`\. Message: `[^":`]*)[^]*/;

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
  const isHidden = isOfPostgres(value)
    ? (name: string) => isPrivate(name) || QUOTING_NAMES.has(plainName(name))
    : isPrivate;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, isHidden(name) ? REDACTED : redact(field, depth + 1)]),
  );
}

/** Of the own fields of an error only plain values stay: drivers hang whole connections on theirs. */
function redactError(error: Error, depth: number): Record<string, unknown> {
  const message = messageOf(error);
  const plain = Object.entries(error).filter(([, field]) => typeof field !== 'object' && typeof field !== 'function');
  return {
    ...redactFields(Object.fromEntries(plain), depth),
    type: error.name,
    message: redactText(message),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack.replace(error.message, () => message)) }),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  };
}

/** Every error of Postgres says how severe it is, in the driver's words and in those of the models. */
const isOfPostgres = (value: object): value is { readonly severity: unknown; readonly code?: unknown } =>
  'severity' in value;

/** Of a value that Postgres does not take, only what it is not: the message goes on with the value. */
function messageOf(error: Error): string {
  const quotes = isOfPostgres(error) && BAD_VALUE.test(String(error.code));
  return quotes ? `${BEFORE_VALUE.exec(error.message)?.[0].trimEnd()}: ${REDACTED}` : unquoted(error.message);
}

/** The same where the models tell of it. */
const unquoted = (message: string): string => message.replace(VALUE_IN_MODELS, `$1: ${REDACTED}`);

const plainName = (name: string): string => name.toLowerCase().replace(/[-_]/g, '');

function isPrivate(name: string): boolean {
  const plain = plainName(name);
  return PRIVATE_NAMES.has(plain) || PRIVATE_ENDINGS.test(plain);
}
