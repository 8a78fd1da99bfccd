import { Readable } from 'node:stream';

/** How to handle files that are inside a reply as base64. */
export interface InlineFiles {
  /** The name of every field whose text is a file. */
  readonly field: string;
  /** Takes the bytes of the next file. @returns what is in the reply instead. */
  keep(bytes: Readable): Promise<string>;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * The text of a JSON document whose files were taken out of it on the way, so that no more of a file than a chunk is in
 * memory at a time.
 *
 * @param maxBytes of the text without its files. Undefined when there is more of it.
 * @throws what `files.keep` throws, and TypeError when a document ends within a file.
 */
export async function withoutFiles(
  body: AsyncIterable<Buffer>,
  files: InlineFiles,
  maxBytes: number,
): Promise<string | undefined> {
  const source = new ChunkSource(body);
  const scanner = new FieldScanner(files.field);
  const text: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer): boolean => {
    bytes += part.length;
    text.push(part);
    return bytes <= maxBytes;
  };
  for (let chunk = await source.next(); chunk; chunk = await source.next()) {
    const end = scanner.fileStart(chunk);
    if (!add(end === undefined ? chunk : chunk.subarray(0, end))) return undefined;
    if (end === undefined) continue;
    source.giveBack(chunk.subarray(end));
    const kept = await files.keep(Readable.from(fileBytes(source), { objectMode: false }));
    if (!add(Buffer.from(JSON.stringify(kept).slice(1)))) return undefined;
  }
  return Buffer.concat(text).toString('utf8');
}

/** Chunks in their order, of which what was not used is given back. */
class ChunkSource {
  private readonly chunks: AsyncIterator<Buffer>;
  private rest: Buffer | undefined;

  constructor(body: AsyncIterable<Buffer>) {
    this.chunks = body[Symbol.asyncIterator]();
  }

  async next(): Promise<Buffer | undefined> {
    const { rest } = this;
    this.rest = undefined;
    if (rest && rest.length > 0) return rest;
    const { done, value } = await this.chunks.next();
    return done === true ? undefined : value;
  }

  giveBack(chunk: Buffer): void {
    this.rest = chunk;
  }
}

/** Finds where the text of a field begins, over any number of chunks. */
class FieldScanner {
  private inText = false;
  private escaped = false;
  /** The text that is being read, or was read last; nothing longer than a name is kept. */
  private text = '';
  private isName = false;

  constructor(private readonly field: string) {}

  /** The index behind the quote that opens the file; undefined when none begins in this chunk. */
  fileStart(chunk: Buffer): number | undefined {
    for (const [index, byte] of chunk.entries()) {
      if (this.inText) this.readText(byte);
      else if (byte === QUOTE) {
        if (this.isName) {
          this.isName = false;
          if (this.text === this.field) return index + 1;
        }
        this.inText = true;
        this.text = '';
      } else if (byte === COLON) this.isName = true;
      else if (!SPACES.has(byte)) this.isName = false;
    }
    return undefined;
  }

  private readText(byte: number): void {
    if (this.escaped) this.escaped = false;
    else if (byte === BACKSLASH) this.escaped = true;
    else if (byte === QUOTE) {
      this.inText = false;
      return;
    }
    if (this.text.length <= this.field.length) this.text += String.fromCodePoint(byte);
  }
}

/** The bytes of one file, up to the quote that closes it. */
async function* fileBytes(source: ChunkSource): AsyncGenerator<Buffer> {
  let left = '';
  for (let chunk = await source.next(); chunk; chunk = await source.next()) {
    const end = chunk.indexOf(QUOTE);
    const digits =
      left +
      chunk
        .subarray(0, end === -1 ? chunk.length : end)
        .toString('latin1')
        .replaceAll('\\', '');
    const whole = end === -1 ? digits.length - (digits.length % 4) : digits.length;
    left = digits.slice(whole);
    if (whole > 0) yield Buffer.from(digits.slice(0, whole), 'base64');
    if (end === -1) continue;
    source.giveBack(chunk.subarray(end + 1));
    return;
  }
  throw new TypeError('the reply ended within a file');
}
