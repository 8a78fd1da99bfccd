/** Text that is HTML already. */
export class Html {
  constructor(readonly text: string) {}
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that show nothing, and those that turn the direction of what follows: words of others could be read wrongly. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}]/gu;

const escape = (text: string): string =>
  text
    .replace(UNSEEN, (character) => (character === '\n' || character === '\t' ? character : '\u{FFFD}'))
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

type Inserted = Html | string | number | null | readonly Html[];

/** HTML from a template; what is inserted is escaped unless it is HTML itself. */
export const html = (parts: TemplateStringsArray, ...inserted: readonly Inserted[]): Html =>
  new Html(parts.map((part, index) => part + written(inserted[index] ?? '')).join(''));

function written(value: Exclude<Inserted, null>): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'string' || typeof value === 'number') return escape(String(value));
  return value.map((item) => item.text).join('\n');
}
