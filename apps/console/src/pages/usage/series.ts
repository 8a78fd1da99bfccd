import { toMicros } from '../../format/money';
import type { ConsoleUsage } from '../../api/types';

/** The height of the chart of usage in pixels, kept free while it is loaded. */
export const CHART_HEIGHT = 260;

const MOST_SERIES = 6;
const DAY_MS = 86_400_000;
const MICROS = 1_000_000;

/** Bars of one name, such as a model: money for each day. */
export interface Series {
  readonly name: string;
  readonly amounts: readonly number[];
  /** The token of its colour. */
  readonly color: string;
}

/** What a chart of days shows. */
export interface DaySeries {
  readonly days: readonly string[];
  readonly series: readonly Series[];
}

/** Every day of the range. */
export function listDays({ from, to }: Pick<ConsoleUsage, 'from' | 'to'>): string[] {
  const [first, last] = [Date.parse(`${from}T00:00:00Z`), Date.parse(`${to}T00:00:00Z`)];
  return Array.from({ length: Math.round((last - first) / DAY_MS) + 1 }, (_day, index) =>
    new Date(first + index * DAY_MS).toISOString().slice(0, 10),
  );
}

/** Money by day, for each of the most expensive models, and for all others together. */
export function seriesOf(data: ConsoleUsage, others: string): DaySeries {
  const days = listDays(data);
  const sums = new Map<string, Map<string, bigint>>();
  for (const { day, model, tag, amount } of data.items) {
    if (day === null) continue;
    const name = model ?? tag ?? '';
    const byDay = sums.get(name) ?? new Map<string, bigint>();
    byDay.set(day, (byDay.get(day) ?? 0n) + toMicros(amount));
    sums.set(name, byDay);
  }
  const total = (byDay: Map<string, bigint>) => [...byDay.values()].reduce((sum, each) => sum + each, 0n);
  const ranked = [...sums].sort(([, one], [, other]) => Number(total(other) - total(one)));
  const shown = ranked.length <= MOST_SERIES ? ranked : ranked.slice(0, MOST_SERIES - 1);
  const rest = ranked.slice(shown.length).map(([, byDay]) => byDay);
  const all: [string, Map<string, bigint>[]][] = [
    ...shown.map(([name, byDay]): [string, Map<string, bigint>[]] => [name, [byDay]]),
    ...(rest.length > 0 ? ([[others, rest]] as [string, Map<string, bigint>[]][]) : []),
  ];
  return {
    days,
    series: all.map(([name, parts], index) => ({
      name,
      color: `--series-${index + 1}`,
      amounts: days.map((day) => parts.reduce((sum, part) => sum + Number(part.get(day) ?? 0n), 0) / MICROS),
    })),
  };
}
