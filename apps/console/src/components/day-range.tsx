import type { ReactNode } from 'react';
import { useMessages } from '../messages/language';
import { TextField } from './fields';

/** Days, both included, such as `2026-11-20`. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Chooses the days that a page shows, and what its totals are grouped by. */
export function DayRangeFilters({
  range,
  parts,
  offered = parts,
  timeZone = 'UTC',
  names,
  chosen,
  onChange,
  children,
}: {
  readonly range: DayRange;
  readonly parts: readonly string[];
  /** Those that can be chosen now. */
  readonly offered?: readonly string[];
  /** In which the days are. */
  readonly timeZone?: string;
  readonly names: Readonly<Record<string, string>>;
  readonly chosen: readonly string[];
  readonly onChange: (part: Partial<DayRange & { by: string }>) => void;
  readonly children?: ReactNode;
}) {
  const { common, money } = useMessages();
  return (
    <form className="filters" aria-label={common.filter} onSubmit={(event) => event.preventDefault()}>
      <TextField
        label={common.from}
        type="date"
        max={range.to}
        value={range.from}
        onChange={(event) => event.target.value && onChange({ from: event.target.value })}
      />
      <TextField
        label={common.to(timeZone)}
        type="date"
        min={range.from}
        value={range.to}
        onChange={(event) => event.target.value && onChange({ to: event.target.value })}
      />
      <fieldset className="field">
        <legend>{money.usage.by}</legend>
        <div className="row parts">
          {parts.map((part) => (
            <label key={part} className="check">
              <input
                type="checkbox"
                checked={chosen.includes(part)}
                disabled={!offered.includes(part) || (chosen.length === 1 && chosen.includes(part))}
                onChange={(event) =>
                  onChange({
                    by: parts
                      .filter((each) => (each === part ? event.target.checked : chosen.includes(each)))
                      .join(','),
                  })
                }
              />
              <span>{names[part]}</span>
            </label>
          ))}
        </div>
      </fieldset>
      {children}
    </form>
  );
}
