import { parseDocument } from 'yaml';
import { GatewayError, isJsonObject } from '#contracts';
import { JsonScan, nextTurn, Turns } from '#platform';
import { isYaml, readJson } from '../../http/json-body.middleware.js';

/** The list that a file of an operator's holds beside a few other fields. */
export interface ListFile {
  readonly name: string;
  readonly mostEntries: number;
  /** A field that an export has in front and that says nothing. */
  readonly ignored: string;
}

/** So many characters of entries are read at a time, some milliseconds of YAML: more would keep other work waiting. */
const PART_CHARACTERS = { json: 32 * 1024, yaml: 4 * 1024 };

/** What stands around the list, and any one entry, in characters: both are read at once. */
const AROUND_MAX = 16 * 1024;

const BOUNDS = { maxValues: 50_000, maxKeys: 20_000 };

/**
 * Reads a file that is a long list of short entries, as JSON or YAML, some entries at a time. YAML is read by its lines: each
 * entry begins with `- ` on a line of its own, as exports write it.
 *
 * @throws GatewayError `invalid_json`, `invalid_parameter` where it cannot be read or has too many entries.
 */
export async function readListFile(bytes: Buffer, type: string | undefined, list: ListFile): Promise<unknown> {
  const text = bytes.toString('utf8');
  // What begins so is JSON in YAML as well.
  const isJson = !isYaml(type) || /^\s*\{/.test(text.slice(0, 1_000));
  const cut = isJson ? cutJson(text, list.name) : cutYaml(text, list.name);
  const entries: unknown[] = [];
  const turns = new Turns();
  for (const part of cut.parts) {
    if (part.text.length > PART_CHARACTERS.json + AROUND_MAX) throw tooLong(`An entry of ${list.name}`);
    const read = isJson ? await json(`[${part.text}]`) : await yamlEntries(part);
    if (!Array.isArray(read)) throw unread(`line ${part.line} is no entry of a list.`);
    for (const entry of read) entries.push(entry);
    if (entries.length > list.mostEntries) throw tooMany(list);
    if (turns.isOver) await nextTurn(turns);
  }
  const around = cut.around();
  if (around.length > AROUND_MAX) throw tooLong(`What stands around the list "${list.name}"`);
  const fields = isJson ? await json(around) : yaml({ text: around, line: 1 });
  if (!isJsonObject(fields)) return fields;
  const { [list.ignored]: _ignored, ...kept } = fields;
  return entries.length > 0 ? { ...kept, [list.name]: entries } : kept;
}

const tooLong = (what: string): GatewayError =>
  new GatewayError('invalid_parameter', `${what} must be at most ${AROUND_MAX} characters long.`);
const tooMany = ({ name, mostEntries }: ListFile): GatewayError =>
  new GatewayError('invalid_parameter', `${name} must be a list of 1 to ${mostEntries} entries.`, { param: name });
const unread = (why: string): GatewayError => new GatewayError('invalid_parameter', `The YAML cannot be read: ${why}`);

/** @throws GatewayError `invalid_json`, also where a key stands twice. */
function json(text: string): unknown {
  const bytes = Buffer.from(text);
  const scan = new JsonScan(BOUNDS);
  scan.push(bytes);
  scan.end();
  return readJson(bytes, 0, scan);
}

/** Some whole entries, and the line on which they begin. */
interface Part {
  readonly text: string;
  readonly line: number;
}

interface CutFile {
  readonly parts: Iterable<Part>;
  /** All else, with an empty list where the entries stood; called when there are no more parts. */
  around(): string;
}

/** Cuts the entries of a list out of the JSON of an object. What is no JSON is found when the pieces are parsed. */
function cutJson(text: string, name: string): CutFile {
  let around = text;
  const found = new RegExp(String.raw`^"${name}"\s*:\s*\[`);
  function* parts(): Generator<Part> {
    // Its place is kept while others read files of their own.
    const structure = /["{}[\],]/g;
    let depth = 0;
    let start = -1;
    for (let match = structure.exec(text); match; match = structure.exec(text)) {
      const at = match.index;
      if (start === -1 && at > AROUND_MAX) return;
      const [character] = match;
      if (character === '"') {
        const opened = depth === 1 && start === -1 ? found.exec(text.slice(at, at + name.length + AROUND_MAX)) : null;
        const end = opened ? at + opened[0].length : endOfString(text, at);
        if (opened) {
          depth = 2;
          start = end;
          around = text.slice(0, end);
        }
        structure.lastIndex = end;
      } else if (character === '{' || character === '[') depth += 1;
      else if (character !== ',') {
        depth -= 1;
        if (start === -1 || depth !== 1) continue;
        if (text.slice(start, at).trim() !== '') yield { text: text.slice(start, at), line: 1 };
        around += text.slice(at);
        return;
      } else if (depth === 2 && start !== -1 && at - start >= PART_CHARACTERS.json) {
        yield { text: text.slice(start, at), line: 1 };
        start = at + 1;
      }
    }
  }
  return { parts: parts(), around: () => around };
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
  #indent: number | undefined;
  #isInList = false;
  readonly #begins: RegExp;

  constructor(name: string) {
    this.#begins = new RegExp(String.raw`^${name}:\s*(?:#.*)?$`);
  }

  placeOf(line: string): 'around' | 'begins' | 'entry' | 'within' {
    if (this.#isInList) {
      const dash = ENTRY.exec(line)?.[1]?.length;
      this.#indent ??= dash;
      if (dash !== undefined && dash === this.#indent) return 'entry';
      if (IS_BLANK.test(line) || line.search(/\S/) > (this.#indent ?? 0)) return 'within';
    }
    this.#isInList = this.#begins.test(line);
    return this.#isInList ? 'begins' : 'around';
  }
}

/** Cuts the entries of a list out of the YAML of a mapping, by lines. */
function cutYaml(text: string, name: string): CutFile {
  let around = '';
  function* parts(): Generator<Part> {
    const lines = new YamlLines(name);
    let part = '';
    let partLine = 1;
    let line = 0;
    for (const said of linesOf(text)) {
      line += 1;
      const place = lines.placeOf(said);
      if (place === 'around' || place === 'begins') {
        if (around.length > AROUND_MAX) return;
        around += place === 'begins' ? `${name}: []\n` : `${said}\n`;
        continue;
      }
      if (place === 'entry' && part.length >= PART_CHARACTERS.yaml) {
        yield { text: part, line: partLine };
        part = '';
      }
      if (part === '') partLine = line;
      part += `${said}\n`;
    }
    if (/\S/.test(part.replaceAll(/^\s*#.*$/gm, ''))) yield { text: part, line: partLine };
  }
  return { parts: parts(), around: () => around };
}

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
function yaml({ text, line }: Part): unknown {
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
