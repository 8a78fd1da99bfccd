import { convert, type FormatCallback } from 'html-to-text';
import { tooMuch } from './extracted-text.js';

/** How deep elements are read, and how deep they may seem to lie: from some ten thousand levels on, parsing hardly ends. */
const READ_DEPTH = 2_000;
const DEPTH_MAX = 5_000;

/** What the library puts where it leaves out what lies too deep. No page has it: parsers replace it. */
const LEFT_OUT = '\0';

/** Elements that have no end, or whose end another begins. */
const ENDLESS = new Set(
  'area base br col dd dt embed hr img input li link meta optgroup option p param source tbody td tfoot th thead tr track wbr'.split(
    ' ',
  ),
);

const TAG = /<(\/?)([a-z][^\s/>]*)/gi;

/** @throws Unreadable */
function expectShallow(html: string): void {
  let depth = 0;
  for (const [, slash, name = ''] of html.matchAll(TAG)) {
    if (ENDLESS.has(name.toLowerCase())) continue;
    depth = slash ? Math.max(0, depth - 1) : depth + 1;
    if (depth > DEPTH_MAX) throw tooMuch(`elements nested deeper than ${DEPTH_MAX}`);
  }
}

/** The cells of a row stand behind each other: to lay them out in columns takes time that grows with the square of their number. */
const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addLiteral('\t');
};

const row: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 1 });
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 1 });
};

/** The words of a page, without the hidden ones. @throws Unreadable */
export function textOfHtml(html: string): string {
  expectShallow(html);
  const text = convert(html, {
    wordwrap: false,
    // By default the library leaves out, without a word, what comes after 16 million characters.
    limits: { maxInputLength: Infinity, maxDepth: READ_DEPTH, ellipsis: LEFT_OUT },
    formatters: { cell, row },
    selectors: [
      { selector: 'a', options: { ignoreHref: true } },
      { selector: 'img', format: 'skip' },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
      { selector: 'table', format: 'block' },
      { selector: 'tr', format: 'row' },
      ...['td', 'th'].map((selector) => ({ selector, format: 'cell' })),
    ],
  });
  if (text.includes(LEFT_OUT)) throw tooMuch(`elements nested deeper than ${READ_DEPTH}`);
  return text;
}
