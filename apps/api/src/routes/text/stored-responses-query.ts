import { GatewayError, isIdentifier } from '#contracts';
import { INCLUDABLE, type Includable, type InputItemQuery } from '#features';

type Query = Readonly<Record<string, unknown>>;

const MOST_ITEMS = 100;
const ITEMS_OF_A_PAGE = 20;

const wrong = (param: string, rule: string): GatewayError =>
  new GatewayError('invalid_parameter', `${param} must be ${rule}.`, { param });

/** @throws GatewayError `invalid_parameter` for a value that stands there and is none of these words. */
function oneOf<Word extends string>(query: Query, param: string, words: readonly Word[]): Word | undefined {
  const sent = query[param];
  if (sent === undefined) return undefined;
  const word = words.find((known) => known === sent);
  if (word === undefined) throw wrong(param, `one of ${words.join(', ')}`);
  return word;
}

function wholeNumber(query: Query, param: string, min: number, max: number): number | undefined {
  const sent = query[param];
  if (sent === undefined) return undefined;
  const number = typeof sent === 'string' && /^\d{1,15}$/.test(sent) ? Number(sent) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw wrong(
    param,
    max === Number.MAX_SAFE_INTEGER ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`,
  );
}

/**
 * What besides is asked for: `include`, once or several times, or `include[]` as client libraries write lists.
 *
 * @throws GatewayError `invalid_parameter` naming what may be asked for.
 */
export function readInclude(query: Query): readonly Includable[] {
  const sent = [query['include'], query['include[]']].flat().filter((name) => name !== undefined);
  return sent.map((name) => {
    const known = INCLUDABLE.find((includable) => includable === name);
    if (known) return known;
    throw wrong('include', `a list of ${INCLUDABLE.join(', ')}`);
  });
}

/** @throws GatewayError `invalid_parameter`, by the name of the parameter. */
export function readInputItemQuery(query: Query): InputItemQuery {
  const { after } = query;
  if (after !== undefined && !isIdentifier(after)) throw wrong('after', 'the id of an item');
  return {
    limit: wholeNumber(query, 'limit', 1, MOST_ITEMS) ?? ITEMS_OF_A_PAGE,
    order: oneOf(query, 'order', ['asc', 'desc']) ?? 'desc',
    after,
  };
}

/** Whether a stored response is sent as a stream, and behind which event it begins. */
export interface ReplayQuery {
  readonly stream: boolean;
  readonly startingAfter: number | undefined;
}

/** @throws GatewayError `invalid_parameter`, by the name of the parameter. */
export function readReplayQuery(query: Query): ReplayQuery {
  const stream = oneOf(query, 'stream', ['true', 'false']) === 'true';
  const startingAfter = wholeNumber(query, 'starting_after', 0, Number.MAX_SAFE_INTEGER);
  if (startingAfter !== undefined && !stream)
    throw new GatewayError('invalid_parameter', 'starting_after belongs to a stream: send stream=true with it.', {
      param: 'starting_after',
    });
  return { stream, startingAfter };
}
