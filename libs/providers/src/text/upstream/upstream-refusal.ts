import { isJsonObject } from '#contracts';
import { parseBounded } from '#platform';

/** What is read of an upstream's error object, in any of the protocols. */
export interface UpstreamRefusal {
  /** The sentence for people: it may repeat the prompt or name the gateway's key, so it is never logged. */
  readonly message: string | undefined;
  readonly param: string | undefined;
  /** The words for machines, in whatever field the protocol puts them. */
  readonly reasons: readonly string[];
  /** The most exact of them, where the protocol has a field for it. */
  readonly code: string | undefined;
  /** The HTTP status it names, which servers repeat where they report a failure inside a reply. */
  readonly status: number | undefined;
  /** How long it asks callers to wait, in milliseconds. */
  readonly waitMs: number | undefined;
}

/** Longest sentence that is passed on, in characters. */
const MAX_MESSAGE = 1_000;

/** What a word for machines looks like; anything else in such a field could be the caller's own text. */
const REASON = /^[A-Za-z][\w.-]{0,63}$/;

const isReason = (word: unknown): word is string => typeof word === 'string' && REASON.test(word);

/** The words for machines of a vendor's error object: `type`, `code`, `status`, and `reason` of its details. */
export function errorReasons(error: Readonly<Record<string, unknown>>): readonly string[] {
  const words = [error['type'], error['code'], error['status']];
  for (const { reason } of detailsOf(error)) words.push(reason);
  return words.filter(isReason);
}

function detailsOf({ details }: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(details) ? (details as unknown[]).filter(isJsonObject) : [];
}

/** One protocol names the time to wait among the details, in seconds: `37s`, `0.5s`. */
function waitIn(error: Readonly<Record<string, unknown>>): number | undefined {
  const waits = detailsOf(error).map(({ retryDelay }) =>
    typeof retryDelay === 'string' ? /^(\d+(\.\d+)?)s$/.exec(retryDelay)?.[1] : undefined,
  );
  const seconds = waits.find((wait) => wait !== undefined);
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

const STATUS = /^[45]\d\d$/;

/** A number, which some servers write as a text. */
const statusIn = (code: unknown): number | undefined => (STATUS.test(String(code)) ? Number(code) : undefined);

/** The sentence, of a list of complaints about fields the first one's. */
function sentenceIn(said: unknown): string | undefined {
  if (typeof said === 'string') return said === '' ? undefined : said.slice(0, MAX_MESSAGE);
  if (Array.isArray(said)) return sentenceIn(said[0]);
  return isJsonObject(said) ? sentenceIn(said['detail'] ?? said['msg']) : undefined;
}

/** Reads an error object; one that is none reads as an empty refusal. */
export function refusalOf(error: unknown): UpstreamRefusal {
  const { message, param, code, ...rest } = isJsonObject(error) ? error : {};
  return {
    message: sentenceIn(message),
    param: typeof param === 'string' ? param : undefined,
    reasons: errorReasons({ code, ...rest }),
    code: isReason(code) ? code : undefined,
    status: statusIn(code),
    waitMs: waitIn(rest),
  };
}

/** The error object of a body; some servers write its sentence in its place. */
function errorIn(body: unknown): unknown {
  // One protocol wraps its error object in an array when it streams.
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(outer)) return outer;
  const { error, message, detail, ...others } = outer;
  return isJsonObject(error) ? error : { ...others, message: error ?? message ?? detail };
}

/** Reads the body of a refusal. */
export function parseRefusal(body: string): UpstreamRefusal {
  try {
    return refusalOf(errorIn(parseBounded(body)));
  } catch {
    return refusalOf(undefined);
  }
}
