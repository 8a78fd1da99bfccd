import { GatewayError } from '../errors.js';
import { isJsonObject } from '../json.js';

/** Fields whose inside is the caller's own data, so that an underscore there is part of a name. */
const CALLERS_OWN = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
  'schema',
  'labels',
]);

/** Callers name their conversation to the gateway in `session_id`, in every style: it is no word of the interface. */
const SNAKE_CASE = /^(?!session_id$).*_[a-z]/s;

export interface OneSpelling {
  readonly body: unknown;
  /** True: a name was spelled in another way, so that the bytes that came are not what was read. */
  readonly isRenamed: boolean;
}

/**
 * Rewrites snake_case field names to camelCase, leaving the caller's own data alone.
 *
 * @throws GatewayError `invalid_parameter` when a field is there in both spellings: readers differ in which one counts; or
 *   when more different names are in snake_case than any request has.
 */
export const camelCaseGemini = (sent: unknown): OneSpelling =>
  // Nearly no body holds one, and to look for them takes a tenth of a copy: a large body would block all other work.
  holdsSnakeCase(sent) ? { body: new Renaming().renamed(sent), isRenamed: true } : { body: sent, isRenamed: false };

function holdsSnakeCase(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsSnakeCase);
  if (!isJsonObject(value)) return false;
  return Object.keys(value).some(
    (key) => SNAKE_CASE.test(key) || (!CALLERS_OWN.has(key) && holdsSnakeCase(value[key])),
  );
}

/** Where a value stands; written out only for an error, of which there is one at most. */
interface Place {
  readonly within: Place | undefined;
  readonly key: string | number;
}

/** The interface has some two hundred names. Thirty thousand, all different, would block all other work. */
const RENAMED_MAX = 1_000;

class Renaming {
  private readonly names = new Map<string, string>();

  renamed(value: unknown, place?: Place): unknown {
    if (Array.isArray(value)) return value.map((entry, key) => this.renamed(entry, { within: place, key }));
    if (!isJsonObject(value)) return value;
    const fields: Record<string, unknown> = {};
    for (const [key, entry] of Object.entries(value)) {
      const name = this.camelCase(key, place);
      if ((name !== key && Object.hasOwn(value, name)) || Object.hasOwn(fields, name))
        throw spelledTwice(pathOf({ within: place, key }), name);
      fields[name] = CALLERS_OWN.has(name) ? entry : this.renamed(entry, { within: place, key: name });
    }
    return fields;
  }

  private camelCase(key: string, place: Place | undefined): string {
    if (!SNAKE_CASE.test(key)) return key;
    const known = this.names.get(key);
    if (known !== undefined) return known;
    if (this.names.size >= RENAMED_MAX) throw tooManyNames(pathOf({ within: place, key }));
    const name = key.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
    this.names.set(key, name);
    return name;
  }
}

function pathOf({ within, key }: Place): string {
  const before = within ? pathOf(within) : '';
  if (typeof key === 'number') return `${before}[${key}]`;
  return before === '' ? key : `${before}.${key}`;
}

/** The longest path and name that an answer repeats, in characters. */
const SHOWN_MAX = 200;

function spelledTwice(path: string, name: string): GatewayError {
  const [param, other] = [path.slice(0, SHOWN_MAX), name.slice(0, SHOWN_MAX)];
  const message = `${param} and ${other} are two spellings of the same field; send only one of them.`;
  return new GatewayError('invalid_parameter', message, { param });
}

const tooManyNames = (path: string): GatewayError =>
  new GatewayError('invalid_parameter', `At most ${RENAMED_MAX} different names may be in snake_case in one request.`, {
    param: path.slice(0, SHOWN_MAX),
  });
