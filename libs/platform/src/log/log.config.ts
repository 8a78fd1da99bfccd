import { IsIn, IsOptional } from 'class-validator';
import { Variable } from '../config/variable.js';

/** Log levels from quiet to loud. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `json`: one object a line, for collectors; `pretty`: coloured lines, for people. */
export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** How much the process logs, and in which form. */
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
