import { IsInt, Max, Min, ValidateIf } from 'class-validator';

const LIMIT_MAX = 1_000_000_000;

/** A field that was sent. */
export const isGiven = (_object: unknown, value: unknown): boolean => value !== undefined;
/** A limit that null lifts. */
export const isLimit = (_object: unknown, value: unknown): boolean => value !== null && value !== undefined;

/** What an account or a key may do at most; absent fields stay as they are, null lifts a limit. */
export class RequestLimits {
  @ValidateIf(isLimit)
  @IsInt()
  @Min(1)
  @Max(LIMIT_MAX)
  requests_per_minute?: number | null;

  @ValidateIf(isLimit)
  @IsInt()
  @Min(1)
  @Max(LIMIT_MAX)
  tokens_per_minute?: number | null;

  @ValidateIf(isLimit)
  @IsInt()
  @Min(1)
  @Max(LIMIT_MAX)
  max_running_tasks?: number | null;
}
