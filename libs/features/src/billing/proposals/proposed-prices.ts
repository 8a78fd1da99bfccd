import { type Decimal, dividedHalfUp, type Micros, timesWhole } from '#contracts';
import { missingInBands, priceName } from '../prices/bands.js';
import type { DatedPrice } from '../prices/check-prices.js';
import { isExamplePrice } from '../prices/seed-prices.js';
import type { ListedModel, ListedPrice } from './listed-models.js';

/** How the prices of a list become ours. */
export interface ProposalTerms {
  /** What they are multiplied by, in millionths. */
  readonly factorMillionths: bigint;
  /** `cent`: to two places; a number: to so many digits; null: not at all. Halves go up. */
  readonly rounding: 'cent' | number | null;
}

/** What should be looked at before a yes. */
export type ProposalFlag =
  | 'new'
  | 'rises'
  | 'falls'
  | 'from_zero'
  | 'free'
  | 'below_cost'
  | 'incomplete_band'
  | 'unsure_band'
  | 'moved_band'
  | 'unknown_unit'
  | 'many_digits'
  | 'unlikely_amount'
  | 'listed_twice'
  | 'later_price'
  | 'unmapped'
  | 'other_entry'
  | 'no_price'
  | 'not_offered';

export interface BookPrice extends DatedPrice {
  readonly id: string;
}

export interface ProposedPrice extends Omit<DatedPrice, 'model' | 'effectiveFrom'> {
  /** Of the list, in its currency, for as many. */
  readonly listedMicros: bigint;
}

/** What a model would be sold at, beside what it is sold at. */
export interface Difference {
  readonly book: readonly BookPrice[];
  readonly proposed: readonly ProposedPrice[];
  /** Of those proposed, what the book does not say already. */
  readonly changed: readonly ProposedPrice[];
  readonly flags: readonly ProposalFlag[];
  /** Prices without which a band would be incomplete. */
  readonly missing: readonly string[];
}

/** Prices of tokens are said for a million; for more, where that alone is exact. */
const MILLION = 1_000_000n;
const BILLION = 1_000_000_000n;
/** A list that says more has counted in binary fractions. */
const DIGITS_MAX = 12;
const CENT_MICROS = 10_000n;

export function proposedPrices({ prices }: ListedModel, terms: ProposalTerms): readonly ProposedPrice[] {
  return prices.map((price) => ({
    unit: price.unit,
    variant: price.tier,
    fromInputTokens: price.fromInputTokens,
    ...atTerms(price, terms),
  }));
}

function atTerms({ unit, amount }: ListedPrice, { factorMillionths, rounding }: ProposalTerms) {
  const quantity = unit.endsWith('token') ? MILLION : 1n;
  const exact = { digits: amount.digits * factorMillionths, places: amount.places + 6 };
  const whole = timesWhole(exact, quantity * MILLION);
  if (rounding !== null)
    return {
      amountMicros: rounded(whole, rounding, unit),
      perQuantity: quantity,
      listedMicros: timesWhole(amount, quantity * MILLION),
    };
  const isExact = isWholeTimes(exact, quantity * MILLION) || quantity === 1n;
  return isExact
    ? { amountMicros: whole, perQuantity: quantity, listedMicros: timesWhole(amount, quantity * MILLION) }
    : {
        amountMicros: timesWhole(exact, BILLION * MILLION),
        perQuantity: BILLION,
        listedMicros: timesWhole(amount, BILLION * MILLION),
      };
}

const isWholeTimes = ({ digits, places }: Decimal, by: bigint): boolean => (digits * by) % 10n ** BigInt(places) === 0n;

/** To the next step, but never to nothing: that would give away what costs little. Fees are no amounts for a million, so they keep their cents. */
function rounded(micros: Micros, rounding: 'cent' | number, unit: string): Micros {
  if (rounding === 'cent' && !unit.endsWith('token')) return micros;
  const length = micros.toString().length;
  const step = rounding === 'cent' ? CENT_MICROS : 10n ** BigInt(Math.max(0, length - rounding));
  const near = dividedHalfUp(micros, step) * step;
  return near === 0n && micros > 0n ? step : near;
}

