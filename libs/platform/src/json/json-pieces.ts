import { nextTurn, Turns } from '../clock/turns.js';

/** Values whose texts have fewer characters together are written at once: that takes less than a millisecond. */
const SHORT_CHARACTERS = 128 * 1024;

/**
 * About how long the pieces are, in characters. Parts of a long value that have fewer are written at once, for a fraction
 * of writing them one by one. Longer pieces are no faster: strings from 128 KiB on live apart from all others.
 */
const PIECE_CHARACTERS = 64 * 1024;

/** How deep such parts are looked for: a message is at 2, its contents at 4. Looking deeper costs a walk for each level. */
const PART_DEPTH = 4;

/** Changes a piece of the written JSON. Escape sequences stand whole in it. */
export type ChangePiece = (json: string) => string;

/**
 * The JSON of a value as UTF-8, as `JSON.stringify` writes it. A long one is written a piece at a time, and other work runs
 * in between: at once, 60 MB of it would block all other work for a quarter of a second.
 *
 * @param value plain JSON; fields that are undefined are left out, and nothing has a `toJSON`.
 */
export const jsonBytes = (value: unknown, change?: ChangePiece): readonly Buffer[] | Promise<readonly Buffer[]> =>
  isShort(value) ? [asBytes(JSON.stringify(value), change)] : bytesInTurns(value, change);

async function bytesInTurns(value: unknown, change: ChangePiece | undefined): Promise<readonly Buffer[]> {
  const bytes: Buffer[] = [];
  const turns = new Turns();
  await nextTurn(turns);
  for (const piece of new PieceWriter().pieces(value)) {
    bytes.push(asBytes(piece, change));
    if (turns.isOver) await nextTurn(turns);
  }
  return bytes;
}

const asBytes = (json: string, change: ChangePiece | undefined): Buffer => Buffer.from(change ? change(json) : json);

/** The JSON of a value in pieces. One that is short is a single piece. */
export function jsonPieces(value: unknown): Iterable<string> {
  return isShort(value) ? [JSON.stringify(value)] : new PieceWriter().pieces(value);
}

/** True when the texts of a value have few characters together. Stops counting where they have more. */
const isShort = (value: unknown, characters = SHORT_CHARACTERS): boolean => charactersLeft(value, characters) > 0;

/**
 * What is left of so many characters behind the texts of a value; each value counts as one at least. Stops where nothing
 * is left.
 */
export function charactersLeft(value: unknown, characters: number): number {
  let left = characters - 1;
  if (typeof value === 'string') return left - value.length;
  if (typeof value !== 'object' || value === null) return left;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left > 0; index += 1) left = charactersLeft(value[index], left);
    return left;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(fields)) {
    if (left <= 0) break;
    left = charactersLeft(fields[name], left - name.length);
  }
  return left;
}

/** Collects what is written until it is a piece. */
class PieceWriter {
  private written = '';

  *pieces(value: unknown): Generator<string> {
    yield* this.value(value);
    yield this.written;
  }

  /** @param depth how many arrays and objects stand around it. */
  private *value(value: unknown, depth = 0): Generator<string> {
    if (typeof value === 'string' && value.length > PIECE_CHARACTERS) yield* this.longText(value);
    else if (Array.isArray(value)) yield* this.array(value, depth + 1);
    else if (typeof value === 'object' && value !== null)
      yield* this.object(value as Readonly<Record<string, unknown>>, depth + 1);
    else this.written += JSON.stringify(value) ?? 'null';
  }

  private *array(items: readonly unknown[], depth: number): Generator<string> {
    this.written += '[';
    for (let index = 0; index < items.length;) {
      if (index > 0) this.written += ',';
      const end = depth > PART_DEPTH ? index : endOfRun(items, index);
      if (end > index) this.written += JSON.stringify(items.slice(index, end)).slice(1, -1);
      else yield* this.value(items[index], depth);
      index = Math.max(end, index + 1);
      if (this.written.length > PIECE_CHARACTERS) yield this.take();
    }
    this.written += ']';
  }

  private *object(fields: Readonly<Record<string, unknown>>, depth: number): Generator<string> {
    let before = '{';
    for (const name of Object.keys(fields)) {
      const value = fields[name];
      if (value === undefined) continue;
      this.written += `${before}${JSON.stringify(name)}:`;
      before = ',';
      if (depth <= PART_DEPTH && isShort(value, PIECE_CHARACTERS)) this.written += JSON.stringify(value) ?? 'null';
      else yield* this.value(value, depth);
      if (this.written.length > PIECE_CHARACTERS) yield this.take();
    }
    this.written += before === '{' ? '{}' : '}';
  }

  private *longText(text: string): Generator<string> {
    this.written += '"';
    for (let from = 0; from < text.length;) {
      const to = endOfPiece(text, from, PIECE_CHARACTERS);
      this.written += JSON.stringify(text.slice(from, to)).slice(1, -1);
      yield this.take();
      from = to;
    }
    this.written += '"';
  }

  private take(): string {
    const written = this.written;
    this.written = '';
    return written;
  }
}

/** Where the items from this one on have as many characters together as are written at once; `from` when the first has more. */
function endOfRun(items: readonly unknown[], from: number): number {
  let end = from;
  for (let left = PIECE_CHARACTERS; end < items.length; end += 1) {
    left = charactersLeft(items[end], left);
    if (left <= 0) break;
  }
  return end;
}

/** Where a piece of at most so many characters ends: never between the halves of a surrogate pair, which mean nothing alone. */
export function endOfPiece(text: string, from: number, characters: number): number {
  const to = Math.min(text.length, from + characters);
  const isHigh = (text.charCodeAt(to - 1) & 0xfc00) === 0xd800;
  return isHigh && to < text.length ? to - 1 : to;
}
