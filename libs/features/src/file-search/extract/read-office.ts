import { SaxesParser } from 'saxes';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import {
  broken,
  encrypted,
  type ExtractedText,
  isUnknownCipher,
  storable,
  TEXT_CHARACTERS_MAX,
  TextWriter,
  tooMuch,
  Unreadable,
} from './extracted-text.js';

const DEPTH_MAX = 1_000;

/** What of a part's XML is text. Names are without their prefix. */
interface TextRules {
  /** Elements whose characters are text. */
  readonly text: ReadonlySet<string>;
  /** What stands for an element when it ends. */
  readonly ends: Readonly<Record<string, string>>;
}

const WORD_RULES: TextRules = { text: new Set(['t']), ends: { tab: '\t', br: '\n', cr: '\n', p: '\n', tc: '\t' } };
const SLIDE_RULES: TextRules = { text: new Set(['t']), ends: { br: '\n', p: '\n' } };

/** The text of a docx, pptx or xlsx; null: the ZIP is none of them. Entities are never expanded. @throws Unreadable */
export async function readOffice(bytes: Uint8Array): Promise<ExtractedText | null> {
  const zip = await ZipEntries.open(bytes);
  const writer = new TextWriter();
  if (zip.has('word/document.xml')) {
    for (const name of ['word/document.xml', 'word/footnotes.xml', 'word/endnotes.xml'])
      await writeText(zip, name, WORD_RULES, writer);
    return { text: writer.text() };
  }
  if (zip.has('ppt/presentation.xml')) return readSlides(zip, writer);
  if (zip.has('xl/workbook.xml')) return readSheets(zip, writer);
  return null;
}

/** Slides are pages. */
async function readSlides(zip: ZipEntries, writer: TextWriter): Promise<ExtractedText> {
  const pageStarts: number[] = [];
  for (const name of zip.named(/^ppt\/slides\/slide(\d+)\.xml$/)) {
    pageStarts.push(writer.length);
    await writeText(zip, name, SLIDE_RULES, writer);
    await writeText(zip, name.replace('slides/slide', 'notesSlides/notesSlide'), SLIDE_RULES, writer);
    writer.endLine();
  }
  return { text: writer.text(), pageStarts };
}

async function readSheets(zip: ZipEntries, writer: TextWriter): Promise<ExtractedText> {
  const shared = await sharedTexts(zip);
  for (const name of zip.named(/^xl\/worksheets\/sheet(\d+)\.xml$/)) {
    await writeSheet(zip, name, shared, writer);
    writer.endLine();
  }
  return { text: writer.text() };
}

/** What cells show by its number. It takes memory whether or not a cell shows it, an empty one as well. */
async function sharedTexts(zip: ZipEntries): Promise<string[]> {
  const texts: string[] = [];
  let text = '';
  let size = 0;
  await parse(zip, 'xl/sharedStrings.xml', {
    text: (characters, path) => {
      if (path.at(-1) === 't' && !path.includes('rPh')) text += characters;
    },
    end: (element) => {
      if (element !== 'si') return;
      size += text.length + 1;
      if (size > TEXT_CHARACTERS_MAX) throw tooMuch(`more than ${TEXT_CHARACTERS_MAX} characters of shared text`);
      texts.push(text);
      text = '';
    },
  });
  return texts;
}

/** A row is a line, its cells parted by tabs. */
async function writeSheet(zip: ZipEntries, name: string, shared: readonly string[], writer: TextWriter): Promise<void> {
  let type: string | undefined;
  let value = '';
  await parse(zip, name, {
    start: (element, attributes) => {
      if (element === 'c') [type, value] = [attributes['t'], ''];
    },
    text: (characters, path) => {
      const holder = path.at(-1);
      if (holder === 'v' || (holder === 't' && path.includes('is'))) value += characters;
    },
    end: (element) => {
      if (element === 'row') writer.endLine();
      if (element !== 'c') return;
      const shown = type === 's' ? (shared[Number(value)] ?? '') : value;
      if (shown !== '') writer.write(`${storable(shown)}\t`);
    },
  });
}