/** Sets what a list proposes for a model against all prices of the model in the book, at the moment from which it is to hold. */
export function differenceOf(
  model: string,
  listed: ListedModel,
  terms: ProposalTerms,
  book: readonly BookPrice[],
  at: Date,
): Difference {
  const inForce = inForceAt(book, at);
  const known = new Map(inForce.map((price) => [priceName(price), price]));
  const proposed = proposedPrices(listed, terms);
  const changed = proposed.filter((price) => {
    const before = known.get(priceName({ ...price, model }));
    return !before || before.amountMicros * price.perQuantity !== price.amountMicros * before.perQuantity;
  });
  const added = changed.map((price) => ({ ...price, model, effectiveFrom: at }));
  const missing = missingInBands([...book, ...added], at);
  const pairs = changed.flatMap((price) => {
    const before = known.get(priceName({ ...price, model }));
    return before ? [{ before, after: price }] : [];
  });
  const flags = {
    new: inForce.length === 0,
    rises: pairs.some(({ before, after }) => isMore(after, before)),
    falls: pairs.some(({ before, after }) => isMore(before, after)),
    from_zero: pairs.some(({ before, after }) => before.amountMicros === 0n && after.amountMicros > 0n),
    free: changed.some(({ amountMicros, unit }) => amountMicros === 0n && unit === 'input_token'),
    incomplete_band: missing.length > 0,
    unsure_band: listed.isUnsure,
    moved_band: listed.movedBands.length > 0,
    unknown_unit: listed.unread.length > 0,
    many_digits: listed.prices.some(
      ({ amount: { digits } }) => digits.toString().replace(/0+$/, '').length > DIGITS_MAX,
    ),
    unlikely_amount: listed.prices.some(isUnlikely) || proposed.some(isNothing),
    listed_twice: listed.isTwice === true,
    later_price: changed.some((price) =>
      book.some((other) => priceName(other) === priceName({ ...price, model }) && other.effectiveFrom > at),
    ),
    no_price: proposed.length === 0,
  } satisfies Partial<Record<ProposalFlag, boolean>>;
  return {
    book: inForce,
    proposed,
    changed,
    flags: (Object.keys(flags) as (keyof typeof flags)[]).filter((flag) => flags[flag]),
    missing: missing.map(priceName),
  };
}

/** No vendor takes more for a million tokens, or less without giving them away: the list counts in another unit than its form says. */
const LIKELY_MOST = 100_000n * MILLION;
const LIKELY_LEAST = 100n;

function isUnlikely({ unit, amount }: ListedPrice): boolean {
  if (!unit.endsWith('token') || amount.digits === 0n) return false;
  const micros = timesWhole(amount, MILLION * MILLION);
  return micros > LIKELY_MOST || micros < LIKELY_LEAST;
}

/** So little that the book cannot say it. */
const isNothing = ({ amountMicros, listedMicros, unit }: ProposedPrice): boolean =>
  amountMicros === 0n && listedMicros > 0n && unit.endsWith('token');

/** The newest of each that has begun. Example prices are nobody's. */
function inForceAt(book: readonly BookPrice[], at: Date): readonly BookPrice[] {
  const found = new Map<string, BookPrice>();
  for (const price of book) {
    const before = found.get(priceName(price));
    if (price.effectiveFrom <= at && (!before || before.effectiveFrom < price.effectiveFrom))
      found.set(priceName(price), price);
  }
  return [...found.values()].filter(({ id }) => !isExamplePrice(id));
}

type Amount = Pick<ProposedPrice, 'amountMicros' | 'perQuantity'>;
const isMore = (one: Amount, other: Amount): boolean =>
  one.amountMicros * other.perQuantity > other.amountMicros * one.perQuantity;

/** Whether each price that changes does so by less than half of what it was. */
export function changesLittle({ book, changed }: Difference): boolean {
  return changed.every((after) => {
    const before = book.find(
      ({ unit, variant, fromInputTokens }) =>
        unit === after.unit && variant === after.variant && fromInputTokens === after.fromInputTokens,
    );
    if (!before) return true;
    const [was, is] = [before.amountMicros * after.perQuantity, after.amountMicros * before.perQuantity];
    return 2n * (is > was ? is - was : was - is) < was;
  });
}
