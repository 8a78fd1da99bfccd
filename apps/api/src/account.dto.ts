import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import type { Micros } from '#contracts';
import { PROMPT_RETENTION_DAYS, REDACTIONS_MAX, TAG_FORM, type TagLimit, TAG_LIMITS_MAX } from '#features';
import { checked, positiveAmountOf } from './checked-input.js';
import { Described } from './http/input-schema.js';
import {
  IfGiven,
  IsAmount,
  IsAmountLimit,
  IsShownText,
  IsText,
  IsWhole,
  IsWholeLimit,
  OrNull,
} from './input-fields.js';
import { ListQuery } from './list-query.js';

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

const LIMIT_MAX = 1_000_000_000;

/** What an account or a key may do at most; absent fields stay as they are, null lifts a limit. */
export class RequestLimits {
  @IsWholeLimit(LIMIT_MAX) requests_per_minute?: number | null;
  @IsWholeLimit(LIMIT_MAX) tokens_per_minute?: number | null;
  @IsWholeLimit(LIMIT_MAX) max_running_tasks?: number | null;

  /** What may be spent in a day and in a month of the account's time zone. */
  @IsAmountLimit() daily_limit?: string | null;
  @IsAmountLimit() monthly_limit?: string | null;
}

/** @throws GatewayError `invalid_parameter`: it is no amount from 0. */
export const limitOf = (sent: string | null | undefined, field: string): Micros | null | undefined =>
  typeof sent === 'string' ? positiveAmountOf(sent, field) : sent;

/** A change of an account; absent fields stay as they are, null lifts a limit. */
export class AccountChange extends RequestLimits {
  @IfGiven() @IsShownText(200) name?: string;

  @Described('True: the balance may go below zero.')
  @IfGiven()
  @IsBoolean()
  unlimited?: boolean;

  @Described('Tasks of higher numbers are worked on first.')
  @IfGiven()
  @IsWhole(-100, 100)
  priority?: number;

  @Described('Time zone of its days and months, an IANA name such as Asia/Shanghai. Null: UTC.')
  @ValidateIf(({ time_zone: zone }: AccountChange) => zone != null)
  @IsTimeZoneName()
  time_zone?: string | null;

  @OrNull()
  @IsAmount('Decimal text: webhook endpoints get `balance.low` when less is left. Null: never.')
  low_balance?: string | null;
  @IfGiven() @IsBoolean() disabled?: boolean;
}

export class NewAccount extends AccountChange {
  @Described(undefined, { isRequired: true }) @IsShownText(200) declare name: string;
}

/** What the work of a tag may cost in a day and in a month of the account's time zone, as decimal texts. */
export class TagLimitBody {
  @Matches(TAG_FORM, { message: 'tag must be 1 to 64 letters, digits or any of . _ : -' }) tag!: string;
  @IsAmountLimit() daily_limit?: string | null;
  @IsAmountLimit() monthly_limit?: string | null;
}

export class TagLimitsBody {
  @Described('All limits of tags; a tag that is left out has none.', { entries: TagLimitBody })
  @IsArray()
  @ArrayMaxSize(TAG_LIMITS_MAX)
  @ArrayUnique(({ tag }: TagLimitBody) => tag, { message: 'limits must name each tag once' })
  @IsObject({ each: true })
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
  @IsAmount() amount!: string;

  @Described('Names the payment or the case; the same reference again changes nothing.')
  @Matches(/^[\w.:/-]{1,100}$/, { message: 'reference must be 1 to 100 letters, digits or any of _ . : / -' })
  reference!: string;

  @IsOptional() @IsText(1_000) note?: string;
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
  // 0 switches the notice off, as null does.
  lowBalanceMicros: lowBalance === undefined ? undefined : limitOf(lowBalance, 'low_balance') || null,
});

export class PromptLogBody {
  @IsBoolean() enabled!: boolean;
  @IsWhole(PROMPT_RETENTION_DAYS.least, PROMPT_RETENTION_DAYS.most) retention_days: number =
    PROMPT_RETENTION_DAYS.usual;

  @Described('What is taken out before anything is kept: names of what is known, or patterns.')
  @IsArray()
  @ArrayMaxSize(REDACTIONS_MAX)
  @ArrayUnique()
  @IsString({ each: true })
  redactions: string[] = [];
}

/** Which logged requests. */
export class PromptEntriesQuery extends ListQuery {
  @Described('Only of this session.') @IsOptional() @IsText(256) session?: string;
  @Described('Only this request.') @IsOptional() @IsText(100) request_id?: string;
}
