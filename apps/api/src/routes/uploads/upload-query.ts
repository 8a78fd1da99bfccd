import { GatewayError, isIdentifier } from '#contracts';
import { FILE_PURPOSES, type FileListQuery, type FilePurpose } from '#features';

type Query = Readonly<Record<string, unknown>>;

export const wrong = (param: string, rule: string): GatewayError =>
  new GatewayError('invalid_parameter', `${param} must be ${rule}.`, { param });

/** @throws GatewayError `invalid_parameter` for a value that stands there and is none of these words. */
export function oneOf<Word extends string>(query: Query, param: string, words: readonly Word[]): Word | undefined {
  const sent = query[param];
  if (sent === undefined) return undefined;
  const word = words.find((known) => known === sent);
  if (word === undefined) throw wrong(param, `one of ${words.join(', ')}`);
  return word;
}

/** How many things one part of a list may have. */
export interface PageBounds {
  readonly limit: number;
  readonly limitMax: number;
}

/** @throws GatewayError `invalid_parameter`, by the name of the parameter. */
export function readListQuery(query: Query, { limit, limitMax }: PageBounds) {
  const sent = query['limit'];
  const number = typeof sent === 'string' && /^\d{1,6}$/.test(sent) ? Number(sent) : Number.NaN;
  if (sent !== undefined && !(number >= 1 && number <= limitMax))
    throw wrong('limit', `a whole number from 1 to ${limitMax}`);
  return {
    limit: sent === undefined ? limit : number,
    order: oneOf(query, 'order', ['asc', 'desc']) ?? 'desc',
    after: idIn(query, 'after'),
    before: idIn(query, 'before'),
  };
}

function idIn(query: Query, param: string): string | undefined {
  const sent = query[param];
  if (sent === undefined || isIdentifier(sent)) return sent;
  throw wrong(param, 'an id of the list');
}

/** @throws GatewayError `invalid_parameter`, by the name of the parameter. */
export const readFileQuery = (query: Query): FileListQuery => ({
  ...readListQuery(query, { limit: 10_000, limitMax: 10_000 }),
  purpose: oneOf(query, 'purpose', FILE_PURPOSES),
});

/** What a form says of its file. */
export interface UploadFields {
  readonly purpose: FilePurpose;
  readonly expiresAfterSeconds: number | null;
}

const EXPIRES_ANCHOR = 'expires_after[anchor]';
const EXPIRES_SECONDS = 'expires_after[seconds]';
const KNOWN = ['purpose', EXPIRES_ANCHOR, EXPIRES_SECONDS];
const SECONDS_MIN = 3_600;
const SECONDS_MAX = 2_592_000;

/** @throws GatewayError `missing_parameter`, `unknown_parameter` or `invalid_parameter`. */
export function readUploadFields(fields: ReadonlyMap<string, string>): UploadFields {
  const stray = [...fields.keys()].find((name) => !KNOWN.includes(name));
  if (stray !== undefined)
    throw new GatewayError('unknown_parameter', `${stray} is not a field of an upload: file, ${KNOWN.join(', ')}.`, {
      param: stray,
    });
  const purpose = oneOf(Object.fromEntries(fields), 'purpose', FILE_PURPOSES);
  if (!purpose)
    throw new GatewayError('missing_parameter', `purpose is missing: it must be one of ${FILE_PURPOSES.join(', ')}.`, {
      param: 'purpose',
    });
  return { purpose, expiresAfterSeconds: secondsIn(fields) };
}

function secondsIn(fields: ReadonlyMap<string, string>): number | null {
  const [anchor, sent] = [fields.get(EXPIRES_ANCHOR), fields.get(EXPIRES_SECONDS)];
  if (anchor === undefined && sent === undefined) return null;
  if (anchor !== 'created_at') throw wrong(EXPIRES_ANCHOR, 'created_at');
  const number = /^\d{1,10}$/.test(sent ?? '') ? Number(sent) : Number.NaN;
  if (number >= SECONDS_MIN && number <= SECONDS_MAX) return number;
  throw wrong(EXPIRES_SECONDS, `a whole number of seconds from ${SECONDS_MIN} to ${SECONDS_MAX}`);
}
