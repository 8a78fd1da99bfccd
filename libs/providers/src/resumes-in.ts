/** A vendor that says when it serves again, before the time itself. Between them stand a few words, and never another sentence. */
const CUE =
  /\b(?:regain access|resets?|renews?|refresh(?:es|ed)?|restored?|resumes?|try again|retry|again|available|until)\b[^.;\n]{0,60}?/
    .source;

/** `2026-12-01`, `2026/12/01`, `December 1, 2026`, `Dec. 1, 2026`, `01 Dec 2026`. */
const DAY = /\d{4}[-/]\d{2}[-/]\d{2}|[a-z]{3,9}\.? \d{1,2},? \d{4}|\d{1,2} [a-z]{3,9}\.? \d{4}/.source;

/** One of these, `2026-12-01 at 00:00 UTC`, `2026-12-01T08:00:00Z`, `2026-12-01 14:57:45 +0800 CST`. */
const DATE = String.raw`(${DAY})(?:(?:T| at | )(\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?)?(?:\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2}))?`;
const AT = new RegExp(String.raw`${CUE}\b${DATE}`, 'i');
/** `resets at 1795996800`: seconds since 1970, or thousandths of them. */
const MOMENT = new RegExp(String.raw`${CUE}\b(\d{10})(\d{3})?\b`, 'i');
/** Vendors in China say it behind the time. */
const AT_IN_FRONT = new RegExp(String.raw`\b${DATE}\s?(?:后)?(?:自动)?(?:重置|恢复|刷新|重试|再试)`, 'i');

/** `in 3 hours`, `in 1h30m`, `after 2 days 4 hours`. */
const SPAN = /\d+(?:\.\d+)?\s*(?:weeks?|w|days?|d|hours?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])/.source;
const AFTER = new RegExp(String.raw`(?:${CUE}\b(?:in|after)|\bwait(?: for)?) ((?:${SPAN}[\s,]*(?:and )?){1,4})`, 'i');
const PARTS = /(\d+(?:\.\d+)?)\s*([wdhms])/gi;
const UNIT_MS: Readonly<Record<string, number>> = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** What is further away is a mistake, in milliseconds. */
const FARTHEST_MS = 366 * 86_400_000;

/**
 * In how many milliseconds a vendor serves again by its own sentence, such as "You will regain access on 2026-12-01 at 00:00 UTC" or
 * "It will reset at 2026-11-28 14:57:45 +0800 CST"; undefined where it names no time to come. Dates without a zone are of UTC.
 */
export function resumesInMs(sentence: string, nowMs = Date.now()): number | undefined {
  const ms = untilDate(sentence, nowMs) ?? untilMoment(sentence, nowMs) ?? span(sentence);
  return ms !== undefined && ms > 0 && ms <= FARTHEST_MS ? Math.ceil(ms) : undefined;
}

function untilMoment(sentence: string, nowMs: number): number | undefined {
  const [, seconds] = MOMENT.exec(sentence) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1_000 - nowMs;
}

function untilDate(sentence: string, nowMs: number): number | undefined {
  const [, said, time = '00:00', zone = 'Z'] = AT.exec(sentence) ?? AT_IN_FRONT.exec(sentence) ?? [];
  const day = said && isoDay(said);
  if (day === undefined) return undefined;
  const offset = /^(?:z|utc|gmt)$/i.test(zone) ? 'Z' : zone.replace(/^(.\d\d):?(\d\d)$/, '$1:$2');
  const at = Date.parse(`${day}T${time}${offset}`);
  return Number.isNaN(at) ? undefined : at - nowMs;
}

/** The day as `2026-12-01`; undefined where its month is none. */
function isoDay(said: string): string | undefined {
  if (/^\d{4}/.test(said)) return said.replaceAll('/', '-');
  const month = MONTHS.indexOf(/[a-z]{3}/i.exec(said)?.[0].toLowerCase() ?? '') + 1;
  const [, day = ''] = /\b(\d{1,2})\b/.exec(said) ?? [];
  return month === 0 ? undefined : [said.slice(-4), month, day].map((part) => String(part).padStart(2, '0')).join('-');
}

function span(sentence: string): number | undefined {
  const [, parts] = AFTER.exec(sentence) ?? [];
  if (parts === undefined) return undefined;
  return [...parts.matchAll(PARTS)].reduce(
    (sum, [, amount = '0', unit = '']) => sum + Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? 0),
    0,
  );
}
