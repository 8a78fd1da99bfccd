const BYTES_PER_STEP = 1_000;
const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

export const formatCount = (count: number, language: string): string =>
  new Intl.NumberFormat(language, { maximumFractionDigits: 2 }).format(count);

export const formatShare = (share: number, language: string): string =>
  new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(share);

export function formatBytes(bytes: number, language: string): string {
  const step = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(BYTES_PER_STEP)));
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit: BYTE_UNITS[step] ?? 'byte',
    unitDisplay: 'short',
    maximumFractionDigits: step === 0 ? 0 : 1,
  }).format(bytes / BYTES_PER_STEP ** step);
}

/** The beginning and the end of an identifier, which are enough to recognise it. */
export const shortId = (id: string): string => (id.length <= 18 ? id : `${id.slice(0, 9)}…${id.slice(-5)}`);

type UnitNames = Readonly<Record<string, (count: number) => string>>;

/** The word for this many of a unit; the unit as the gateway writes it where there is no name yet. */
export const unitName = (names: UnitNames, unit: string, count: number): string =>
  (Object.hasOwn(names, unit) ? names[unit]?.(count) : undefined) ?? unit;
