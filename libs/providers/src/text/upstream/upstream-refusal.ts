import { isJsonObject } from '#contracts';

/** What is read of an upstream's error object, in any of the protocols. */
export interface UpstreamRefusal {
  /** The sentence for people: it may repeat the prompt or name the gateway's key, so it is never logged. */
  readonly message: string | undefined;
  readonly param: string | undefined;
  /** The words for machines, in whatever field the protocol puts them. */
  readonly reasons: readonly string[];
  /** The most exact of them, where the protocol has a field for it. */
  readonly code: string | undefined;
}

/** Longest sentence that is passed on, in characters. */
const MAX_MESSAGE = 1_000;

/** What a word for machines looks like; anything else in such a field could be the caller's own text. */
const REASON = /^[A-Za-z][\w.-]{0,63}$/;

const isReason = (word: unknown): word is string => typeof word === 'string' && REASON.test(word);

/** The words for machines of a vendor's error object: `type`, `code`, `status`, and `reason` of its details. */
export function errorReasons(error: Readonly<Record<string, unknown>>): readonly string[] {
  const details: readonly unknown[] = Array.isArray(error['details']) ? error['details'] : [];
  const words = [error['type'], error['code'], error['status']];
  for (const detail of details) if (isJsonObject(detail)) words.push(detail['reason']);
  return words.filter(isReason);
}

/** Reads an error object; one that is none reads as an empty refusal. */
export function refusalOf(error: unknown): UpstreamRefusal {
  const { message, param, code, ...rest } = isJsonObject(error) ? error : {};
  return {
    message: typeof message === 'string' && message !== '' ? message.slice(0, MAX_MESSAGE) : undefined,
    param: typeof param === 'string' ? param : undefined,
    reasons: errorReasons({ code, ...rest }),
    code: isReason(code) ? code : undefined,
  };
}

/** Reads the body of a refusal. */
export function parseRefusal(body: string): UpstreamRefusal {
  try {
    const parsed: unknown = JSON.parse(body);
    // One protocol wraps its error object in an array when it streams.
    const outer: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    return refusalOf(isJsonObject(outer) && isJsonObject(outer['error']) ? outer['error'] : outer);
  } catch {
    return refusalOf(undefined);
  }
}
