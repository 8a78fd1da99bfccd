import { AsyncLocalStorage } from 'node:async_hooks';
import { IsIn, IsOptional } from 'class-validator';
import { type DestinationStream, type Logger as Pino, pino } from 'pino';
import prettyStream from 'pino-pretty';
import { Variable } from '../config/variable.js';
import { VERSION } from '../package-files.js';
import { currentTraceId } from '../tracing/span.js';
import { redact } from './redact.js';

/** Characters that are gathered before they are written, and the longest that a line waits for others. */
const BATCH_CHARACTERS = 8_192;
const BATCH_MS = 200;

/** Where lines go. */
interface LogDestination extends DestinationStream {
  /** Writes what was gathered now and not later. */
  flush?(): void;
}

/**
 * Standard output: coloured lines for a person at a terminal, JSON in batches for a collector. Lines are gathered for a
 * fifth of a second at most, and are all written when the process ends by itself, in order or not.
 */
function openLogDestination({ LOG_FORMAT: format }: Pick<LogConfig, 'LOG_FORMAT'>): LogDestination {
  const isPretty = format === undefined ? process.stdout.isTTY : format === 'pretty';
  if (isPretty) {
    return prettyStream({
      colorize: process.stdout.isTTY,
      sync: true,
      messageKey: 'event',
      translateTime: 'SYS:HH:MM:ss.l',
      ignore: 'pid,version,role',
      singleLine: true,
    });
  }
  return batched();
}

/** Lines are gathered as one text: handing each to the stream costs more than making it. */
function batched(): LogDestination {
  const stream = pino.destination({ dest: 1, sync: false });
  let batch = '';
  const flush = (): void => {
    if (batch === '') return;
    stream.write(batch);
    batch = '';
  };
  setInterval(flush, BATCH_MS).unref();
  process.once('exit', () => {
    flush();
    stream.flushSync();
  });
  return {
    write: (line) => {
      batch += line;
      if (batch.length >= BATCH_CHARACTERS) flush();
    },
    flush,
  };
}

/** Further facts of a line; names carry their unit, for example `durationMs`. Errors go under `error`. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Writes one JSON line for each event. An event is named noun.past, for example `task.submitted`.
 * Never pass prompts, bodies or keys: what slips through by a known name is replaced, the rest is not.
 */
interface Logger {
  fatal(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  debug(event: string, fields?: LogFields): void;
  trace(event: string, fields?: LogFields): void;
}

/** What every line of this process says of it. */
const identity = { role: 'none', version: VERSION, pid: process.pid };

/** Until the configuration is read only warnings are written. */
let destination: LogDestination = pino.destination(1);
let root = createRoot({ LOG_LEVEL: 'warn' });
let tellsSteps = false;

/**
 * Sets level and destination (standard output by default) for every logger of this process, earlier ones included.
 *
 * @param role what this process does, for example `image-worker`; the one it had stays when absent.
 */
export function configureLog(config: LogConfig, to?: LogDestination, role = identity.role): void {
  identity.role = role;
  destination = to ?? openLogDestination(config);
  root = createRoot(config);
  tellsSteps = root.isLevelEnabled('info');
}

/** Fields of an event that are safe by their nature: identifiers, words of closed lists, numbers. */
type EventFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Writes a line at every level but `silent`: others wait for it to know how the process stands. */
export function announce(name: string, event: string, fields: EventFields): void {
  if (root.isLevelEnabled('fatal')) writeLine(JSON.stringify({ name, event }).slice(1, -1), fields);
}

/**
 * Writes one kind of line at level `info`, which hot paths write for every request or step: a fifth of the price of
 * `Logger.info`, because its fields are not searched for secrets. Never pass what a caller wrote.
 */
export function eventLogger(name: string, event: string): (fields: EventFields) => void {
  const names = JSON.stringify({ name, event }).slice(1, -1);
  return (fields) => {
    if (tellsSteps) writeLine(names, fields);
  };
}

let timeAt = 0;
let time = '';

/** The time as text, made once for each millisecond. */
function timeNow(): string {
  const now = Date.now();
  if (now !== timeAt) {
    timeAt = now;
    time = new Date(now).toISOString();
  }
  return time;
}

function writeLine(names: string, fields: EventFields): void {
  const { role, version, pid } = identity;
  const rest = JSON.stringify(fields).slice(1);
  destination.write(
    `{"level":"info","time":"${timeNow()}","role":"${role}","version":"${version}","pid":${pid},${names}${rest === '}' ? '' : ','}${rest}\n`,
  );
}

/** The logger of one part of the system; `name` appears in each of its lines. */
export function logger(name: string): Logger {
  const write =
    (level: keyof Logger) =>
    (event: string, fields: LogFields = {}): void => {
      if (!root.isLevelEnabled(level)) return;
      root[level]({ name, ...fields }, event);
      // Errors do not wait in a batch: the process may be about to die of one.
      if (level === 'error' || level === 'fatal') destination.flush?.();
    };
  return {
    fatal: write('fatal'),
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    trace: write('trace'),
  };
}

function createRoot({ LOG_LEVEL }: Pick<LogConfig, 'LOG_LEVEL'>): Pino {
  const options = {
    level: LOG_LEVEL,
    base: { ...identity },
    messageKey: 'event',
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: workAtHand,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: object) => redact(fields) as Record<string, unknown>,
    },
  };
  return pino(options, destination);
}

/** What every line carries: request and task, and the trace when there is one. */
function workAtHand(): object {
  const traceId = currentTraceId();
  return traceId === undefined ? logContext() : { ...logContext(), traceId };
}

/** What every line of a piece of work carries, so that one request or task can be followed through all of them. */
interface LogContext {
  readonly requestId?: string;
  readonly taskId?: string;
}

const storage = new AsyncLocalStorage<LogContext>();

/** Runs `work` with `context` added to every line that it and everything it awaits will log. */
export const withLogContext = <Result>(context: LogContext, work: () => Result): Result =>
  storage.run({ ...storage.getStore(), ...context }, work);

/** The context of the running work; empty outside of any. */
const logContext = (): LogContext => storage.getStore() ?? {};

/** Log levels from quiet to loud. */
const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `json`: one object a line, for collectors; `pretty`: coloured lines, for people. */
const LOG_FORMATS = ['json', 'pretty'] as const;
type LogFormat = (typeof LOG_FORMATS)[number];

export class LogConfig {
  @Variable({ description: `Lowest level that is logged: ${LOG_LEVELS.join(', ')}.` })
  @IsIn(LOG_LEVELS)
  LOG_LEVEL: LogLevel = 'info';

  @Variable({
    description:
      'Format of the log: json (one object a line) or pretty (coloured, for people). When unset: pretty in a terminal, json elsewhere.',
    example: 'json',
  })
  @IsOptional()
  @IsIn(LOG_FORMATS)
  LOG_FORMAT?: LogFormat;
}

const log = logger('process');

/** The same warning, for example of each client of one library, is logged once. */
const logged = new Set<string>();

/**
 * Turns what Node and libraries would print into lines of the log: warnings, and an uncaught error,
 * which ends the process as it would have.
 */
export function logProcessEvents(): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    if (logged.has(message)) return;
    logged.add(message);
    log.warn('process.warning', { kind: name, detail: message });
  });
  const end = (error: unknown): void => {
    log.fatal('process.crashed', { error });
    process.exit(1);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}
