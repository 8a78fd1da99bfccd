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
