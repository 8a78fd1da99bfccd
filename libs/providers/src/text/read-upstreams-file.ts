import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import { isJsonObject } from '#contracts';
import { ConfigError, fillReferences, type Environment } from '#platform';
import { checkUpstreamsFile, fieldName, type FieldPath, type UpstreamMistake } from './check-upstreams.js';
import type { UpstreamEntry } from './upstream-entry.js';

/**
 * Reads the list of upstreams. Secrets stand in it as `${NAME}` and come from the environment.
 *
 * @param file name of the file, for the messages.
 * @throws ConfigError with one line for each mistake: file, line, field, rule.
 */
export function readUpstreamsFile(text: string, file: string, environment?: Environment): readonly UpstreamEntry[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0)
    throw new ConfigError(
      document.errors.map((error) => `${file}:${lines.linePos(error.pos[0]).line}: ${error.message.split('\n')[0]}`),
    );
  const unfilled: UpstreamMistake[] = [];
  const filled = fillAll(document.toJS(), [], unfilled, environment);
  const { checked, mistakes } = checkUpstreamsFile(filled);
  const all = [...unfilled, ...mistakes];
  if (all.length === 0) return checked;
  throw new ConfigError(
    all.map(({ path, rule }) => `${file}:${lineOf(document, path, lines)}: ${fieldName(path)} ${rule}`),
  );
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

/** The line of a field, or of the nearest field around it when the field itself is missing. */
function lineOf(document: Document, path: FieldPath, lines: LineCounter): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
