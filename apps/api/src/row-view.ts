import { formatMicros, wireNames } from '#contracts';

const MICROS = /^(.+)_micros$/;
const WHOLE = /^-?\d+$/;

/** A row of a table, with its columns named as the API names them; else as `viewOf`. */
export const viewOfRow = (row: object): object => viewOf(wireNames(row)) as object;

/**
 * A row as the API shows it: `x_micros` becomes `x`, a decimal text with six places; times become ISO texts; counts
 * become numbers, or texts beyond 2^53.
 */
export function viewOf(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(viewOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => viewOfField(name, field)));
}

function viewOfField(name: string, field: unknown): [string, unknown] {
  const amountName = MICROS.exec(name)?.[1];
  if (amountName === undefined) return [name, viewOf(field)];
  if (typeof field === 'bigint') return [amountName, formatMicros(field)];
  return typeof field === 'string' && WHOLE.test(field)
    ? [amountName, formatMicros(BigInt(field))]
    : [amountName, field];
}
