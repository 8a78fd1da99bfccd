import { readFileSync } from 'node:fs';
import { isJsonObject } from '#contracts';
import { ConfigError, type Environment, fillReferences, parseYamlFile } from '#platform';
import { fieldName, type FieldPath, type UpstreamMistake } from './check-fields.js';

/** The lists that UPSTREAMS_FILE may have. */
const LISTS = ['upstreams', 'media_upstreams'] as const;
export type UpstreamList = (typeof LISTS)[number];

/** @throws ConfigError where the file that UPSTREAMS_FILE names cannot be read. */
export function upstreamsText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`UPSTREAMS_FILE names "${file}", which cannot be read (${(error as Error).message})`]);
  }
}

/**
 * Reads one list of the file. Secrets stand in it as `${NAME}` and come from the environment; the other list is left
 * unread, so that a process needs no secret of an upstream that it never asks.
 *
 * @param file name of the file, for the messages.
 * @returns undefined when the file has no such list and has the other.
 * @throws ConfigError with one line for each mistake: file, line, field, rule.
 */
export function readUpstreamList<Entry>(
  source: { readonly text: string; readonly file: string; readonly environment?: Environment | undefined },
  list: UpstreamList,
  check: (sent: unknown) => { readonly checked: readonly Entry[]; readonly mistakes: readonly UpstreamMistake[] },
): readonly Entry[] | undefined {
  const { text, file, environment } = source;
  const { value, lineOf } = parseYamlFile(text, file);
  const others = LISTS.filter((name) => name !== list);
  if (isJsonObject(value) && value[list] === undefined && others.some((name) => value[name] !== undefined))
    return undefined;
  const unfilled: UpstreamMistake[] = [];
  const own = isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !others.some((other) => other === name)))
    : value;
  const { checked, mistakes } = check(fillAll(own, [], unfilled, environment));
  const all = [...unfilled, ...mistakes, ...idsOfBoth(value, list, lineOf)];
  if (all.length === 0) return checked;
  throw new ConfigError(all.map(({ path, rule }) => `${file}:${lineOf(path)}: ${fieldName(path)} ${rule}`));
}

/** An upstream of text and one of media under one id: a change or a search for one of them would find the other. */
function idsOfBoth(value: unknown, list: UpstreamList, lineOf: (path: FieldPath) => number): UpstreamMistake[] {
  const others = LISTS.filter((name) => name !== list).flatMap((name) => placesOfIds(value, name));
  return placesOfIds(value, list).flatMap(({ id, path }) => {
    const other = others.find((one) => one.id === id);
    if (!other) return [];
    return [{ path, rule: `"${id}" is the id of an upstream on line ${lineOf(other.path)} too: give each its own` }];
  });
}

interface PlaceOfId {
  readonly id: string;
  readonly path: FieldPath;
}

function placesOfIds(value: unknown, list: UpstreamList): PlaceOfId[] {
  const entries = isJsonObject(value) ? value[list] : undefined;
  return (Array.isArray(entries) ? entries : []).flatMap((entry: unknown, index) =>
    isJsonObject(entry) && typeof entry['id'] === 'string' ? [{ id: entry['id'], path: [list, index, 'id'] }] : [],
  );
}

/** `$NAME`, as a shell would take it; only `${NAME}` is filled in here. */
const WITHOUT_BRACES = /^\$([A-Z_][A-Z0-9_]*)$/;

function fillAll(
  value: unknown,
  path: FieldPath,
  mistakes: UpstreamMistake[],
  environment: Environment | undefined,
): unknown {
  if (typeof value === 'string') {
    const { text, missing } = fillReferences(value, environment);
    const bare = WITHOUT_BRACES.exec(value)?.[1];
    if (bare !== undefined)
      mistakes.push({ path, rule: `holds the name of a variable without braces: write \${${bare}}` });
    for (const name of missing)
      mistakes.push({ path, rule: `names the environment variable ${name}, which is not set` });
    return text;
  }
  if (Array.isArray(value)) return value.map((entry, index) => fillAll(entry, [...path, index], mistakes, environment));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, fillAll(entry, [...path, name], mistakes, environment)]),
  );
}
