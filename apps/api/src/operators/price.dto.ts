import { IsArray, IsBoolean, IsIn, IsOptional, IsString, Matches } from 'class-validator';
import type { Request } from 'express';
import { GatewayError } from '#contracts';
import {
  BAND_MAX,
  belowCostText,
  hasBands,
  type NewPrice,
  PRICE_UNITS,
  type PricesBelowCost,
  shownTier,
  uselessPrice,
  VARIANT_FORM,
} from '#features';
import { checked, positiveAmountOf } from '../checked-input.js';
import { Described } from '../http/input-schema.js';
import { IsAmount, IsMoment, IsShownText, IsTrueOrFalse, IsWhole } from '../input-fields.js';
import { viewOf } from '../row-view.js';

/** A price to come into force. */
export class NewPriceBody {
  @IsShownText(200) model!: string;
  @IsIn(PRICE_UNITS) unit!: string;
  @Matches(VARIANT_FORM, { message: 'variant must be 1 to 50 letters, digits or any of _ + . -' }) variant = 'default';

  @Described('Of a band: the first number of input tokens at which the price holds.')
  @IsWhole(0, BAND_MAX)
  from_input_tokens = 0;

  @IsAmount('Decimal text, not below 0, for `per_quantity` units.')
  amount!: string;
  @IsWhole(1, 1_000_000_000) per_quantity = 1;

  @Described('When it begins. Absent: now.')
  @IsOptional()
  @IsMoment()
  effective_from?: string;
}

/** Prices that begin together. */
export class NewPricesBody {
  @IsArray() prices!: unknown[];

  /** Of all of them, whatever they say; absent: now. */
  @IsOptional() @IsMoment() effective_from?: string;
  @IsBoolean() dry_run = false;
}

/** Which prices: those in force now or at a moment, or all there were and will be. */
export class PriceQuery {
  @Described('Only of this model.') @IsOptional() @IsString() model?: string;
  @Described('In force at this time.') @IsOptional() @IsMoment() at?: string;
  @Described('Past, current and future prices.') @IsOptional() @IsTrueOrFalse() history?: 'true' | 'false';
}

/** In which form the book is exported. */
export class ExportQuery {
  @Described('json, or yaml for a file.') @IsIn(['json', 'yaml']) format: 'json' | 'yaml' = 'json';
}

export class ImportQuery {
  @Described('true: only says what would change.') @IsTrueOrFalse() dry_run: 'true' | 'false' = 'false';
}

/** @throws GatewayError `invalid_parameter` that names the field. */
export function newPriceOf(body: unknown): NewPrice {
  const price = checked(NewPriceBody, body);
  const { model, unit, from_input_tokens: from } = price;
  const variant = hasBands(unit) ? String(shownTier(price.variant)) : price.variant;
  const useless = uselessPrice({ model, unit, variant, from });
  if (useless) throw GatewayError.ofField(useless.field, useless.rule);
  return {
    model,
    unit,
    variant,
    fromInputTokens: from,
    amountMicros: positiveAmountOf(price.amount, 'amount'),
    perQuantity: BigInt(price.per_quantity),
    effectiveFrom: price.effective_from === undefined ? null : new Date(price.effective_from),
  };
}

type Warnings = Awaited<ReturnType<PricesBelowCost['ofPrices']>>;

/** What is sold below cost: in words for pages. */
export const shownWarnings = (found: Warnings, { session }: Request): unknown =>
  session ? found.map(belowCostText) : viewOf(found);

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
