import { parseDocument } from 'yaml';
import { GatewayError, isJsonObject } from '#contracts';
import { JsonScan, nextTurn, Turns } from '#platform';
import { isYaml, readJson } from '../http/json-body.middleware.js';

/** What the file of an operator's holds beside a few other fields. */
export interface ListFile {
  /** Its lists, and the most entries of each. */
  readonly mostEntries: Readonly<Record<string, number>>;
  /** A field that an export has in front and that says nothing. */
  readonly ignored: string;
}

/** So many characters of entries are read at a time, some milliseconds of YAML: more would keep other work waiting. */
const PART_CHARACTERS = { json: 32 * 1024, yaml: 4 * 1024 };

/** What stands around the lists, and any one entry, in characters: both are read at once. */
const AROUND_MAX = 16 * 1024;

const BOUNDS = { maxValues: 50_000, maxKeys: 20_000 };

/**
 * Reads a file of long lists of short entries, as JSON or YAML, some entries at a time. YAML is read by its lines: each
 * entry begins with `- ` on a line of its own, as exports write it.
 *
 * @throws GatewayError `invalid_json`, `invalid_parameter` where it cannot be read or has too many entries.
 */
export async function readListFile(
  bytes: Buffer,
  type: string | undefined,
  { mostEntries, ignored }: ListFile,
): Promise<unknown> {
  const text = bytes.toString('utf8');
  // What begins so is JSON in YAML as well.
  const isJson = !isYaml(type) || /^\s*\{/.test(text.slice(0, 1_000));
  const names = Object.keys(mostEntries);
  const cut = isJson ? cutJson(text, names) : cutYaml(text, names);
  const lists = new Map<string, unknown[]>();
  const turns = new Turns();
  for (const part of cut.parts) {
    const { name } = part;
    if (part.text.length > PART_CHARACTERS.json + AROUND_MAX) throw tooLong(`An entry of ${name}`);
    const read = isJson ? await json(`[${part.text}]`) : await yamlEntries(part);
    if (!Array.isArray(read)) throw unread(`line ${part.line} is no entry of a list.`);
    const entries = lists.get(name) ?? [];
    lists.set(name, entries);
    for (const entry of read) entries.push(entry);
    if (entries.length > mostEntries[name]!) throw tooMany(name, mostEntries[name]!);
    if (turns.isOver) await nextTurn(turns);
  }
  const around = cut.around();
  if (around.length > AROUND_MAX) throw tooLong(`What stands around ${names.join(' and ')}`);
  const fields = isJson ? await json(around) : yaml({ text: around, line: 1 });
  if (!isJsonObject(fields)) return fields;
  const { [ignored]: _ignored, ...kept } = fields;
  return { ...kept, ...Object.fromEntries(lists) };
}

const tooLong = (what: string): GatewayError =>
  new GatewayError('invalid_parameter', `${what} must be at most ${AROUND_MAX} characters long.`);
const tooMany = (name: string, most: number): GatewayError =>
  new GatewayError('invalid_parameter', `${name} must be a list of 1 to ${most} entries.`, { param: name });
const unread = (why: string): GatewayError => new GatewayError('invalid_parameter', `The YAML cannot be read: ${why}`);

/** @throws GatewayError `invalid_json`, also where a key stands twice. */
function json(text: string): unknown {
  const bytes = Buffer.from(text);
  const scan = new JsonScan(BOUNDS);
  scan.push(bytes);
  scan.end();
  return readJson(bytes, 0, scan);
}

/** Some whole entries of a list, and the line on which they begin. */
interface Part {
  readonly name: string;
  readonly text: string;
  readonly line: number;
}

interface CutFile {
  readonly parts: Iterable<Part>;
  /** All else, with empty lists where the entries stood; called when there are no more parts. */
  around(): string;
}

/** Cuts the entries of lists out of the JSON of an object. What is no JSON is found when the pieces are parsed. */
function cutJson(text: string, names: readonly string[]): CutFile {
  let around = '';
  // What lies before it was cut out, or stands in `around`.
  let copied = 0;
  const found = new RegExp(String.raw`^"(${names.join('|')})"\s*:\s*\[`);
  function* parts(): Generator<Part> {
    // Its place is kept while others read files of their own.
    const structure = /["{}[\],]/g;
    let depth = 0;
    let name: string | undefined;
    for (let match = structure.exec(text); match; match = structure.exec(text)) {
      const at = match.index;
      if (name === undefined && around.length + at - copied > AROUND_MAX) return;
      const [character] = match;
      if (character === '"') {
        const opened = depth === 1 && name === undefined ? found.exec(text.slice(at, at + AROUND_MAX)) : null;
        const end = opened ? at + opened[0].length : endOfString(text, at);
        if (opened) {
          depth = 2;
          name = opened[1];
          around += text.slice(copied, end);
          copied = end;
        }
        structure.lastIndex = end;
      } else if (character === '{' || character === '[') depth += 1;
      else if (character !== ',') {
        depth -= 1;
        if (name === undefined || depth !== 1) continue;
        if (text.slice(copied, at).trim() !== '') yield { name, text: text.slice(copied, at), line: 1 };
        copied = at;
        name = undefined;
      } else if (name !== undefined && depth === 2 && at - copied >= PART_CHARACTERS.json) {
        yield { name, text: text.slice(copied, at), line: 1 };
        copied = at + 1;
      }
    }
  }
  return { parts: parts(), around: () => around + text.slice(copied) };
}

function endOfString(text: string, start: number): number {
  for (let end = start + 1; end < text.length; end += 1) {
    if (text[end] === '"') return end + 1;
    if (text[end] === '\\') end += 1;
  }
  return text.length;
}

const ENTRY = /^( *)- /;
const IS_BLANK = /^\s*(?:#.*)?$/;

/** Says of each line of YAML, in order, where it stands. */
class YamlLines {
  /** The list that it stands in. */
  name: string | undefined;
  private indent: number | undefined;
  private readonly begins: RegExp;

  constructor(names: readonly string[]) {
    this.begins = new RegExp(String.raw`^(${names.join('|')}):\s*(?:#.*)?$`);
  }

  placeOf(line: string): 'around' | 'begins' | 'entry' | 'within' {
    if (this.name !== undefined) {
      const dash = ENTRY.exec(line)?.[1]?.length;
      this.indent ??= dash;
      if (dash !== undefined && dash === this.indent) return 'entry';
      if (IS_BLANK.test(line) || line.search(/\S/) > (this.indent ?? 0)) return 'within';
    }
    this.name = this.begins.exec(line)?.[1];
    this.indent = undefined;
    return this.name === undefined ? 'around' : 'begins';
  }
}

/** Cuts the entries of lists out of the YAML of a mapping, by lines. */
function cutYaml(text: string, names: readonly string[]): CutFile {
  let around = '';
  function* parts(): Generator<Part> {
    const lines = new YamlLines(names);
    let part = { name: '', text: '', line: 1 };
    let line = 0;
    for (const said of linesOf(text)) {
      line += 1;
      const place = lines.placeOf(said);
      const isAround = place === 'around' || place === 'begins';
      if (isAround || (place === 'entry' && part.text.length >= PART_CHARACTERS.yaml)) {
        if (hasEntries(part)) yield part;
        part = { name: '', text: '', line };
      }
      if (isAround) {
        if (around.length > AROUND_MAX) return;
        around += place === 'begins' ? `${lines.name}: []\n` : `${said}\n`;
      } else
        part = { name: lines.name ?? '', text: `${part.text}${said}\n`, line: part.text === '' ? line : part.line };
    }
    if (hasEntries(part)) yield part;
  }
  return { parts: parts(), around: () => around };
}

const hasEntries = ({ text }: Part): boolean => /\S/.test(text.replaceAll(/^\s*#.*$/gm, ''));

function* linesOf(text: string): Generator<string> {
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf('\n', start);
    if (end === -1) end = text.length;
    yield text.slice(start, end);
  }
}

const IN_BRACES = /^ *- (\{.*\})\s*$/;

/** As exports write them, a JSON object each, they are read at once; any others as YAML, which takes fifty times as long. */
async function yamlEntries(part: Part): Promise<unknown> {
  const objects = part.text
    .trimEnd()
    .split('\n')
    .map((line) => IN_BRACES.exec(line)?.[1]);
  if (objects.every((object) => object?.startsWith('{"')))
    try {
      return await json(`[${objects.join(',')}]`);
    } catch {
      // Braces of YAML that only look like JSON.
    }
  return yaml(part);
}

/** @throws GatewayError `invalid_parameter` naming the line. */
function yaml({ text, line }: Pick<Part, 'text' | 'line'>): unknown {
  try {
    const document = parseDocument(text);
    const [error] = document.errors;
    if (error) {
      const at = error.linePos?.[0].line ?? 1;
      throw unread(`line ${line + at - 1}: ${error.message.split('\n')[0]}`);
    }
    return document.toJS() as unknown;
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw unread(`line ${line}: ${(error as Error).message}`);
  }
}
