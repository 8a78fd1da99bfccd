import { type DestinationStream, type Logger as Pino, pino } from 'pino';
import { logContext } from './log-context.js';
import { LogConfig } from './log.config.js';
import { currentTraceId } from '../tracing/span.js';
import { redact } from './redact.js';

/** Further facts of a line; names carry their unit, for example `durationMs`. Errors go under `error`. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Writes one JSON line for each event. An event is named noun.past, for example `task.submitted`.
 * Never pass prompts, bodies or keys: what slips through by a known name is replaced, the rest is not.
 */
export interface Logger {
  fatal(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  debug(event: string, fields?: LogFields): void;
  trace(event: string, fields?: LogFields): void;
}

/** Until the configuration is read only warnings are written. */
let root = createRoot({ LOG_LEVEL: 'warn' });

/** Sets level and destination (standard output by default) for every logger of this process, earlier ones included. */
export function configureLog(config: LogConfig, destination?: DestinationStream): void {
  root = createRoot(config, destination);
}

/** The logger of one part of the system; `name` appears in each of its lines. */
export function logger(name: string): Logger {
  const write =
    (level: keyof Logger) =>
    (event: string, fields: LogFields = {}): void =>
      root[level]({ name, ...fields }, event);
  return {
    fatal: write('fatal'),
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    trace: write('trace'),
  };
}

function createRoot({ LOG_LEVEL }: LogConfig, destination?: DestinationStream): Pino {
  const options = {
    level: LOG_LEVEL,
    base: { processId: process.pid },
    messageKey: 'event',
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: workAtHand,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: object) => redact(fields) as Record<string, unknown>,
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** What every line carries: request and task, and the trace when there is one. */
function workAtHand(): object {
  const traceId = currentTraceId();
  return traceId === undefined ? logContext() : { ...logContext(), traceId };
}
