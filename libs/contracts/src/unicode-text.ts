/** Something a reader can see. */
export const VISIBLE = /\S/u;

/** True unless a text in the value, or the name of a field in it, holds what no database can store: NUL, or half of a surrogate pair. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  return typeof value !== 'object' || value === null || Object.entries(value).flat().every(isStorable);
}

/** The name of the first field that is not storable. */
export const unstorableField = (fields: object): string | undefined =>
  Object.entries(fields).find((field) => !isStorable(field))?.[0];

/** The rule that such a field breaks. */
export const STORABLE_RULE = 'must hold no NUL and no half of a character';

/** True when the text has at most `max` Unicode characters; a long text is not read further than needed. */
export function hasAtMostCharacters(text: string, max: number): boolean {
  if (text.length <= max) return true;
  if (text.length > max * 2) return false;
  let characters = 0;
  for (const _character of text) if (++characters > max) return false;
  return true;
}

/** True when there is a text and it holds more than white space. */
export const isVisible = (text: string | undefined): text is string => text !== undefined && VISIBLE.test(text);

const ANY_UNSTORABLE = /[\0\p{Surrogate}]/gu;

/** The first `max` UTF-16 units of a text, safe to store and send: what no database can store becomes U+FFFD. */
export const excerpt = (text: string, max: number): string => text.slice(0, max).replaceAll(ANY_UNSTORABLE, '\uFFFD');
