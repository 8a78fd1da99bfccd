/** Reads a value of the query string; undefined when the page cannot mean it. */
export type Reader<Value> = (raw: unknown) => Value | undefined;

const LONGEST = 500;

/** Any text. */
export const words: Reader<string> = (raw) =>
  typeof raw === 'string' && raw !== '' && raw.length <= LONGEST ? raw : undefined;

/** One of a few values. */
export const oneOf =
  <const Values extends readonly string[]>(values: Values): Reader<Values[number]> =>
  (raw) =>
    values.find((value) => value === raw);

/** A day as 2026-11-22. */
export const day: Reader<string> = (raw) =>
  typeof raw === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(raw) && !Number.isNaN(Date.parse(raw)) ? raw : undefined;

/** Some of a few values, separated by commas. */
export const someOf =
  (values: readonly string[]): Reader<string> =>
  (raw) =>
    typeof raw === 'string' && raw !== '' && raw.split(',').every((each) => values.includes(each)) ? raw : undefined;

/** What a page reads of the query string, by name. */
export type Shape = Readonly<Record<string, Reader<unknown>>>;
export type SearchOf<Of extends Shape> = { [Name in keyof Of]?: ReturnType<Of[Name]> };

/** A page's part of the query string; what it does not know is left out, and named on the page. */
export const searchOf =
  <Of extends Shape>(shape: Of) =>
  (raw: Record<string, unknown>): SearchOf<Of> =>
    Object.fromEntries(
      Object.entries(shape).flatMap(([name, read]) => {
        const value = read(raw[name]);
        return value === undefined ? [] : [[name, value]];
      }),
    ) as SearchOf<Of>;

/** The query string as texts, without the quotes and numbers of JSON. */
export const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));

export function stringifySearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (typeof value === 'string' && value !== '') parameters.set(name, value);
  }
  return parameters.size > 0 ? `?${parameters.toString()}` : '';
}
