import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsOptional,
  IsString,
  Matches,
  MinLength,
  ValidateBy,
  ValidateIf,
} from 'class-validator';
import { GatewayError, parseMicros, shortDecimal } from '#contracts';
import {
  ENTRIES_MAX,
  LIST_SOURCES,
  type ListPlace,
  type ListSource,
  type NewProposal,
  type PriceName,
  type ProposalView,
} from '#features';
import { checked } from '../checked-input.js';
import { Described } from '../http/input-schema.js';
import { IsDay, IsMoment, IsShownText, IsText } from '../input-fields.js';
import { ListQuery } from '../list-query.js';
import { viewOf } from '../row-view.js';
import { beginning } from './price.dto.js';
import { DecimalText } from './price-lists.dto.js';

const ITEMS_MAX = 20_000;
const DIGITS_MAX = 12;
const FACTOR_RULE = 'must be a decimal above 0 and up to 1000, such as "1.2", with at most six places';

export class NewProposalBody {
  @IsIn(LIST_SOURCES) source!: ListSource;
  @Described('Where the list is fetched, by https.') @IsOptional() @IsText(2_000) url?: string;

  @Described('The text of the list.')
  @IsOptional()
  @IsString()
  @MinLength(2)
  file?: string;

  @Described('The text upstream whose own list it is.')
  @IsOptional()
  @IsText(64)
  upstream?: string;
  @Described('What amounts are multiplied by, such as 1.2. Absent: 1.')
  @IsOptional()
  @DecimalText()
  @Matches(/^\d{1,4}(\.\d{1,6})?$/, { message: `factor ${FACTOR_RULE}` })
  factor?: string;

  @Described('`cent`, or how many digits. Absent: exact.')
  @IsOptional()
  @ValidateBy({
    name: 'isRounding',
    validator: {
      validate: (value) =>
        value === 'cent' || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= DIGITS_MAX),
      defaultMessage: () => `rounding must be "cent" or a whole number of digits from 1 to ${DIGITS_MAX}`,
    },
  })
  rounding?: 'cent' | number;

  @IsOptional() @IsMoment() effective_from?: string;
}

/** Which entries of a list that are of no model of ours. */
export class OthersQuery extends ListQuery {
  @Described('A part of the name that the list gives.') @IsOptional() @IsText(200) text?: string;
}

/** Which usage, at which prices. */
export class SimulationBody {
  @IsOptional() @IsDay() from?: string;
  @IsOptional() @IsDay() to?: string;

  @Described('The id of a proposal: its ticked items, unless `items` says which.')
  @IsOptional()
  @IsText(64)
  proposal?: string;
  @IsOptional() @IsArray() @ArrayMinSize(1) @ArrayMaxSize(ITEMS_MAX) @IsString({ each: true }) items?: string[];

  @Described('Prices in the form of PRICES_FILE, whenever they are in force.')
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(ENTRIES_MAX)
  prices?: unknown[];

  @Described('The id of a price list, for all accounts.')
  @IsOptional()
  @IsText(64)
  list?: string;
}

/** A yes. */
export class ChosenItemsBody {
  @IsArray() @ArrayMinSize(1) @ArrayMaxSize(ITEMS_MAX) @ArrayUnique() @IsString({ each: true }) items!: string[];
}

export class PriceNameBody {
  @IsIn(LIST_SOURCES) source!: ListSource;

  /** Of the list. */
  @IsShownText(300) id!: string;

  @Described('Null: none of ours.')
  @ValidateIf(({ model }: PriceNameBody) => model !== null)
  @IsShownText(200)
  model!: string | null;
}

/** @throws GatewayError `invalid_parameter`. */
export function priceNameOf(body: unknown): PriceName {
  const { source, id, model } = checked(PriceNameBody, body);
  return { source, id, model };
}

/**
 * @param unit of balances: a factor takes the currency of lists to it.
 * @throws GatewayError `invalid_parameter` or `missing_parameter` that names the field.
 */
export function newProposalOf(body: unknown, unit: string): NewProposal {
  const asked = checked(NewProposalBody, body);
  const { source, factor, rounding = null, effective_from: from } = asked;
  if (factor === undefined && unit !== 'USD')
    throw new GatewayError(
      'missing_parameter',
      `factor is missing: lists are in USD and balances in ${unit}, so it must be the exchange rate times your markup.`,
      { param: 'factor' },
    );
  const factorMillionths = parseMicros(factor ?? '1');
  if (factorMillionths <= 0n || factorMillionths > 1_000_000_000n) throw GatewayError.ofField('factor', FACTOR_RULE);
  return { source, place: placeOf(asked), factorMillionths, rounding, effectiveFrom: beginning(from) };
}

function placeOf({ source, url, file, upstream }: NewProposalBody): ListPlace {
  const places: ListPlace[] = [
    ...(url === undefined ? [] : [{ url }]),
    ...(file === undefined ? [] : [{ file }]),
    ...(upstream === undefined ? [] : [{ upstream }]),
  ];
  const [place, other] = places;
  if (!place || other)
    throw GatewayError.ofField('url', 'or file or upstream is required, exactly one of them: where the list is');
  if ('upstream' in place !== (source === 'upstream'))
    throw GatewayError.ofField('upstream', 'is required where source is "upstream", and refused elsewhere');
  return place;
}

/** As operators see it. */
export const proposalView = ({ factor_millionths: factor, rounding, ...proposal }: ProposalView): object => ({
  ...(viewOf(proposal) as object),
  factor: shortDecimal(factor),
  rounding: rounding === null || rounding === 'cent' ? rounding : Number(rounding),
});
