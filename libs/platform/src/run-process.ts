import { ConfigError, loadEnvironmentFile } from './config/load-config.js';
import { loadConfig } from './config/load-config.js';
import { ServerConfig } from './config/server.config.js';
import { configureLog, logger } from './log/logger.js';
import { LogConfig } from './log/log.config.js';
import { TracingConfig } from './tracing/tracing.config.js';
import { startTracing, type Tracing } from './tracing/tracing.js';

/** A started process. */
export interface RunningProcess {
  /** What to tell people on standard output once it runs. */
  readonly ready: string;
  /** Stops it: running work reaches a safe point within `graceMs`, nothing is lost after that either. */
  stop(graceMs: number): Promise<void>;
}

const log = logger('process');

/** The longest wait for the last traces to leave, in milliseconds. */
const TRACE_FLUSH_MS = 2_000;

/**
 * Runs a process from start to exit: one clear line for what keeps it from starting, and an orderly stop on SIGTERM
 * or SIGINT with exit code 0. A second signal exits at once.
 */
export async function runProcess(name: string, start: () => Promise<RunningProcess>): Promise<void> {
  loadEnvironmentFile();
  try {
    configureLog(loadConfig(LogConfig));
    const tracing = await startTracing(loadConfig(TracingConfig), name);
    const running = await start();
    // Whoever reads that it is ready may stop it at once.
    stopOnSignal(name, running, tracing);
    process.stdout.write(`${running.ready}\n`);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

function stopOnSignal(name: string, running: RunningProcess, tracing: Tracing): void {
  let stopping = false;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (stopping) process.exit(130);
    stopping = true;
    log.info('process.stopping', { process: name, signal });
    try {
      await running.stop(loadConfig(ServerConfig).SHUTDOWN_GRACE_SECONDS * 1000);
      await tracing.stop(TRACE_FLUSH_MS);
      process.exit(0);
    } catch (error) {
      log.error('process.stop_failed', { process: name, error });
      process.exit(1);
    }
  };
  process.on('SIGTERM', (signal) => void stop(signal));
  process.on('SIGINT', (signal) => void stop(signal));
}

/** Errors that say themselves what to do, by name; any other shows where it came from. */
const CLEAR = new Set([
  'ConfigError',
  'EmbeddedPostgresError',
  'AlreadyRunningError',
  'PendingMigrationsError',
  'MigrationError',
]);

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ConfigError) return error.problems.map((problem) => `Configuration: ${problem}`).join('\n');
  if (CLEAR.has(error.name)) return error.message;
  if ('code' in error && error.code === 'EADDRINUSE')
    return 'PORT is already in use: choose another with PORT=..., or stop what listens there.';
  if ('code' in error && error.code === 'EACCES') return `Not allowed: ${error.message}`;
  if ('code' in error && error.code === 'ENOSPC') return `The disk is full: ${error.message}`;
  return error.stack ?? error.message;
}
