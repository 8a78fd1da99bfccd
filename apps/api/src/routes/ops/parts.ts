import { formatMicros, type Micros, type TaskState } from '#contracts';
import { html, Html } from './html.js';

/** How something stands; each has a colour of its own beside its words. */
export type Tone = 'good' | 'warn' | 'bad' | 'off' | 'running' | 'queued';

export const taskState = (state: TaskState): Html => html`<span class="state ${state}">${state}</span>`;
export const mark = (tone: Tone, words: string): Html => html`<span class="state ${tone}">${words}</span>`;

const NOTHING = html`<span class="quiet">–</span>`;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A moment of UTC, short; the whole of it stands in the title. The year is left out while it is this one. */
export function when(date: Date | null): Html {
  if (date === null) return NOTHING;
  const iso = date.toISOString();
  const year = date.getUTCFullYear() === new Date().getUTCFullYear() ? '' : ` ${date.getUTCFullYear()}`;
  const short = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ''}${year} ${iso.slice(-13, -5)}`;
  return html`<time datetime="${iso}" title="${iso}">${short}</time>`;
}

/** How long ago that was; the moment itself stands in the title. */
export function ago(date: Date | null): Html {
  if (date === null) return NOTHING;
  const iso = date.toISOString();
  return html`<time datetime="${iso}" title="${iso}">${duration((Date.now() - date.getTime()) / 1000)} ago</time>`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** The two largest units of a number of seconds: "3 h 5 min". */
export function duration(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds));
  const first = UNITS.findIndex(([, size]) => rest >= size);
  if (first === -1) return '0 s';
  const parts = UNITS.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return [count, unit] as const;
  });
  return parts.flatMap(([count, unit]) => (count > 0 ? [`${count} ${unit}`] : [])).join(' ');
}

export const orNothing = (value: Html | string | number | null): Html =>
  value === null || value === '' ? NOTHING : html`${value}`;

export const money = (micros: Micros | null): Html => (micros === null ? NOTHING : html`${formatMicros(micros)}`);

/** Words of others, cut to what a table bears; the rest stands in the title. */
export function words(text: string | null, charactersMax = 160): Html {
  if (text === null || text === '') return NOTHING;
  if (text.length <= charactersMax) return html`${text}`;
  return html`<span title="${text.slice(0, 2_000)}">${text.slice(0, charactersMax)}…</span>`;
}

/** A cell of a table: what stands in it, and how it is set. */
export interface Cell {
  readonly kind: 'id' | 'amount' | 'words' | '';
  readonly content: Html;
}

export const plain = (content: Html | string | number | null): Cell => ({ kind: '', content: orNothing(content) });
export const id = (content: Html | string | null): Cell => ({ kind: 'id', content: orNothing(content) });
export const number = (content: Html | string | number | null): Cell => ({
  kind: 'amount',
  content: orNothing(content),
});
export const text = (content: string | null): Cell => ({ kind: 'words', content: words(content) });

/** A column: its heading, and the cell it makes of a row. */
export type Column<Row> = readonly [heading: string, cell: (row: Row) => Cell];

/** A table that scrolls within its frame where the screen is narrow; the frame can be reached by keyboard. */
export function table<Row>(label: string, columns: readonly Column<Row>[], rows: readonly Row[], empty: string): Html {
  if (rows.length === 0) return html`<p class="quiet">${empty}</p>`;
  const body = rows.map((row) => columns.map(([, cell]) => cell(row)));
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">
    <table>
      <thead>
        <tr>
          ${columns.map(([heading], index) => html`<th scope="col" class="${body[0]?.[index]?.kind ?? ''}">${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${body.map(
          (cells) =>
            html`<tr>
              ${cells.map(({ kind, content }) => html`<td class="${kind}">${content}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Names beside values. */
export const facts = (pairs: readonly (readonly [string, Html | string | number | null])[]): Html =>
  html`<dl>
    ${pairs.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${orNothing(value)}</dd>`,
    )}
  </dl>`;

/** Where a list continues. `path` with the filters of this page, which the next one keeps. */
export function pager(path: string, filters: URLSearchParams, shown: number, nextCursor: string | null): Html {
  const isFirst = !filters.has('cursor');
  const rest = new URLSearchParams(filters);
  rest.delete('cursor');
  rest.delete('done');
  const first = `${path}?${rest.toString()}`;
  if (nextCursor !== null) rest.set('cursor', nextCursor);
  return html`<div class="pager">
    <span class="quiet"
      >${shown} shown, newest first${nextCursor === null ? '; this is the end of the list.' : '.'}</span
    >
    ${isFirst ? null : html`<a href="${first}">First page</a>`}
    ${nextCursor === null ? null : html`<a href="${path}?${rest.toString()}" rel="next">Next page →</a>`}
  </div>`;
}
