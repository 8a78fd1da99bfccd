/**
 * The fields that a form changed since it was opened: only those are sent, so that changes made by others meanwhile are kept.
 */
export function changesOf<Settings extends object>(before: Settings, after: Settings): Partial<Settings> {
  const isChanged = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(before[name as keyof Settings]);
  return Object.fromEntries(Object.entries(after).filter(isChanged)) as Partial<Settings>;
}
