import {
  announce,
  ConfigError,
  configureLog,
  explainMisspelt,
  logProcessEvents,
  isConnectionError,
  loadConfig,
  loadEnvironmentFile,
  LogConfig,
  logger,
  misspeltVariables,
  readTogether,
  ServerConfig,
  type SettingsOf,
  type SettingsReaders,
  startTracing,
  type Tracing,
} from '#platform';
import { parentProcess } from './children/parent-process.js';
import { readProcessConfig, type ProcessConfig } from './config/process-config.js';
import { makeObjectsYoung } from './young-objects.js';

export interface RunningProcess {
  /** What it does from now on, in one line. */
  readonly ready: string;
  /** The port it listens on; absent when it serves no port. */
  readonly port?: number;
  /** Text for the person that started it. */
  readonly banner?: string;
  /** Told that the process is to stop, before it refuses anything. */
  drain?(): void;
  /** Starts anew what serves requests, while nothing is refused; absent where no child serves them. */
  renew?(): Promise<void>;
  /**
   * Stops it: running work reaches a safe point within `graceMs`, nothing is lost after that either.
   *
   * @param noticeMs how long it is not ready at least before it refuses anything.
   */
  stop(graceMs: number, noticeMs?: number): Promise<void>;
}

/** A process of ours before it runs. */
export interface ProcessPlan<Readers extends SettingsReaders> {
  /** What it does, for example `image-worker`; part of each of its log lines. */
  readonly name: string;
  /** True for the process that a person starts by hand: it explains itself in plain text unless LOG_FORMAT is json. */
  readonly forPeople?: boolean;
  /** What it reads besides the settings of the platform. */
  readonly settings: Readers;
  start(config: ProcessConfig, settings: SettingsOf<Readers>): Promise<RunningProcess>;
}

const log = logger('process');

/** The longest wait for the last traces to leave, in milliseconds. */
const TRACE_FLUSH_MS = 2_000;

/**
 * Runs a process from start to exit: every setting is read before anything is opened, what keeps it from starting is one
 * clear line each, and SIGTERM or SIGINT stops it in good order with exit code 0. A second signal exits at once.
 */
export async function runProcess<Readers extends SettingsReaders>(plan: ProcessPlan<Readers>): Promise<void> {
  makeObjectsYoung();
  const name = parentProcess ? `${plan.name}-${parentProcess.number}` : plan.name;
  let inWords = plan.forPeople === true;
  try {
    loadEnvironmentFile();
    const logConfig = readLogConfig();
    inWords &&= logConfig.LOG_FORMAT !== 'json';
    configureLog(logConfig, undefined, name);
    logProcessEvents();
    const { platform: config, ...settings } = readTogether({ ...plan.settings, platform: () => readProcessConfig() });
    for (const misspelt of misspeltVariables()) log.warn('config.misspelt', { hint: explainMisspelt(misspelt) });
    const tracing = await startTracing(config.tracing, name);
    const endAtOnce = exitOnSignal();
    const running = await plan.start(config, settings as unknown as SettingsOf<Readers>);
    // The reader of the line that says it is ready may stop it at once.
    const stop = stopOnSignal(name, running, tracing);
    endAtOnce();
    await parentProcess?.ready((noticeMs) => stop('parent', noticeMs));
    const { ready, port, banner } = running;
    const address = port === undefined ? undefined : `${config.server.HOST}:${port}`;
    announce('process', 'process.started', { ready, address, port, node: process.version });
    if (banner !== undefined) printForPeople(config, banner);
  } catch (error) {
    reportFailure(error, inWords);
    process.exit(1);
  }
}

/** Prints for the person that started the process: to standard error when standard output carries log lines as JSON. */
export function printForPeople({ log: { LOG_FORMAT } }: Pick<ProcessConfig, 'log'>, text: string): void {
  (LOG_FORMAT === 'json' ? process.stderr : process.stdout).write(`${text}\n`);
}

/** A mistake in it is reported later, together with all the others. */
function readLogConfig(): LogConfig {
  try {
    return loadConfig(LogConfig);
  } catch {
    return new LogConfig();
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Until it runs a process just exits; listeners of `exit` still end what it started. @returns how to undo that. */
function exitOnSignal(): () => void {
  const exit = (_signal: NodeJS.Signals, number: number): void => process.exit(128 + number);
  for (const signal of SIGNALS) process.on(signal, exit);
  return () => {
    for (const signal of SIGNALS) process.off(signal, exit);
  };
}

/** @returns what stops it without a signal. */
function stopOnSignal(name: string, running: RunningProcess, tracing: Tracing) {
  let stopping = false;
  const stop = async (signal: NodeJS.Signals | 'parent', noticeMs = 0): Promise<void> => {
    if (stopping) {
      // A terminal and systemd signal children as well, whose parent tells them to stop; it also decides when they end at once.
      if (parentProcess) return;
      process.exit(130);
    }
    stopping = true;
    log.info('process.stopping', { process: name, signal });
    try {
      await running.stop(loadConfig(ServerConfig).SHUTDOWN_GRACE_SECONDS * 1000, noticeMs);
      await tracing.stop(TRACE_FLUSH_MS);
      log.info('process.stopped', { signal });
      await parentProcess?.leave();
      process.exit(0);
    } catch (error) {
      log.error('process.stop_failed', { process: name, error });
      process.exit(1);
    }
  };
  process.on('SIGTERM', (signal) => void stop(signal));
  process.on('SIGINT', (signal) => void stop(signal));
  // The terminal was closed.
  process.on('SIGHUP', (signal) => void stop(signal));
  if (running.renew) process.on('SIGUSR2', () => void running.renew?.());
  return (from: 'parent', noticeMs: number) => void stop(from, noticeMs);
}

function reportFailure(error: unknown, inWords: boolean): void {
  const problems = [...problemsOf(error), ...misspeltVariables().map(explainMisspelt)];
  if (inWords) process.stderr.write(`${problems.join('\n')}\n`);
  else log.fatal('process.start_failed', { problems });
}

/** Errors that say themselves what to do, by name; any other shows where it came from. */
const CLEAR = new Set([
  'ChildStartError',
  'PortError',
  'EmbeddedPostgresError',
  'AlreadyRunningError',
  'PendingMigrationsError',
  'MigrationError',
  'PostgresAwayError',
]);

/** One line for each thing to put right. */
function problemsOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)];
  if (error instanceof ConfigError) return error.problems.map((problem) => `Configuration: ${problem}`);
  if (CLEAR.has(error.name)) return [error.message];
  if (isConnectionError(error)) return [`A server was lost during the start: ${error.message}`];
  if ('code' in error && error.code === 'EACCES') return [`Not allowed: ${error.message}`];
  if ('code' in error && error.code === 'ENOSPC') return [`The disk is full: ${error.message}`];
  return [error.stack ?? error.message];
}
