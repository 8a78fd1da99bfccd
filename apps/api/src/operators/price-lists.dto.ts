import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsIn, IsOptional, Matches, ValidateBy, ValidateIf } from 'class-validator';
import { type FieldError, GatewayError, parseMicros } from '#contracts';
import {
  BAND_MAX,
  LIST_ID,
  mistakeInName,
  type NewPriceRule,
  PRICE_UNITS,
  shownTier,
  unsoldIn,
  VARIANT_FORM,
} from '#features';
import { nextTurn, Turns } from '#platform';
import { checked } from '../checked-input.js';
import { Described } from '../http/input-schema.js';
import { IsMoment, IsShownText, IsText, IsWhole } from '../input-fields.js';
import { beginning } from './price.dto.js';

const RULES_MAX = 10_000;
/** So many mistakes are told; the rules behind them are not looked at. */
const MISTAKES_MAX = 100;

/** A number that may be written as one or as its text. */
export const DecimalText = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'number' ? String(value) : value));

/** An amount or a factor: not below 0, to the millionth. */
const IsMillionths = (): PropertyDecorator =>
  ValidateBy({
    name: 'isMillionths',
    validator: {
      validate: (value) => millionthsIn(value) !== undefined,
      defaultMessage: () => '$property must be a decimal such as "0.9", not below 0, with at most six places',
    },
  });

function millionthsIn(sent: unknown): bigint | undefined {
  try {
    const millionths = typeof sent === 'string' ? parseMicros(sent) : -1n;
    return millionths < 0n ? undefined : millionths;
  } catch {
    return undefined;
  }
}

/** What a list says of a model, or of a part of it: a factor of the book, or an amount of its own. */
class PriceRuleBody {
  @Described('A model, or * for every one.')
  @IsShownText(200)
  model!: string;

  /** Absent: every one. */
  @ValidateIf(({ unit, amount }: PriceRuleBody) => unit != null || amount != null) @IsIn(PRICE_UNITS) unit?: string;

  @IsOptional()
  @Matches(VARIANT_FORM, { message: 'variant must be 1 to 50 letters, digits or any of _ + . -' })
  variant?: string;

  @IsOptional() @IsWhole(0, BAND_MAX) from_input_tokens?: number;
  @Described('What the price of the book is multiplied by, such as 0.9.')
  @IsOptional()
  @DecimalText()
  @IsMillionths()
  factor?: string;
  @IsOptional() @DecimalText() @IsMillionths() amount?: string;
  @IsOptional() @IsWhole(1, 1_000_000_000) per_quantity?: number;

  @Described('When it begins. Absent: now.')
  @IsOptional()
  @IsMoment()
  effective_from?: string;
}

export class NewPriceListBody {
  @Matches(LIST_ID, { message: 'id must be 1 to 64 letters, digits or any of _ . -' }) id!: string;
  @IsShownText(200) name!: string;

  /** Read one by one, since there may be many. */
  @Described(undefined, { entries: PriceRuleBody }) @IsOptional() @IsArray() @ArrayMaxSize(RULES_MAX) rules?: unknown[];
}

export class NewRulesBody {
  @Described(undefined, { entries: PriceRuleBody }) @IsArray() @ArrayMaxSize(RULES_MAX) rules!: unknown[];
}

/** The list that an account is given. */
export class AssignedListBody {
  @Described('Null: the book alone.')
  @ValidateIf(({ list }: AssignedListBody) => list !== null)
  @IsText(64)
  list!: string | null;
  @IsOptional() @IsMoment() effective_from?: string;
}

/** @throws GatewayError `invalid_parameter` or another with each wrong field, such as `rules[3].factor`. */
export async function newRulesOf(sent: readonly unknown[]): Promise<NewPriceRule[]> {
  const rules: NewPriceRule[] = [];
  const mistakes: FieldError[] = [];
  const turns = new Turns();
  for (const [index, rule] of sent.entries()) {
    if (turns.isOver) await nextTurn(turns);
    if (mistakes.length >= MISTAKES_MAX) break;
    try {
      rules.push(newRuleOf(rule));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      mistakes.push(...mistakesIn(error, `rules[${index}]`));
    }
  }
  const [first, ...others] = mistakes;
  if (first) throw GatewayError.fromFields([first, ...others]);
  return rules;
}

/** The mistakes of an entry under its own name. */
function mistakesIn({ code, message, param, details }: GatewayError, path: string): FieldError[] {
  if (param === undefined) return [{ param: path, code, message: `${path}: ${message}` }];
  const found = details ?? [{ param, code, message }];
  return found.map((each) => ({ ...each, param: `${path}.${each.param}`, message: `${path}.${each.message}` }));
}

function newRuleOf(sent: unknown): NewPriceRule {
  const { model, unit, variant, factor, amount, ...rule } = checked(PriceRuleBody, sent);
  if ((factor === undefined) === (amount === undefined))
    throw new GatewayError('invalid_parameter', 'A rule must have either factor or amount.');
  if (amount !== undefined && model === '*')
    throw GatewayError.ofField('model', 'must name one model where there is an amount');
  if (amount === undefined && rule.per_quantity !== undefined)
    throw GatewayError.ofField('per_quantity', 'is allowed only with an amount');
  const mistake = mistakeInName(model);
  if (mistake !== undefined) throw GatewayError.ofField('model', mistake);
  const unsold = unsoldIn({ model, unit, variant: shownTier(variant), from: rule.from_input_tokens });
  if (unsold) throw GatewayError.ofField(unsold.field, unsold.rule);
  return {
    model,
    unit: unit ?? null,
    variant: variant === undefined ? null : String(shownTier(variant)),
    fromInputTokens: rule.from_input_tokens ?? null,
    factorMillionths: millionthsIn(factor) ?? null,
    amountMicros: millionthsIn(amount) ?? null,
    perQuantity: amount === undefined ? null : BigInt(rule.per_quantity ?? 1),
    effectiveFrom: beginning(rule.effective_from),
  };
}
