import { useSession } from '../../api/queries';
import { formatMoney, toMicros } from '../../format/money';
import { useMessages } from '../../messages/language';

/** What was earned, and what of it went to vendors; null: unknown. */
export interface EarnedBar {
  /** What the bar is of, where a name has several. */
  readonly label?: string;
  readonly earned: string;
  readonly cost: string | null;
}

/** Bars of one name, such as a model. */
export interface EarnedRow {
  readonly name: string;
  readonly bars: readonly EarnedBar[];
}

const PERCENT = 100;
const number = (amount: string): number => Math.max(0, Number(toMicros(amount)));
const widthOf = ({ earned, cost }: EarnedBar): number => Math.max(number(earned), cost === null ? 0 : number(cost));

/**
 * Earnings beside each other: what vendors took of each, what stayed, and what was lost. A picture of what a table below it says
 * in numbers.
 */
export function MoneyBars({ rows }: { readonly rows: readonly EarnedRow[] }) {
  const { bars: words } = useMessages().selling;
  const { currency } = useSession();
  const widest = Math.max(1, ...rows.flatMap(({ bars }) => bars.map(widthOf)));
  const share = (micros: number): string => `${(micros / widest) * PERCENT}%`;
  return (
    <div className="stack tight">
      <ul className="money-bars">
        {rows.map(({ name, bars }) => (
          <li key={name}>
            <span className="clipped" title={name}>
              {name}
            </span>
            <div className="stack tight">
              {bars.map((bar) => (
                <div key={bar.label ?? ''} className="money-bar">
                  <span className="bar" aria-hidden="true">
                    {partsOf(bar).map(([kind, micros]) => (
                      <span key={kind} className={`bar-part ${kind}`} style={{ width: share(micros) }} />
                    ))}
                  </span>
                  <span className="muted tiny">
                    {[bar.label, formatMoney(bar.earned, currency)].filter((each) => each !== undefined).join(' ')}
                  </span>
                </div>
              ))}
            </div>
          </li>
        ))}
      </ul>
      <p className="row small-text muted" aria-hidden="true">
        {(['cost', 'margin', 'loss', 'unknown'] as const).map((kind) => (
          <span key={kind} className="bar-key">
            <span className={`bar-part ${kind}`} />
            {words[kind]}
          </span>
        ))}
      </p>
    </div>
  );
}

function partsOf({
  earned,
  cost,
}: EarnedBar): (readonly [kind: 'cost' | 'margin' | 'loss' | 'unknown', micros: number])[] {
  const income = number(earned);
  if (cost === null) return [['unknown', income]];
  const spent = number(cost);
  return [['cost', Math.min(income, spent)], spent > income ? ['loss', spent - income] : ['margin', income - spent]];
}
