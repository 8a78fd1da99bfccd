import { formatCount, unitName } from '../format/number';
import { useLanguage } from '../messages/language';
import type { ConsoleChargeLine } from '../api/types';
import { Money } from './values';

/** How an amount was calculated: quantity times price, line by line. */
export function ChargeLines({ lines }: { readonly lines: readonly ConsoleChargeLine[] }) {
  return (
    <ul className="charge-lines">
      {lines.map((line, index) => (
        // Two lines may be alike in everything.
        // oxlint-disable-next-line react/no-array-index-key
        <ChargeLine key={index} line={line} />
      ))}
    </ul>
  );
}

/** What made the price another one than the first of its unit: a service tier or variant, a band, a price list. */
function useReasons(): (line: ConsoleChargeLine) => string {
  const { language, messages } = useLanguage();
  const { lines: words } = messages.money;
  const count = (value: number) => formatCount(value, language);
  return ({ variant, from_input_tokens: from = 0, band_tokens: tokens = 0, price_list: list }) =>
    [
      ...(variant === '' || variant === 'default' ? [] : [variant]),
      ...(from > 0 ? [words.band(count(from), count(tokens))] : []),
      ...(list === undefined ? [] : [words.priceList(list)]),
    ].join(', ');
}

function ChargeLine({ line }: { readonly line: ConsoleChargeLine }) {
  const { language, messages } = useLanguage();
  const reasons = useReasons()(line);
  const unit = unitName(messages.money.units, line.unit, line.quantity);
  return (
    <li>
      <span>
        {formatCount(line.quantity, language)} {unit}
        {line.unit_price !== null && (
          <>
            {' × '}
            <Money amount={line.unit_price} />
            {line.per_quantity !== null && line.per_quantity !== 1 && ` / ${formatCount(line.per_quantity, language)}`}
          </>
        )}
        {reasons !== '' && <span className="muted"> ({reasons})</span>}
      </span>
      <Money amount={line.amount} form="full" />
    </li>
  );
}
