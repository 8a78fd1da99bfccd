import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import { isJsonObject } from '#contracts';
import { ConfigError, fillReferences, type Environment } from '#platform';
import { UpstreamsFile, type UpstreamEntry } from './upstream-entry.js';

type Path = readonly (string | number)[];

/** One mistake, before it is known on which line it stands. */
interface Mistake {
  readonly path: Path;
  readonly rule: string;
}

/** `upstreams[1].base_url` */
const nameOf = (path: Path): string =>
  path.reduce<string>(
    (name, step) => (typeof step === 'number' ? `${name}[${step}]` : name ? `${name}.${step}` : step),
    '',
  );

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
  const mistakes: Mistake[] = [];
  const filled = fillAll(document.toJS(), [], mistakes, environment);
  const parsed = plainToInstance(UpstreamsFile, isJsonObject(filled) ? filled : {}, { exposeDefaultValues: true });
  const errors = validateSync(parsed, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  mistakes.push(...errors.flatMap((error) => mistakesOf(error, [])));
  if (errors.length === 0) mistakes.push(...mistakesTogether(parsed.upstreams));
  if (mistakes.length === 0) return parsed.upstreams;
  throw new ConfigError(
    mistakes.map(({ path, rule }) => `${file}:${lineOf(document, path, lines)}: ${nameOf(path)} ${rule}`),
  );
}

function fillAll(value: unknown, path: Path, mistakes: Mistake[], environment: Environment | undefined): unknown {
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

function mistakesOf({ property, constraints, children }: ValidationError, above: Path): Mistake[] {
  const step = /^\d+$/.test(property) ? Number(property) : property;
  const path = [...above, step];
  const [rule] = Object.values(constraints ?? {});
  const own =
    rule === undefined
      ? []
      : [{ path, rule: rule.replace(`property ${property}`, '').replace(`${property} `, '').trim() }];
  return [...own, ...(children ?? []).flatMap((child) => mistakesOf(child, path))];
}

/** What only shows when the entries are seen together, or inside their model lists. */
function mistakesTogether(entries: readonly UpstreamEntry[]): Mistake[] {
  return entries.flatMap((entry, index) => {
    const path = ['upstreams', index];
    const twice = entries.findIndex(({ id }) => id === entry.id) < index;
    const models = Object.entries(entry.models);
    return [
      ...(twice ? [{ path: [...path, 'id'], rule: `"${entry.id}" is used twice` }] : []),
      ...(models.length === 0 ? [{ path: [...path, 'models'], rule: 'must name at least one model' }] : []),
      ...models
        .filter(([, name]) => typeof name !== 'string' || name === '')
        .map(([model]) => ({ path: [...path, 'models', model], rule: "must be the model's name at the upstream" })),
    ];
  });
}

/** The line of a field, or of the nearest field around it when the field itself is missing. */
function lineOf(document: Document, path: Path, lines: LineCounter): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
