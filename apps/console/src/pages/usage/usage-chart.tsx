import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import uPlot, { type AlignedData, type Options } from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useSession } from '../../api/queries';
import type { ConsoleUsage } from '../../api/types';
import { formatMoney } from '../../format/money';
import { formatDay } from '../../format/time';
import { useLanguage, useMessages } from '../../messages/language';
import { useIsDark } from '../../preferences/theme';
import { CHART_HEIGHT, type DaySeries, seriesOf } from './series';

const BAR_SHARE = 0.7;
const DAY_SECONDS = 86_400;
const PLACES = 6;

/** What was spent by day, for each model. */
export default function UsageChart({ data }: { readonly data: ConsoleUsage }) {
  const { usage } = useMessages().money;
  const shown = useMemo(() => seriesOf(data, usage.others), [data, usage.others]);
  return <DayChart of={shown} label={usage.chart(data.time_zone)} />;
}

/** Money by day as bars that stand on each other. The keyboard reads the same days as the pointer. */
export function DayChart({ of: all, label }: { readonly of: DaySeries; readonly label: string }) {
  const { messages, language } = useLanguage();
  const { usage } = messages.money;
  const { currency } = useSession();
  const isDark = useIsDark();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [index, setIndex] = useState<number | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const shown = useMemo(() => ({ ...all, series: all.series.filter(({ name }) => !hidden.has(name)) }), [all, hidden]);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const created = new uPlot(chartOptions(element, shown, language, currency, setIndex), stacked(shown), element);
    plot.current = created;
    const watch = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height: CHART_HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      created.destroy();
    };
    // The theme changes the colours that are read from the page.
  }, [all, shown, language, currency, isDark]);
  const press = (event: KeyboardEvent) => {
    const last = shown.days.length - 1;
    const next = {
      ArrowRight: Math.min(last, (index ?? -1) + 1),
      ArrowLeft: Math.max(0, (index ?? last + 1) - 1),
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setIndex(next);
    const at = plot.current;
    at?.setCursor({ left: at.valToPos(at.data[0][next] ?? 0, 'x'), top: 10 }, false);
  };
  return (
    <div className="stack tight">
      <div
        className="chart"
        style={{ minHeight: CHART_HEIGHT }}
        ref={place}
        tabIndex={0}
        role="group"
        aria-roledescription={label}
        aria-label={`${label}. ${usage.chartHint}`}
        onKeyDown={press}
      />
      <p className="chart-readout small-text" role="status">
        {index !== null && readout(shown, index, language, currency)}
      </p>
      <div className="row">
        {all.series.map(({ name, color }) => (
          <button
            key={name}
            type="button"
            className="button small quiet"
            aria-pressed={!hidden.has(name)}
            onClick={() =>
              setHidden((before) =>
                before.has(name) ? new Set([...before].filter((each) => each !== name)) : new Set([...before, name]),
              )
            }
          >
            <span
              className="swatch"
              style={{ background: hidden.has(name) ? 'transparent' : `var(${color})`, borderColor: `var(${color})` }}
            />
            {name || label}
          </button>
        ))}
      </div>
    </div>
  );
}

function readout({ days, series }: DaySeries, index: number, language: string, currency: string): string {
  const amounts = series.filter(({ amounts: each }) => (each[index] ?? 0) > 0);
  const say = (amount: number) => formatMoney(amount.toFixed(PLACES), currency);
  const total = amounts.reduce((sum, { amounts: each }) => sum + (each[index] ?? 0), 0);
  const parts = amounts.length > 1 ? amounts.map(({ name, amounts: each }) => `${name} ${say(each[index] ?? 0)}`) : [];
  return [`${formatDay(days[index] ?? '', language)}: ${say(total)}`, ...parts].join(' · ');
}

/** Each series on top of those before it. */
function stacked({ days, series }: DaySeries): AlignedData {
  const x = days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1000);
  const sums = days.map(() => 0);
  const layers = series.map(({ amounts }) =>
    amounts.map((amount, index) => (sums[index] = (sums[index] ?? 0) + amount)),
  );
  // The highest first: what is drawn later covers its lower part.
  return [x, ...layers.toReversed()];
}

function chartOptions(
  element: HTMLElement,
  shown: DaySeries,
  language: string,
  currency: string,
  onIndex: (index: number | null) => void,
): Options {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name);
  const resolved = (name: string) => resolveColor(element, color(name));
  const bars = uPlot.paths.bars?.({ size: [BAR_SHARE, 60], radius: 0.15 });
  const axis = {
    stroke: resolved('--muted'),
    grid: { stroke: resolved('--line'), width: 1 },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
  };
  const date = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', timeZone: 'UTC' });
  const [first = 0, last = 0] = [shown.days[0], shown.days.at(-1)].map((day) => Date.parse(`${day}T00:00:00Z`) / 1000);
  return {
    width: element.clientWidth,
    height: CHART_HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    hooks: { setCursor: [({ cursor }) => onIndex(cursor.idx ?? null)] },
    // Half a bar of room at both ends, so that neither is cut.
    scales: {
      x: { time: true, range: [first - DAY_SECONDS / 2, last + DAY_SECONDS / 2] },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 32,
        grid: { show: false },
        values: (_plot, values) => values.map((value) => date.format(value * 1000)),
        space: 70,
      },
      {
        ...axis,
        size: 72,
        values: (_plot, values) => values.map((value) => formatMoney(value.toFixed(PLACES), currency)),
      },
    ],
    series: [
      {},
      ...shown.series.toReversed().map(({ color: token }) => ({
        fill: resolved(token),
        width: 0,
        points: { show: false },
        ...(bars && { paths: bars }),
      })),
    ],
  };
}

/** A canvas knows neither variables nor `light-dark()`: the page itself says what they are now. */
function resolveColor(element: HTMLElement, value: string): string {
  const probe = document.createElement('span');
  probe.style.color = value;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
