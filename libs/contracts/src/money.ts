/** Millionths of the account's unit (1 USD = 1_000_000). Money is never a floating-point number. */
export type Micros = bigint;

export const MICROS_PER_UNIT = 1_000_000n;

/** The largest amount the database column holds: 2^63 - 1 micros. */
export const MAX_MICROS: Micros = 9_223_372_036_854_775_807n;

/** What a balance counts: a currency or tokens. */
export const BALANCE_UNITS = ['USD', 'CNY', 'Tokens'] as const;
export type BalanceUnit = (typeof BALANCE_UNITS)[number];

/** Writes micros as a decimal with six places: 1_250_000n is "1.250000". */
export function formatMicros(amount: Micros): string {
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(7, '0');
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** Writes micros as the shortest exact decimal, so that it can be a number in JSON: 1_250_000n is "1.25", 3_000_000n "3". */
export const shortDecimal = (amount: Micros): string => formatMicros(amount).replace(/\.?0+$/, '');

const DECIMAL = /^(-?)(\d{1,13})(?:\.(\d{1,6}))?$/;

/**
 * Reads a decimal such as "10", "0.05" or "-3.000001" as micros.
 *
 * @throws RangeError when the text is not a decimal with at most six places, or lies beyond 2^63 - 1 micros.
 */
export function parseMicros(text: string): Micros {
  const match = DECIMAL.exec(text);
  if (!match) throw new RangeError(`"${text}" is not a decimal with at most six places`);
  const magnitude = BigInt(match[2] ?? '0') * MICROS_PER_UNIT + BigInt((match[3] ?? '').padEnd(6, '0'));
  if (magnitude > MAX_MICROS)
    throw new RangeError(`"${text}" is more than the largest amount, ${formatMicros(MAX_MICROS)}`);
  return match[1] === '-' ? -magnitude : magnitude;
}

/** A number exactly as it was written: `digits` times ten to the power of minus `places`. Not below 0. */
export interface Decimal {
  readonly digits: bigint;
  /** 0 or more. */
  readonly places: number;
}

const WRITTEN = /^(\d{1,40})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/;

/**
 * Reads a number of JSON, or a text that holds one, as the decimal that was written: `1e-7` is 0.0000001 and nothing beside it. A number is
 * the shortest decimal that stands for it. Undefined: it is none, below 0, or beyond all sense.
 */
export function readDecimal(written: unknown): Decimal | undefined {
  const text = typeof written === 'number' ? String(written) : written;
  const match = typeof text === 'string' ? WRITTEN.exec(text) : null;
  if (!match) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return places < 0 ? { digits: digits * 10n ** BigInt(-places), places: 0 } : { digits, places };
}

/** The number times `by`, as a whole number; halves round up. */
export const timesWhole = ({ digits, places }: Decimal, by: bigint): bigint =>
  dividedHalfUp(digits * by, 10n ** BigInt(places));

/** Of numbers not below 0; halves round up. */
export const dividedHalfUp = (amount: bigint, by: bigint): bigint => (2n * amount + by) / (2n * by);
