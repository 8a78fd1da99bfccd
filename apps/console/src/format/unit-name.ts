type UnitNames = Readonly<Record<string, (count: number) => string>>;

/** The word for this many of a unit; the unit as the gateway writes it where there is no name yet. */
export const unitName = (names: UnitNames, unit: string, count: number): string =>
  (Object.hasOwn(names, unit) ? names[unit]?.(count) : undefined) ?? unit;