async function writeText(zip: ZipEntries, name: string, rules: TextRules, writer: TextWriter): Promise<void> {
  await parse(zip, name, {
    text: (characters, path) => {
      if (rules.text.has(path.at(-1) ?? '')) writer.write(storable(characters));
    },
    end: (element) => {
      const end = rules.ends[element];
      if (end === '\n') writer.endLine();
      else if (end !== undefined) writer.write(end);
    },
  });
}

interface Listener {
  start?(element: string, attributes: Readonly<Record<string, string>>): void;
  /** `path`: the elements around, the innermost last. */
  text(characters: string, path: readonly string[]): void;
  end(element: string): void;
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Reads a part as it is unpacked; one that is missing has no text. A document type is refused: what it could define are entities. */
async function parse(zip: ZipEntries, name: string, listener: Listener): Promise<void> {
  if (!zip.has(name)) return;
  const parser = new SaxesParser();
  const path: string[] = [];
  parser.on('doctype', () => {
    throw new Unreadable('invalid_file', 'The file defines entities of its own, which Office files never do.');
  });
  parser.on('opentag', ({ name: element, attributes }) => {
    path.push(localName(element));
    if (path.length > DEPTH_MAX)
      throw new Unreadable('invalid_file', `The file is nested deeper than ${DEPTH_MAX} levels.`);
    listener.start?.(localName(element), attributes);
  });
  parser.on('text', (characters) => listener.text(characters, path));
  parser.on('closetag', ({ name: element }) => {
    path.pop();
    listener.end(localName(element));
  });
  parser.on('error', () => {
    throw broken('an Office file');
  });
  try {
    await zip.read(name, (piece) => void parser.write(piece));
    parser.close();
  } catch (error) {
    throw error instanceof Unreadable ? error : broken('an Office file');
  }
}

const ENTRIES_MAX = 20_000;

/** The most bytes that are unpacked of all that is read of one file: what a bomb would need. */
const UNPACKED_BYTES_MAX = 200 * 1024 * 1024;

const ENCRYPTED = 1;

/** The parts of an Office file, unpacked one at a time and within bounds. */
class ZipEntries {
  private unpacked = 0;

  private constructor(
    private readonly zip: ZipFile,
    private readonly entries: ReadonlyMap<string, Entry>,
  ) {}

  /** @throws Unreadable */
  static async open(bytes: Uint8Array): Promise<ZipEntries> {
    try {
      const zip = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
        lazyEntries: true,
        autoClose: false,
      });
      const entries = new Map<string, Entry>();
      for await (const entry of zip.eachEntry()) {
        if (entries.size >= ENTRIES_MAX) throw tooMuch(`more than ${ENTRIES_MAX} parts`);
        entries.set(entry.fileName, entry);
      }
      return new ZipEntries(zip, entries);
    } catch (error) {
      if (isUnknownCipher(error)) throw encrypted('The file');
      throw error instanceof Unreadable ? error : broken('a ZIP or an Office file');
    }
  }

  has(name: string): boolean {
    return this.entries.has(name);
  }

  /** Names of one form, in the order of the first number in them. */
  named(form: RegExp): string[] {
    const numberIn = (name: string): number => Number(form.exec(name)?.[1] ?? 0);
    return [...this.entries.keys()].filter((name) => form.test(name)).sort((a, b) => numberIn(a) - numberIn(b));
  }

  /** Calls `take` for each piece of a part. @throws Unreadable */
  async read(name: string, take: (piece: string) => void): Promise<void> {
    const entry = this.entries.get(name);
    if (!entry) return;
    if ((entry.generalPurposeBitFlag & ENCRYPTED) !== 0) throw encrypted('The file');
    // What it says, so that a bomb costs nothing; the stream fails where there is more or less.
    this.unpacked += entry.uncompressedSize;
    if (this.unpacked > UNPACKED_BYTES_MAX) throw tooMuch(`more than ${UNPACKED_BYTES_MAX} bytes when unpacked`);
    const decoder = new TextDecoder();
    for await (const chunk of await this.zip.openReadStreamPromise(entry))
      take(decoder.decode(chunk as Buffer, { stream: true }));
    take(decoder.decode());
  }
}
