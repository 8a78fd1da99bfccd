import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import type { Micros } from '#contracts';
import { TAG_FORM, type TagLimit, TAG_LIMITS_MAX } from '#features';
import { checked } from '../../checked-input.js';
import { isGiven, isLimit, limitOf, RequestLimits } from './request-limits.dto.js';

/**
 * An IANA name with its region, or `UTC`. Others, such as `+08:00`, mean different things to the language and to the database, and
 * `CET` and the like are fixed offsets to the latter.
 */
export const IsTimeZoneName = (): PropertyDecorator =>
  ValidateBy({
    name: 'isTimeZoneName',
    validator: {
      validate: (value) => typeof value === 'string' && TIME_ZONE.test(value) && isKnownZone(value),
      defaultMessage: () =>
        '$property must be an IANA time zone with its region, such as "Asia/Shanghai", or null for UTC',
    },
  });

const TIME_ZONE = /^(?:UTC|(?=.{1,64}$)[A-Z][\w+-]*(?:\/[\w+-]+)+)$/;

function isKnownZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}

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

  /** In which it has its days and months, such as `Asia/Shanghai`; null: UTC. */
  @ValidateIf(({ time_zone: zone }: AccountChange) => zone != null)
  @IsTimeZoneName()
  time_zone?: string | null;

  /** Its webhook endpoints get `balance.low` when less than this is left. */
  @ValidateIf(isLimit)
  @IsString()
  low_balance?: string | null;

  @ValidateIf(isGiven)
  @IsBoolean()
  disabled?: boolean;
}

export class NewAccount extends AccountChange {
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  declare name: string;
}

/** What the work of a tag may cost in a day and in a month of the account's time zone, as decimal texts. */
export class TagLimitBody {
  @Matches(TAG_FORM, { message: 'tag must be 1 to 64 letters, digits or any of . _ : -' })
  tag!: string;

  @ValidateIf(isLimit)
  @IsString()
  daily_limit?: string | null;

  @ValidateIf(isLimit)
  @IsString()
  monthly_limit?: string | null;
}

/** All limits of an account's tags. */
class TagLimitsBody {
  @IsArray()
  @ArrayMaxSize(TAG_LIMITS_MAX)
  @ArrayUnique(({ tag }: TagLimitBody) => tag, { message: 'limits must name each tag once' })
  @ValidateNested({ each: true })
  @Type(() => TagLimitBody)
  limits!: TagLimitBody[];
}

/** @throws GatewayError `invalid_parameter`. */
export const tagLimitsOf = (body: unknown): TagLimit[] =>
  checked(TagLimitsBody, body).limits.map(({ tag, daily_limit: daily, monthly_limit: monthly }) => ({
    tag,
    daily_limit_micros: limitOf(daily, 'limits.daily_limit') ?? null,
    monthly_limit_micros: limitOf(monthly, 'limits.monthly_limit') ?? null,
  }));

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
  time_zone: timeZone,
  ...settings
}: Sent) => ({
  ...settings,
  timeZone: timeZone === 'UTC' ? null : timeZone,
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
