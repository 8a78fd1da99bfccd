import { IsIn, IsInt, IsISO8601, IsOptional, IsString, Matches, Max, MaxLength, Min, MinLength } from 'class-validator';
import { GatewayError } from '#contracts';
import { BAND_MAX, hasBands, type NewPrice, PRICE_UNITS, shownTier, VARIANT_FORM, variantsOf } from '#features';
import { checked, positiveAmountOf } from '../../checked-input.js';

/** A price to come into force. */
export class NewPriceBody {
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  model!: string;

  @IsIn(PRICE_UNITS)
  unit!: string;

  @Matches(VARIANT_FORM, { message: 'variant must be 1 to 50 letters, digits or any of _ + . -' })
  variant = 'default';

  /** Of a band: the first number of input tokens at which it holds. */
  @IsInt()
  @Min(0)
  @Max(BAND_MAX)
  from_input_tokens = 0;

  /** Decimal text, not below 0, for each `per_quantity` units. */
  @IsString()
  amount!: string;

  @IsInt()
  @Min(1)
  @Max(1_000_000_000)
  per_quantity = 1;

  /** When it begins; absent: now. */
  @IsOptional()
  @IsISO8601({ strict: true })
  effective_from?: string;
}

/** Which prices: those in force now or at a moment, or all there were and will be. */
export class PriceQuery {
  @IsOptional()
  @IsString()
  model?: string;

  @IsOptional()
  @IsISO8601({ strict: true })
  at?: string;

  @IsOptional()
  @IsIn(['true', 'false'])
  history?: 'true' | 'false';
}

/** In which form the book is exported. */
export class ExportQuery {
  @IsIn(['json', 'yaml'])
  format: 'json' | 'yaml' = 'json';
}

/** Whether an import only says what it would do. */
export class ImportQuery {
  @IsIn(['true', 'false'])
  dry_run: 'true' | 'false' = 'false';
}

/** @throws GatewayError `invalid_parameter` that names the field. */
export function newPriceOf(body: unknown): NewPrice {
  const price = checked(NewPriceBody, body);
  const variant = hasBands(price.unit) ? String(shownTier(price.variant)) : price.variant;
  if (hasBands(price.unit) && !variantsOf(price.unit).includes(variant))
    throw GatewayError.ofField('variant', `must be one of ${variantsOf(price.unit).join(', ')} for ${price.unit}`);
  if (price.from_input_tokens > 0 && !hasBands(price.unit))
    throw GatewayError.ofField('from_input_tokens', `must be left out of a price for one ${price.unit}`);
  return {
    model: price.model,
    unit: price.unit,
    variant,
    fromInputTokens: price.from_input_tokens,
    amountMicros: positiveAmountOf(price.amount, 'amount'),
    perQuantity: BigInt(price.per_quantity),
    effectiveFrom: price.effective_from === undefined ? null : new Date(price.effective_from),
  };
}

/**
 * When something is to begin; absent: now.
 *
 * @throws GatewayError `invalid_parameter`: it has passed.
 */
export function beginning(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const moment = new Date(text);
  if (moment.getTime() < Date.now() - PAST_MS) throw GatewayError.ofField('effective_from', PAST_RULE);
  return moment;
}
/** How far behind a date may lie and still count as now, in milliseconds. */
const PAST_MS = 60_000;
const PAST_RULE = 'must not be in the past: past charges do not change';
