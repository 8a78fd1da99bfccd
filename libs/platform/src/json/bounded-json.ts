import { isJsonObject, type JsonObject } from '#contracts';
import {
  DEPTH_MAX,
  DIFFERENT_KEYS_MAX,
  hasManyDifferentKeys,
  type JsonBounds,
  JsonStructure,
  placeOf,
  QUOTE,
} from './json-structure.js';
import { CONVERSATION_JSON } from './json-scan.js';

/**
 * How much structure a reply may have, so that parsing it takes some 100 ms at most and little memory: fifteen million empty
 * objects fit into 45 MB, and would take two gigabytes. Eight thousand tokens with twenty others of the same place each, and
 * what is known of each, have less.
 */
const REPLY_JSON: JsonBounds = { maxValues: 1_500_000, maxKeys: 600_000 };

const ESCAPES_MAX = 2_000_000;

/** Texts of fewer characters in all are parsed within a millisecond or two, whatever is in them. */
const SHORT_CHARACTERS = 64 * 1024;

/** Texts of fewer characters cannot nest deeper than is allowed. */
const SHALLOW_CHARACTERS = 2 * DEPTH_MAX;

/** Unpacking takes time of its own, whatever was packed. */
const PACKED_CHARACTERS_MAX = 16 * 1024 * 1024;

/** JSON with more structure than is parsed. Says which bound it breaks and nothing of what it holds. */
export class TooMuchStructure extends SyntaxError {
  constructor(readonly rule: string) {
    super(`JSON may ${rule}`);
    this.name = 'TooMuchStructure';
  }
}

/**
 * The value of a JSON text that somebody else wrote: a vendor, a server of tools, a model. Nothing is built of a text with
 * more structure than any answer has.
 *
 * @throws SyntaxError when it is not JSON, TooMuchStructure when it has too much of it.
 */
export function parseBounded(json: string): unknown {
  if (json.length > SHORT_CHARACTERS) new TextStructure(REPLY_JSON).read(json);
  return JSON.parse(json);
}

/** The same for what will be written again, which takes a call of ours for each level: its depth is counted however short it is. */
function parseNested(json: string): unknown {
  if (json.length > SHALLOW_CHARACTERS) new TextStructure(REPLY_JSON).read(json);
  return JSON.parse(json);
}

/** JSON that stands within the texts of one request: all of it together may have as much structure as what is around it. */
export class JsonTexts {
  private readonly structure = new TextStructure(CONVERSATION_JSON);
  private readonly differentKeys = new Set<string>();
  private characters = 0;
  private packed = 0;

  /** @throws SyntaxError, TooMuchStructure */
  parse(json: string): unknown {
    this.count(json);
    return JSON.parse(json);
  }

  /**
   * Reads a text that was packed as base64url.
   *
   * @throws SyntaxError, TooMuchStructure
   */
  parsePacked(packed: string): unknown {
    this.packed += packed.length;
    if (this.packed > PACKED_CHARACTERS_MAX)
      throw new TooMuchStructure(`be packed in at most ${PACKED_CHARACTERS_MAX} characters`);
    return this.parse(Buffer.from(packed, 'base64url').toString('utf8'));
  }

  /**
   * For a text that is parsed later.
   *
   * @throws TooMuchStructure
   */
  count(json: string): void {
    this.characters += json.length;
    if (this.characters > SHORT_CHARACTERS || json.length > SHALLOW_CHARACTERS) this.structure.read(json);
    if (this.structure.keys > DIFFERENT_KEYS_MAX && hasManyDifferentKeys(json, this.differentKeys))
      throw new TooMuchStructure(`hold at most ${DIFFERENT_KEYS_MAX} different keys`);
  }
}

/** The structure of whole texts, one after the other. */
class TextStructure extends JsonStructure {
  private escapes = 0;
  private json = '';
  /** The next quote and the next backslash, once searched for: native searches pass long strings ten times faster. */
  private quote = -1;
  private backslash = -1;

  /** @throws TooMuchStructure */
  read(json: string): void {
    this.json = json;
    this.quote = -1;
    this.backslash = -1;
    this.begin();
    for (let index = 0; index < json.length; index += 1) {
      const code = json.charCodeAt(index);
      this.count(code);
      if (code === QUOTE) index = this.endOfString(index + 1);
    }
    this.json = '';
  }

  protected override tooMuch(rule: string): TooMuchStructure {
    return new TooMuchStructure(rule);
  }

  /** Where the quote stands that ends the string, or the end of the text. */
  private endOfString(from: number): number {
    const json = this.json;
    for (let index = from; index < json.length;) {
      if (this.quote < index) this.quote = placeOf(json, '"', index);
      if (this.backslash < index) this.backslash = placeOf(json, '\\', index);
      if (this.quote < this.backslash) return this.quote;
      if (++this.escapes > ESCAPES_MAX) throw this.tooMuch(`hold at most ${ESCAPES_MAX} escapes`);
      index = this.backslash + 2;
    }
    return json.length;
  }
}

const BEGINS_OBJECT = /^[\t\n\r ]*\{/;

/**
 * The JSON object that a text of somebody else is, such as the arguments of a call; undefined where it is none.
 *
 * @param parse the text, or throws; many texts of one request are parsed by one `JsonTexts`.
 */
export function parsedObject(json: string, parse: (json: string) => unknown = parseNested): JsonObject | undefined {
  // A text that is refused by the parser takes fifty times as long as one that is not asked about.
  if (!BEGINS_OBJECT.test(json)) return undefined;
  try {
    const value = parse(json);
    return isJsonObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
