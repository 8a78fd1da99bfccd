import type { LoggerService } from '@nestjs/common';
import { type LogFields, logger } from './logger.js';

/** Sends the framework's own messages through our log, each under the name of the part that speaks. */
export class NestLogger implements LoggerService {
  log(message: unknown, ...rest: unknown[]): void {
    logger(nameIn(rest)).debug(toText(message));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    logger(nameIn(rest)).fatal(toText(message), readDetails(message, rest));
  }

  error(message: unknown, ...rest: unknown[]): void {
    logger(nameIn(rest)).error(toText(message), readDetails(message, rest));
  }

  warn(message: unknown, ...rest: unknown[]): void {
    logger(nameIn(rest)).warn(toText(message));
  }

  debug(message: unknown, ...rest: unknown[]): void {
    logger(nameIn(rest)).debug(toText(message));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    logger(nameIn(rest)).trace(toText(message));
  }
}

/** The framework passes the name of the speaker last, after a stack trace if there is one. */
function nameIn(rest: readonly unknown[]): string {
  const last = rest.at(-1);
  return typeof last === 'string' && !last.includes('\n') ? last : 'nest';
}

function readDetails(message: unknown, rest: readonly unknown[]): LogFields {
  if (message instanceof Error) return { error: message };
  const stack = rest.find((part) => typeof part === 'string' && part.includes('\n'));
  return stack === undefined ? {} : { stack };
}

function toText(message: unknown): string {
  if (typeof message === 'string') return message;
  return message instanceof Error ? message.message : JSON.stringify(message);
}
