import { type DestinationStream, pino } from 'pino';
import prettyStream from 'pino-pretty';
import type { LogConfig } from './log.config.js';

/** Characters that are gathered before they are written, and the longest that a line waits for others. */
const BATCH_CHARACTERS = 8_192;
const BATCH_MS = 200;

/** Where lines go. */
export interface LogDestination extends DestinationStream {
  /** Writes what was gathered now and not later. */
  flush?(): void;
}

/**
 * Standard output: coloured lines for a person at a terminal, JSON in batches for a collector. Lines are gathered for a
 * fifth of a second at most, and are all written when the process ends by itself, in order or not.
 */
export function openLogDestination({ LOG_FORMAT: format }: Pick<LogConfig, 'LOG_FORMAT'>): LogDestination {
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
