import { isJsonObject } from '#contracts';
import { ConfigError, fillReferences, parseYamlFile, type Environment } from '#platform';
import { checkUpstreamsFile, fieldName, type FieldPath, type UpstreamMistake } from './check-upstreams.js';
import type { UpstreamEntry } from './upstream-entry.js';

/**
 * Reads the list of upstreams. Secrets stand in it as `${NAME}` and come from the environment.
 *
 * @param file name of the file, for the messages.
 * @throws ConfigError with one line for each mistake: file, line, field, rule.
 */
export function readUpstreamsFile(text: string, file: string, environment?: Environment): readonly UpstreamEntry[] {
  const { value, lineOf } = parseYamlFile(text, file);
  const unfilled: UpstreamMistake[] = [];
  const filled = fillAll(value, [], unfilled, environment);
  const { checked, mistakes } = checkUpstreamsFile(filled);
  const all = [...unfilled, ...mistakes];
  if (all.length === 0) return checked;
  throw new ConfigError(all.map(({ path, rule }) => `${file}:${lineOf(path)}: ${fieldName(path)} ${rule}`));
}

function fillAll(
  value: unknown,
  path: FieldPath,
  mistakes: UpstreamMistake[],
  environment: Environment | undefined,
): unknown {
  if (typeof value === 'string') {
    const { text, missing } = fillReferences(value, environment);
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
