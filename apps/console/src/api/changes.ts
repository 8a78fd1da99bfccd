/**
 * What a form changed of what it was opened with: only that is sent, so that it does not take back what somebody else changed
 * meanwhile.
 */
export function changesOf<Settings extends object>(before: Settings, after: Settings): Partial<Settings> {
  const isChanged = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(before[name as keyof Settings]);
  return Object.fromEntries(Object.entries(after).filter(isChanged)) as Partial<Settings>;
}
