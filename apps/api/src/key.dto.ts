import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsString,
  Matches,
  MaxLength,
  MinLength,
  registerDecorator,
} from 'class-validator';
import { isAddressBlock, KEY_SCOPES, type KeySettings, TAG_FORM, TAGS_MAX } from '#features';
import { Described } from './http/input-schema.js';
import { IfGiven, IsAmountLimit, IsMoment, IsShownText, IsWhole, OrNull } from './input-fields.js';
import { limitOf, RequestLimits } from './account.dto.js';

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
  @IfGiven() @IsShownText(200) name?: string;

  /** What the key may spend in all. */
  @IsAmountLimit() quota?: string | null;

  @Described('Empty: every model.')
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(LIST_MAX)
  @IsString({ each: true })
  @MinLength(1, { each: true })
  @MaxLength(200, { each: true })
  allowed_models?: string[];

  @Described('Addresses or CIDR blocks. Empty: every address.')
  @IfGiven()
  @ArrayMaxSize(LIST_MAX)
  @IsString({ each: true })
  @AreAddressBlocks()
  allowed_addresses?: string[];

  @Described('What the key may do. Empty: everything.')
  @IfGiven()
  @IsArray()
  @ArrayUnique()
  @IsIn(KEY_SCOPES, { each: true, message: `scopes must list some of ${KEY_SCOPES.join(', ')}; empty: everything` })
  scopes?: string[];

  @Described('What every request of the key is tagged with.')
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(TAGS_MAX)
  @ArrayUnique()
  @IsString({ each: true })
  @Matches(TAG_FORM, {
    each: true,
    message: 'tags must list tags of 1 to 64 letters, digits and . _ : - each',
  })
  tags?: string[];

  @Described('When the key ends. Null: never.')
  @OrNull()
  @IsMoment()
  expires_at?: string | null;
}

export class NewKeyBody extends KeyChange {
  @Described(undefined, { isRequired: true }) @IsShownText(200) declare name: string;
}

/** How long the old secret keeps working. */
export class Rotation {
  @IsWhole(0, OVERLAP_SECONDS_MAX) overlap_seconds = 86_400;
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
