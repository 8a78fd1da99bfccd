import { IsIn } from 'class-validator';
import { Variable } from '../config/variable.js';

/** Log levels from quiet to loud. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** How much the process says. */
export class LogConfig {
  @Variable({ description: `Least important line that is written: ${LOG_LEVELS.join(', ')}.` })
  @IsIn(LOG_LEVELS)
  LOG_LEVEL: LogLevel = 'info';
}
