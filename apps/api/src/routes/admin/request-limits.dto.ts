import type { Micros } from '#contracts';
import { positiveAmountOf } from '../../checked-input.js';
import { AmountLimit, WholeLimit } from '../../input-fields.js';

const LIMIT_MAX = 1_000_000_000;

/** A field that was sent. */
export const isGiven = (_object: unknown, value: unknown): boolean => value !== undefined;
/** A limit that null lifts. */
export const isLimit = (_object: unknown, value: unknown): boolean => value !== null && value !== undefined;

/** What an account or a key may do at most; absent fields stay as they are, null lifts a limit. */
export class RequestLimits {
  @WholeLimit(LIMIT_MAX) requests_per_minute?: number | null;
  @WholeLimit(LIMIT_MAX) tokens_per_minute?: number | null;
  @WholeLimit(LIMIT_MAX) max_running_tasks?: number | null;

  /** What may be spent in a day and in a month of the account's time zone. */
  @AmountLimit() daily_limit?: string | null;
  @AmountLimit() monthly_limit?: string | null;
}

/** @throws GatewayError `invalid_parameter`: it is no amount from 0. */
export const limitOf = (sent: string | null | undefined, field: string): Micros | null | undefined =>
  typeof sent === 'string' ? positiveAmountOf(sent, field) : sent;
