import { logger } from './logger.js';

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
