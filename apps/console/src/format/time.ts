const DAY_MS = 86_400_000;
const STEPS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

/** The medium date and the short time, which cannot be asked for by these names with a zone. */
const DATE_TIME_ZONE: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
};

/** A moment as the server gives it: ISO 8601 or Unix seconds. */
export type Moment = string | number;

export const toDate = (moment: Moment): Date => new Date(typeof moment === 'number' ? moment * 1000 : moment);

/** Relative within a day, then the date with its time. */
export function formatMoment(moment: Moment, language: string, nowMs = Date.now()): string {
  const date = toDate(moment);
  const distance = date.getTime() - nowMs;
  if (Math.abs(distance) >= DAY_MS) return formatDateTime(moment, language);
  const [unit, ms] = STEPS.find((step) => Math.abs(distance) >= step[1]) ?? ['second', 1_000];
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }).format(
    Math.round(distance / ms),
    unit,
  );
}

/** @param withZone names the reader's zone, in which the time is. */
export const formatDateTime = (moment: Moment, language: string, withZone = false): string =>
  new Intl.DateTimeFormat(language, withZone ? DATE_TIME_ZONE : { dateStyle: 'medium', timeStyle: 'short' }).format(
    toDate(moment),
  );

/** The time of day, to the second. */
export const formatClock = (moment: Moment, language: string): string =>
  new Intl.DateTimeFormat(language, { timeStyle: 'medium' }).format(toDate(moment));

/** A day of the form 2026-11-22, which stands for itself in every zone. */
export const formatDay = (day: string, language: string): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`));

export const formatSeconds = (seconds: number, language: string): string =>
  new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'second',
    unitDisplay: 'short',
    maximumFractionDigits: 1,
  }).format(seconds);

/** The day this many days before today in a time zone, as 2026-11-22. */
export function dayAgo(days: number, timeZone = 'UTC', nowMs = Date.now()): string {
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(nowMs);
  return new Date(Date.parse(`${today}T00:00:00Z`) - days * DAY_MS).toISOString().slice(0, 10);
}
