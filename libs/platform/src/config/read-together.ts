import { ConfigError } from './load-config.js';

/** Reads one part of the settings of a process. @throws ConfigError with one line for each mistake. */
export type SettingsReaders = Readonly<Record<string, () => unknown>>;

/** What the readers answer, by their names. */
export type SettingsOf<Readers extends SettingsReaders> = {
  readonly [Name in keyof Readers]: ReturnType<Readers[Name]>;
};

/**
 * Runs every reader, so that the mistakes of all of them are reported at once.
 *
 * @throws ConfigError with one line for each mistake.
 */
export function readTogether<Readers extends SettingsReaders>(readers: Readers): SettingsOf<Readers> {
  const problems: string[] = [];
  const read = Object.entries(readers).map(([name, reader]) => {
    try {
      return [name, reader()];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
      return [name, undefined];
    }
  });
  // Two readers may read the same variable.
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
  return Object.fromEntries(read) as SettingsOf<Readers>;
}
