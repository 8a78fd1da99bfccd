import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsISO8601,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  registerDecorator,
  ValidateIf,
} from 'class-validator';
import { isAddressBlock, KEY_SCOPES, type KeySettings, TAG_FORM, TAGS_MAX } from '#features';
import { isGiven, isLimit, limitOf, RequestLimits } from './request-limits.dto.js';

const LIST_MAX = 200;
const OVERLAP_SECONDS_MAX = 30 * 86_400;

/** Every entry is an address or a CIDR block. */
function AreAddressBlocks(): PropertyDecorator {
  return (prototype, propertyName) =>
    registerDecorator({
      name: 'areAddressBlocks',
      target: prototype.constructor,
      propertyName: String(propertyName),
      options: { message: '$property must list addresses or CIDR blocks such as 203.0.113.0/24 or 2001:db8::/32' },
      validator: {
        validate: (value: unknown) =>
          Array.isArray(value) && value.every((entry) => typeof entry === 'string' && isAddressBlock(entry)),
      },
    });
}

/** A change of a key; absent fields stay as they are, null lifts a limit. */
export class KeyChange extends RequestLimits {
  @ValidateIf(isGiven)
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  name?: string;

  /** What the key may spend in all, as a decimal text. */
  @ValidateIf(isLimit)
  @IsString()
  quota?: string | null;

  /** Empty: every model. */
  @ValidateIf(isGiven)
  @IsArray()
  @ArrayMaxSize(LIST_MAX)
  @IsString({ each: true })
  @MinLength(1, { each: true })
  @MaxLength(200, { each: true })
  allowed_models?: string[];

  /** Empty: every address. */
  @ValidateIf(isGiven)
  @ArrayMaxSize(LIST_MAX)
  @AreAddressBlocks()
  allowed_addresses?: string[];

  /** What the key is limited to; empty: everything. */
  @ValidateIf(isGiven)
  @IsArray()
  @ArrayUnique()
  @IsIn(KEY_SCOPES, { each: true, message: `scopes must list some of ${KEY_SCOPES.join(', ')}; empty: everything` })
  scopes?: string[];

  /** What every request of the key is tagged with. */
  @ValidateIf(isGiven)
  @IsArray()
  @ArrayMaxSize(TAGS_MAX)
  @ArrayUnique()
  @IsString({ each: true })
  @Matches(TAG_FORM, {
    each: true,
    message: 'tags must list tags of 1 to 64 letters, digits and . _ : - each',
  })
  tags?: string[];

  /** When the key ends. */
  @ValidateIf(isLimit)
  @IsISO8601({ strict: true })
  expires_at?: string | null;
}

export class NewKeyBody extends KeyChange {
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  declare name: string;
}

/** How long the old secret keeps working. */
export class Rotation {
  @IsInt()
  @Min(0)
  @Max(OVERLAP_SECONDS_MAX)
  overlap_seconds = 86_400;
}

/** @throws GatewayError `invalid_parameter`: the quota or a limit is no amount from 0. */
export function toKeySettings(body: KeyChange): KeySettings {
  const { quota, expires_at: expiresAt } = body;
  return {
    name: body.name,
    quotaMicros: limitOf(quota, 'quota'),
    dailyLimitMicros: limitOf(body.daily_limit, 'daily_limit'),
    monthlyLimitMicros: limitOf(body.monthly_limit, 'monthly_limit'),
    allowedModels: body.allowed_models,
    allowedAddresses: body.allowed_addresses,
    scopes: body.scopes,
    tags: body.tags,
    requestsPerMinute: body.requests_per_minute,
    tokensPerMinute: body.tokens_per_minute,
    maxRunningTasks: body.max_running_tasks,
    expiresAt: typeof expiresAt === 'string' ? new Date(expiresAt) : expiresAt,
  };
}
