/** A vendor that says when it serves again, before the time itself. Between them stand a few words, and never another sentence. */
const CUE = /\b(?:regain access|resets?|renews?|resumes?|try again|retry|again|available|until)\b[^.;\n]{0,60}?/.source;

/** `2026-12-01`, `2026-12-01 at 00:00 UTC`, `2026-12-01T08:00:00Z`, `2026-12-01 14:57:45 +0800 CST`. */
const DATE =
  /(\d{4}-\d{2}-\d{2})(?:(?:T| at | )(\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?)?(?:\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2}))?/.source;
const AT = new RegExp(`${CUE}\\b${DATE}`, 'i');

/** `in 3 hours`, `in 1h30m`, `after 2 days 4 hours`. */
const SPAN = /\d+(?:\.\d+)?\s*(?:days?|d|hours?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])/.source;
const AFTER = new RegExp(`${CUE}\\b(?:in|after) ((?:${SPAN}[\\s,]*(?:and )?){1,4})`, 'i');
const PARTS = /(\d+(?:\.\d+)?)\s*([dhms])/gi;
const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

/** What is further away is a mistake, in milliseconds. */
const FARTHEST_MS = 366 * 86_400_000;

/**
 * In how many milliseconds a vendor serves again by its own sentence, such as "You will regain access on 2026-12-01 at 00:00 UTC" or
 * "It will reset at 2026-11-28 14:57:45 +0800 CST"; undefined where it names no time to come. Dates without a zone are of UTC.
 */
export function resumesInMs(sentence: string, nowMs = Date.now()): number | undefined {
  const ms = untilDate(sentence, nowMs) ?? span(sentence);
  return ms !== undefined && ms > 0 && ms <= FARTHEST_MS ? Math.ceil(ms) : undefined;
}

function untilDate(sentence: string, nowMs: number): number | undefined {
  const [, day, time = '00:00', zone = 'Z'] = AT.exec(sentence) ?? [];
  if (day === undefined) return undefined;
  const offset = /^(?:z|utc|gmt)$/i.test(zone) ? 'Z' : zone.replace(/^(.\d\d):?(\d\d)$/, '$1:$2');
  const at = Date.parse(`${day}T${time}${offset}`);
  return Number.isNaN(at) ? undefined : at - nowMs;
}

function span(sentence: string): number | undefined {
  const [, parts] = AFTER.exec(sentence) ?? [];
  if (parts === undefined) return undefined;
  return [...parts.matchAll(PARTS)].reduce(
    (sum, [, amount = '0', unit = '']) => sum + Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? 0),
    0,
  );
}
