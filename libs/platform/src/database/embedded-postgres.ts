import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { makeDataFolder } from '../data-folder.js';
import { lockDataFolder } from './data-folder-lock.js';
import {
  clusterOf,
  DATABASE,
  findPostmaster,
  postmasterFile,
  readRemembered,
  type Remembered,
  ROLE,
  urlOf,
  writeRemembered,
} from './embedded-postgres-address.js';
import { EmbeddedPostgresError, explainPostgresFailure } from './embedded-postgres-error.js';
import {
  findPostgresPrograms,
  findPostgresUser,
  type PostgresPrograms,
  type PostgresUser,
} from './postgres-programs.js';

const INITIALISE_TIMEOUT_MS = 60_000;
/** Long enough to replay the log after a crash. */
const START_TIMEOUT_SECONDS = 60;
const STOP_TIMEOUT_SECONDS = 10;

export interface EmbeddedPostgres {
  /** Connection string of the gateway's database; it holds the password. */
  readonly url: string;
  /** True when the server was still running from a process that died without stopping it. */
  readonly adopted: boolean;
  /** Stops the server within about 15 seconds and gives the folder back. Safe to repeat. */
  readonly stop: () => Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** How many connections it must allow; a running server that allows fewer is started anew. Default: what Postgres allows. */
  readonly connections?: number;
  /** Server settings by name, for example `{ fsync: 'off' }` for tests. */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * Starts Postgres with its data in `<dataDir>/postgres`, which is created at the first start. The server listens on
 * 127.0.0.1 on a port of its own that stays the same as long as it is free, and asks for a random password.
 *
 * The server is no child of this process group, so Ctrl-C does not stop it before running work is safe; a server that
 * outlived a killed gateway is adopted by the next one.
 *
 * @throws AlreadyRunningError when a living process uses the folder.
 * @throws EmbeddedPostgresError with one line for every other obstacle: no space, no permission, no programs.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  options: EmbeddedPostgresOptions = {},
): Promise<EmbeddedPostgres> {
  const folder = resolve(dataDir);
  const lock = takeFolder(folder);
  try {
    // An exit that waits for nothing, as at a second Ctrl-C, must not leave the server behind.
    const endServer = (): void => endPostmaster(folder);
    process.on('exit', endServer);
    const server = await PostgresServer.open(folder, options);
    const adopted = await server.start();
    let stopping: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      await server.stop().finally(() => {
        process.off('exit', endServer);
        lock.release();
      });
    };
    return { url: server.url, adopted, stop: () => (stopping ??= stop()) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Tells the server to stop by itself, its data in order; waits for nothing. */
function endPostmaster(folder: string): void {
  try {
    const running = findPostmaster(clusterOf(folder));
    if (running) process.kill(running.processId, 'SIGINT');
  } catch {
    // It is gone already.
  }
}

function takeFolder(folder: string) {
  try {
    makeDataFolder(folder);
    return lockDataFolder(folder);
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw explainPostgresFailure('Writing', folder, String(error));
  }
}

class PostgresServer {
  private readonly cluster: string;

  private constructor(
    private readonly folder: string,
    private readonly programs: PostgresPrograms,
    private readonly user: PostgresUser,
    private readonly options: EmbeddedPostgresOptions,
    private remembered: Remembered,
  ) {
    this.cluster = clusterOf(folder);
  }

  static async open(folder: string, options: EmbeddedPostgresOptions): Promise<PostgresServer> {
    const programs = findPostgresPrograms();
    const user = findPostgresUser([clusterOf(folder), programs.postgres]);
    const remembered = readRemembered(folder) ?? { password: randomBytes(24).toString('base64url'), port: 0 };
    const server = new PostgresServer(folder, programs, user, options, remembered);
    if (!existsSync(server.cluster)) await server.initialise();
    return server;
  }

  get url(): string {
    return urlOf(this.remembered, DATABASE);
  }

  /** Answers whether a running server was adopted. */
  async start(): Promise<boolean> {
    if (await this.adopt()) return true;
    // No server works on the folder, so a file that names one is left from a crash.
    rmSync(postmasterFile(this.cluster), { force: true });
    await this.launch();
    await this.createDatabase();
    return false;
  }

  async stop(): Promise<void> {
    if (findPostmaster(this.cluster) === undefined) return;
    try {
      await this.control('stop', '-m', 'fast', '-t', String(STOP_TIMEOUT_SECONDS));
    } catch {
      // Immediate loses nothing that was committed: the next start replays the log.
      await this.control('stop', '-m', 'immediate', '-t', '5').catch((error: unknown) => {
        if (findPostmaster(this.cluster) !== undefined) throw this.explain('Stopping Postgres', error);
      });
    }
  }

  /** Builds the cluster beside its final place, so that a crash in the middle never leaves half of one. */
  private async initialise(): Promise<void> {
    const unfinished = `${this.cluster}.new`;
    const passwordFile = join(this.folder, 'password.tmp');
    try {
      rmSync(unfinished, { recursive: true, force: true });
      mkdirSync(unfinished, { mode: 0o700 });
      this.user.own(unfinished);
      writeFileSync(passwordFile, this.remembered.password, { mode: 0o600 });
      this.user.own(passwordFile);
      this.remember(this.remembered);
      const settings = [`--pgdata=${unfinished}`, `--username=${ROLE}`, `--pwfile=${passwordFile}`];
      settings.push('--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions');
      // Stretching protects passwords that can be guessed. Of a random one it only makes each connection take twice the processor time.
      settings.push('--set=scram_iterations=1');
      await this.user.run(this.programs.initdb, settings, INITIALISE_TIMEOUT_MS);
      renameSync(unfinished, this.cluster);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      throw this.explain('Creating the database', error);
    } finally {
      rmSync(passwordFile, { force: true });
    }
  }

  private async adopt(): Promise<boolean> {
    const running = findPostmaster(this.cluster);
    if (running === undefined) return false;
    this.remember({ ...this.remembered, port: running.port });
    try {
      const allowed = await this.createDatabase();
      if (allowed >= (this.options.connections ?? 0)) return true;
    } catch {
      // It may be stopping, or beyond help: in both cases it must be gone before another may start.
    }
    await this.stop();
    return false;
  }

  private async launch(): Promise<void> {
    this.requireSameVersion();
    const startupLog = join(this.cluster, 'startup.log');
    for (let attempt = 1; ; attempt += 1) {
      this.remember({ ...this.remembered, port: await freePort(this.remembered.port) });
      rmSync(startupLog, { force: true });
      try {
        const seconds = String(START_TIMEOUT_SECONDS);
        return await this.control('start', '-w', '-t', seconds, '-l', startupLog, '-o', this.serverOptions());
      } catch (error) {
        const output = existsSync(startupLog) ? readFileSync(startupLog, 'utf8') : String(error);
        // A taken port is chosen again; children of a killed server need a moment to notice and leave.
        const passing = /address already in use|pre-existing shared memory|is another postmaster/i.test(output);
        if (!passing || attempt === 5) throw this.explain('Starting Postgres', error, output);
        await sleep(500);
      }
    }
  }

  private serverOptions(): string {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(this.remembered.port),
      unix_socket_directories: '',
      logging_collector: 'on',
      log_directory: 'log',
      // One file for each weekday, overwritten after a week: the log never fills the disk.
      log_filename: 'postgres-%a.log',
      log_truncate_on_rotation: 'on',
      ...(this.options.connections && { max_connections: String(this.options.connections) }),
      ...this.options.settings,
    };
    return Object.entries(settings)
      .map(([name, value]) => `-c ${name}='${value}'`)
      .join(' ');
  }

  private requireSameVersion(): void {
    const stored = readFileSync(join(this.cluster, 'PG_VERSION'), 'utf8').trim();
    const manifest = readFileSync(join(this.programs.postgres, '..', '..', '..', 'package.json'), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    if (version.split('.')[0] === stored) return;
    throw new EmbeddedPostgresError(
      `DATA_DIR ${this.folder} has data of Postgres ${stored}, but the installed Postgres is version ${version}: ` +
        'move the data with pg_dump and pg_restore, or use the earlier package.',
    );
  }

  /** Makes the database when it is not there. @returns how many connections the server allows. */
  private async createDatabase(): Promise<number> {
    const client = new Client({
      connectionString: urlOf(this.remembered, 'postgres'),
      connectionTimeoutMillis: 10_000,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const existing = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
      if (existing.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
      const { rows } = await client.query<{ max_connections: string }>('SHOW max_connections');
      return Number(rows[0]?.max_connections);
    } catch (error) {
      throw this.explain('Opening the database', error);
    } finally {
      await client.end();
    }
  }

  private async control(command: 'start' | 'stop', ...options: string[]): Promise<void> {
    const limitMs = (START_TIMEOUT_SECONDS + 5) * 1000;
    await this.user.run(this.programs.pgCtl, [command, '-D', this.cluster, '-s', ...options], limitMs);
  }

  private remember(remembered: Remembered): void {
    this.remembered = remembered;
    writeRemembered(this.folder, remembered);
  }

  private explain(attempt: string, error: unknown, output = ''): EmbeddedPostgresError {
    const printed = error as { stdout?: string; stderr?: string };
    const said = [output, printed.stdout ?? '', printed.stderr ?? ''].join('\n');
    return explainPostgresFailure(attempt, this.folder, said.trim() === '' ? String(error) : said);
  }
}

/** The wanted port when it is free, else any free one. */
async function freePort(wanted: number): Promise<number> {
  return (await listensOn(wanted)) ?? (await listensOn(0)) ?? 0;
}

function listensOn(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const { port: found } = server.address() as AddressInfo;
      server.close(() => resolve(found));
    });
  });
}
