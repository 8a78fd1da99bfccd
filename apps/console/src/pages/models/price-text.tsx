import type { ConsoleModel, ConsolePrice } from '../../api/types';
import { Money, None } from '../../components/values';
import { formatCount, unitName } from '../../format/number';
import { toMicros } from '../../format/money';
import { useLanguage } from '../../messages/language';

/** What one unit costs, by which prices of different quantities compare. */
const forOne = (price: ConsolePrice): number => Number(toMicros(price.amount)) / price.per_quantity;

/** A unit of a price, with its quantity where it is not one. */
export function UnitText({ unit, perQuantity }: { readonly unit: string; readonly perQuantity: number }) {
  const { messages, language } = useLanguage();
  return `${formatCount(perQuantity, language)} ${unitName(messages.money.units, unit, perQuantity)}`;
}

const TOKENS = ['input_token', 'output_token'] as const;

/** What a model costs in one line: a text model by what goes in and comes out, any other by its lowest price. */
export function PriceText({ of: model }: { readonly of: ConsoleModel }) {
  const { messages, language } = useLanguage();
  const [input, output] = TOKENS.map((unit) => model.prices.find((price) => price.unit === unit));
  if (input && output && input.per_quantity === output.per_quantity) {
    return (
      <span>
        <Money amount={input.amount} unit={input.currency} />{' '}
        <span className="muted">{messages.models.tokensIn} · </span>
        <Money amount={output.amount} unit={output.currency} />{' '}
        <span className="muted">{messages.models.tokensOut(formatCount(input.per_quantity, language))}</span>
      </span>
    );
  }
  const cheapest = [...model.prices].sort((one, other) => forOne(one) - forOne(other))[0];
  if (!cheapest) return <None />;
  return (
    <span>
      {model.prices.length > 1 && <span className="muted">{messages.models.from} </span>}
      <Money amount={cheapest.amount} unit={cheapest.currency} />
      <span className="muted">
        {' / '}
        <UnitText unit={cheapest.unit} perQuantity={cheapest.per_quantity} />
      </span>
    </span>
  );
}
