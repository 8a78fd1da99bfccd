import {
  IsBoolean,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateIf,
} from 'class-validator';
import type { Micros } from '#contracts';
import { isGiven, isLimit, limitOf, RequestLimits } from './request-limits.dto.js';

/** A change of an account; absent fields stay as they are, null lifts a limit. */
export class AccountChange extends RequestLimits {
  @ValidateIf(isGiven)
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  name?: string;

  /** True: the balance may go below zero. */
  @ValidateIf(isGiven)
  @IsBoolean()
  unlimited?: boolean;

  /** Tasks of higher numbers are worked on first. */
  @ValidateIf(isGiven)
  @IsInt()
  @Min(-100)
  @Max(100)
  priority?: number;

  /** Its webhook endpoints get `balance.low` when less than this is left. */
  @ValidateIf(isLimit)
  @IsString()
  low_balance?: string | null;

  @ValidateIf(isGiven)
  @IsBoolean()
  disabled?: boolean;
}

/** A new account. */
export class NewAccount extends AccountChange {
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  declare name: string;
}

/** Money that comes in or goes out. */
export class FundingBody {
  /** Decimal text with at most six places, for example "10.50". */
  @IsString()
  amount!: string;

  /** Names the payment or the case; the same reference again changes nothing. */
  @Matches(/^[\w.:/-]{1,100}$/, { message: 'reference must be 1 to 100 letters, digits or any of _ . : / -' })
  reference!: string;

  @IsOptional()
  @IsString()
  @MaxLength(1_000)
  note?: string;
}

/** The settings of an account in the words of the code. @throws GatewayError `invalid_parameter`: a limit is no amount from 0. */
export const toAccountSettings = <Sent extends AccountChange>({
  max_running_tasks: maxRunningTasks,
  requests_per_minute: requestsPerMinute,
  tokens_per_minute: tokensPerMinute,
  daily_limit: dailyLimit,
  monthly_limit: monthlyLimit,
  low_balance: lowBalance,
  ...settings
}: Sent) => ({
  ...settings,
  maxRunningTasks,
  requestsPerMinute,
  tokensPerMinute,
  dailyLimitMicros: limitOf(dailyLimit, 'daily_limit'),
  monthlyLimitMicros: limitOf(monthlyLimit, 'monthly_limit'),
  lowBalanceMicros: lowBalanceOf(lowBalance),
});

/** Null switches the notice off. */
const lowBalanceOf = (sent: string | null | undefined): Micros | null | undefined =>
  limitOf(sent, 'low_balance') === 0n ? null : limitOf(sent, 'low_balance');
