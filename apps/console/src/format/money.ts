/** Signs of currencies; other units are named after the number. */
const SIGNS: Readonly<Record<string, string>> = { USD: '$', CNY: '¥' };

/** A decimal text of the server, taken apart without ever becoming a float. */
function parse(amount: string): { readonly isNegative: boolean; readonly whole: string; readonly places: string } {
  const [whole = '0', places = ''] = amount.replace(/^-/, '').split('.');
  return { isNegative: amount.startsWith('-') && /[1-9]/.test(amount), whole, places };
}

const grouped = (whole: string): string => whole.replace(/\B(?=(\d{3})+$)/g, ',');

/** With two places at least and as many as it needs: "0.25", "12.00", "0.000123". */
function shortPlaces(places: string): string {
  return places.replace(/0+$/, '').padEnd(2, '0');
}

/**
 * Money for people. `full` shows all six places, as the ledger does. The minus is the typographic one.
 * @param amount decimal text, as the server writes money
 */
export function formatMoney(amount: string, unit: string, full = false): string {
  const { isNegative, whole, places } = parse(amount);
  const number = `${grouped(whole)}.${full ? places.padEnd(6, '0') : shortPlaces(places)}`;
  const sign = SIGNS[unit];
  return `${isNegative ? '−' : ''}${sign === undefined ? `${number} ${unit}` : `${sign} ${number}`}`.replace(
    / /g,
    '\u00a0',
  );
}

/** Headlines: two places, unless that would hide the whole amount. */
export function formatHeadline(amount: string, unit: string): string {
  const { whole, places } = parse(amount);
  const isSmall = /^0*$/.test(whole) && places.startsWith('00');
  if (isSmall) return formatMoney(amount, unit);
  return formatMoney(`${amount.startsWith('-') ? '-' : ''}${roundedToCents(whole, places)}`, unit);
}

function roundedToCents(whole: string, places: string): string {
  const cents = BigInt(whole + places.padEnd(2, '0').slice(0, 2));
  const rounded = (Number(places[2] ?? '0') >= 5 ? cents + 1n : cents).toString().padStart(3, '0');
  return `${rounded.slice(0, -2)}.${rounded.slice(-2)}`;
}

/** Micros of a decimal text, for sums and comparisons. */
export function toMicros(amount: string): bigint {
  const { isNegative, whole, places } = parse(amount);
  const micros = BigInt(whole + places.padEnd(6, '0').slice(0, 6));
  return isNegative ? -micros : micros;
}

/** The decimal text of micros. */
export function fromMicros(micros: bigint): string {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, '0');
  return `${micros < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}
