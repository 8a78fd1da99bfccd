import { IsInt, IsString, Max, Min, ValidateIf } from 'class-validator';
import type { Micros } from '#contracts';
import { positiveAmountOf } from '../../checked-input.js';

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

  /** What may be spent in a day and in a month of UTC, as decimal texts; null lifts the limit. */
  @ValidateIf(isLimit)
  @IsString()
  daily_limit?: string | null;

  @ValidateIf(isLimit)
  @IsString()
  monthly_limit?: string | null;
}

/** @throws GatewayError `invalid_parameter`: it is no amount from 0. */
export const limitOf = (sent: string | null | undefined, field: string): Micros | null | undefined =>
  typeof sent === 'string' ? positiveAmountOf(sent, field) : sent;
