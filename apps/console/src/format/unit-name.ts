type UnitNames = Readonly<Record<string, (count: number) => string>>;

/** What so many of a unit are called; the unit as the gateway writes it where there is no name yet. */
export const unitName = (names: UnitNames, unit: string, count: number): string =>
  (Object.hasOwn(names, unit) ? names[unit]?.(count) : undefined) ?? unit;
