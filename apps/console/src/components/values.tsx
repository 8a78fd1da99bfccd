import type { ReactNode } from 'react';
import { shortId } from '../format/number';
import { formatHeadline, formatMoney } from '../format/money';
import { formatClock, formatDateTime, formatMoment, type Moment, toDate } from '../format/time';
import { useLanguage } from '../messages/language';
import { useSession } from '../api/queries';
import { CopyButton } from './button';

interface MoneyProps {
  readonly amount: string;
  readonly unit?: string;
  readonly form?: 'short' | 'full' | 'headline';
}

/** Money in the unit of the account. Short in headlines, all six places in the ledger; hovering always shows all. */
export function Money({ amount, unit, form = 'short' }: MoneyProps) {
  const { currency } = useSession();
  const shownUnit = unit ?? currency;
  const text =
    form === 'headline' ? formatHeadline(amount, shownUnit) : formatMoney(amount, shownUnit, form === 'full');
  return (
    <span className="money" title={formatMoney(amount, shownUnit, true)}>
      {text}
    </span>
  );
}

interface TimeProps {
  readonly at: Moment;
  readonly absolute?: boolean;
  /** Names the zone of an absolute time: the reader's own. */
  readonly withZone?: boolean;
  readonly isClock?: boolean;
}

/** A moment: relative within a day, then the date; hovering shows it whole. `isClock`: the time of day, to the second. */
export function Time({ at, absolute = false, withZone = false, isClock = false }: TimeProps) {
  const { language } = useLanguage();
  const iso = toDate(at).toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {isClock
        ? formatClock(at, language)
        : absolute
          ? formatDateTime(at, language, withZone)
          : formatMoment(at, language)}
    </time>
  );
}

interface IdProps {
  readonly id: string;
  readonly name: string;
  readonly whole?: boolean;
}

/** An identifier, shortened in the middle, with a button that copies all of it. */
export function Id({ id, name, whole = false }: IdProps) {
  return (
    <span className={whole ? 'id break' : 'id'}>
      <span title={id}>{whole ? id : shortId(id)}</span>
      <CopyButton text={id} name={name} />
    </span>
  );
}

/** An identifier in a cell, on one line and shortened in the middle; whole under the pointer. */
export const ShortId = ({ of: id }: { readonly of: string }) => (
  <code className="id" title={id}>
    {shortId(id)}
  </code>
);

/** What stands where there is nothing to tell. */
export const None = () => <span className="muted">–</span>;

/** Something, or the sign that there is nothing to tell. */
export const orNone = (shown: ReactNode): ReactNode =>
  shown === null || shown === undefined || shown === '' ? <None /> : shown;

/** An e-mail address in a table; a long one is cut, and whole under the pointer. */
export const Email = ({ of: email }: { readonly of: string | null }) =>
  email === null ? (
    <None />
  ) : (
    <span className="clipped" title={email}>
      {email}
    </span>
  );
