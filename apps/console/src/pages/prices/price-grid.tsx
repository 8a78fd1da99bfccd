import type { AdminPrice } from '../../api/types';
import { formatCount, unitName } from '../../format/number';
import { useLanguage } from '../../messages/language';
import { MILLION, tierName, TOKEN_PRICES } from './price-parts';

/** A column of the grid: a service tier or variant, and a band of it. */
export type PriceColumn = Pick<AdminPrice, 'variant' | 'from_input_tokens'>;

export const columnKey = ({ variant, from_input_tokens: from }: PriceColumn): string => `${variant} ${from}`;

/** The columns of prices, the default below all bands first. */
export function columnsOf(prices: readonly PriceColumn[]): readonly PriceColumn[] {
  const found = new Map(prices.map((price) => [columnKey(price), price]));
  const rank = ({ variant }: PriceColumn): string => (variant === 'default' ? '' : variant);
  return [...found.values()]
    .map(({ variant, from_input_tokens }) => ({ variant, from_input_tokens }))
    .sort((one, other) => rank(one).localeCompare(rank(other)) || one.from_input_tokens - other.from_input_tokens);
}

/** The units of prices, in the order in which they are sold. */
export function unitsOf(prices: readonly Pick<AdminPrice, 'unit'>[]): readonly string[] {
  const order = (unit: string): number => {
    const place = TOKEN_PRICES.indexOf(unit);
    return place < 0 ? TOKEN_PRICES.length : place;
  };
  return [...new Set(prices.map(({ unit }) => unit))].sort((one, other) => order(one) - order(other));
}

/** For how many of a unit its prices are shown. */
export const shownQuantity = (unit: string, prices: readonly AdminPrice[]): number =>
  unit.endsWith('token') ? MILLION : (prices.find((price) => price.unit === unit)?.per_quantity ?? 1);

/** What stands above a column. */
export function useColumnName(): (column: PriceColumn) => string {
  const { messages, language } = useLanguage();
  const { selling } = messages;
  return ({ variant, from_input_tokens: from }) =>
    [
      ...(variant === 'default' && from > 0 ? [] : [tierName(selling.tiers, variant)]),
      ...(from > 0 ? [selling.band(formatCount(from, language))] : []),
    ].join(' · ');
}

/** A unit with the quantity that its prices are for. */
export function UnitHead({ unit, quantity }: { readonly unit: string; readonly quantity: number }) {
  const { messages, language } = useLanguage();
  const { selling, money } = messages;
  return (
    <>
      {unitName(money.units, unit, quantity)}
      {quantity !== 1 && (
        <span className="muted">
          {' '}
          {quantity === MILLION ? selling.perMillion : selling.per(formatCount(quantity, language))}
        </span>
      )}
    </>
  );
}
