import { analyse } from 'chardet';
import { getDocumentProxy } from 'unpdf';
import {
  broken,
  encrypted,
  type ExtractedText,
  isUnknownCipher,
  storable,
  TextWriter,
  tooMuch,
  Unreadable,
} from './extracted-text.js';
import { textOfHtml } from './read-html.js';
import { readOffice } from './read-office.js';

/** What a file is by its first bytes; `text` where they say nothing. */
type FileFormat = 'pdf' | 'zip' | 'ole' | 'image' | 'audio' | 'video' | 'binary' | 'text';

/** The number of bytes that `formatOf` inspects. */
export const FORMAT_BYTES = 1_024;

const SIGNATURES: readonly (readonly [FileFormat, readonly number[], number?])[] = [
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['zip', [0x50, 0x4b, 0x05, 0x06]],
  ['ole', [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]],
  ['image', [0x89, 0x50, 0x4e, 0x47]],
  ['image', [0xff, 0xd8, 0xff]],
  ['image', [0x47, 0x49, 0x46, 0x38]],
  ['image', [0x57, 0x45, 0x42, 0x50], 8],
  ['audio', [0x57, 0x41, 0x56, 0x45], 8],
  ['audio', [0x49, 0x44, 0x33]],
  ['video', [0x66, 0x74, 0x79, 0x70], 4],
  ['binary', [0x7f, 0x45, 0x4c, 0x46]],
  ['binary', [0x4d, 0x5a, 0x90, 0x00]],
  ['binary', [0x1f, 0x8b]],
  ['binary', [0x52, 0x61, 0x72, 0x21]],
  ['binary', [0x37, 0x7a, 0xbc, 0xaf]],
];

/** What a file is by its first bytes, whatever it is called. */
export function formatOf(head: Uint8Array): FileFormat {
  // Readers take a PDF that begins within the first kilobyte.
  if (Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, FORMAT_BYTES)).includes('%PDF-')) return 'pdf';
  const known = SIGNATURES.find(([, signature, at = 0]) => signature.every((byte, index) => head[at + index] === byte));
  return known?.[0] ?? 'text';
}

const BY_EXTENSION: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  html: 'text/html',
  htm: 'text/html',
  csv: 'text/csv',
  json: 'application/json',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

const OFFICE = new Set(['docx', 'pptx', 'xlsx']);

/** The end of a filename behind its last dot, in lower case; empty where there is none. */
const extensionIn = (filename: string): string => /\.([^.]{1,16})$/.exec(filename)?.[1]?.toLowerCase() ?? '';

/** The MIME type: by the bytes, and within what they leave open by the name. */
export function contentTypeOf(format: FileFormat, filename: string): string {
  const extension = extensionIn(filename);
  if (format === 'pdf') return 'application/pdf';
  if (format === 'zip') return (OFFICE.has(extension) && BY_EXTENSION[extension]) || 'application/zip';
  if (format === 'text') return OFFICE.has(extension) ? 'text/plain' : (BY_EXTENSION[extension] ?? 'text/plain');
  return 'application/octet-stream';
}

const PAGES_MAX = 5_000;

type Document = Awaited<ReturnType<typeof getDocumentProxy>>;

/** The text layer of a PDF, page by page. Images of pages are not read. @throws Unreadable */
async function readPdf(bytes: Uint8Array): Promise<ExtractedText> {
  const document = await opened(bytes);
  if (document.numPages > PAGES_MAX) throw tooMuch(`more than ${PAGES_MAX} pages`);
  const writer = new TextWriter();
  const pageStarts: number[] = [];
  for (let page = 1; page <= document.numPages; page += 1) {
    pageStarts.push(writer.length);
    await writePage(document, page, writer);
  }
  return { text: writer.text(), pageStarts };
}

async function opened(bytes: Uint8Array): Promise<Document> {
  try {
    return await getDocumentProxy(bytes, { isEvalSupported: false, useSystemFonts: false, verbosity: 0 });
  } catch (error) {
    const isLocked = error instanceof Error && error.name === 'PasswordException';
    if (isLocked || isUnknownCipher(error)) throw encrypted('The PDF');
    throw broken('a PDF');
  }
}

async function writePage(document: Document, page: number, writer: TextWriter): Promise<void> {
  for (const item of await itemsOf(document, page)) {
    if (!('str' in item)) continue;
    writer.write(storable(item.str));
    if (item.hasEOL) writer.endLine();
  }
  writer.endLine();
}

/** @throws Unreadable, also for a tree of pages that holds itself. */
async function itemsOf(document: Document, page: number) {
  try {
    const opened = await document.getPage(page);
    const { items } = await opened.getTextContent();
    opened.cleanup();
    return items;
  } catch {
    throw broken('a PDF');
  }
}

const READ = 'Text, source code, Markdown, HTML, CSV, JSON, PDF, DOCX, PPTX and XLSX are.';

/** The text of a file, of what it is by its bytes. @throws Unreadable */
export async function readText(bytes: Uint8Array, filename: string): Promise<ExtractedText> {
  const extracted = await extractedFrom(bytes, filename);
  if (extracted.text.trim() !== '') return extracted;
  throw new Unreadable('invalid_file', 'There is no text in the file. Images, scanned pages among them, are not read.');
}

async function extractedFrom(bytes: Uint8Array, filename: string): Promise<ExtractedText> {
  const format = formatOf(bytes);
  if (format === 'pdf') return readPdf(bytes);
  if (format === 'text') return { text: plainText(bytes, filename) };
  const office = format === 'zip' ? await readOffice(bytes) : null;
  if (office) return office;
  if (format === 'ole')
    throw new Unreadable(
      'unsupported_file',
      `The file is encrypted, or in a form of Office from before 2007, which is not read. ${READ}`,
    );
  throw new Unreadable('unsupported_file', `The file is of a type that is not read (${format}). ${READ}`);
}

function plainText(bytes: Uint8Array, filename: string): string {
  const decoded = storable(decodeText(bytes));
  const isHtml =
    ['html', 'htm', 'xhtml'].includes(extensionIn(filename)) || /^\s*<(!doctype\s+html|html)\b/i.test(decoded);
  const writer = new TextWriter();
  writer.write(isHtml ? storable(textOfHtml(decoded)) : decoded);
  return writer.text();
}

/** As much of a file as its encoding is guessed from. */
const SAMPLE_BYTES = 64 * 1024;

/** Below this certainty (of 100) a guess is none. */
const CERTAINTY_MIN = 10;

/** The share of control characters from which on bytes are no text. */
const CONTROLS_MAX = 0.02;

/** Texts in UTF-8, UTF-16 (with a mark or without), GB18030 and what else can be recognised by its bytes. */
function decodeText(bytes: Uint8Array): string {
  const text = decoded(bytes);
  if (controlShare(text.slice(0, SAMPLE_BYTES)) <= CONTROLS_MAX) return text;
  const inPairs = pairedText(bytes);
  if (inPairs !== null) return inPairs;
  throw new Unreadable('unsupported_file', 'The file is of no type that is read: its bytes are no text.');
}

/** Any character but those that hardly a text holds, and noise mostly does. */
const COMMON = /[\p{ASCII}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{P}]/gu;

/** Below this share of common characters, bytes that are read in pairs are no text. */
const COMMON_MIN = 0.95;

/** UTF-16 without a mark in letters that hold no zeros, as Chinese ones; null where it is none. */
function pairedText(bytes: Uint8Array): string | null {
  if (bytes.length % 2 === 1) return null;
  for (const encoding of ['utf-16le', 'utf-16be']) {
    const sample = decodedAs(encoding, bytes.subarray(0, SAMPLE_BYTES)) ?? '';
    const common = sample.match(COMMON)?.length ?? 0;
    if (sample !== '' && common / sample.length > COMMON_MIN && controlShare(sample) <= CONTROLS_MAX)
      return decodedAs(encoding, bytes);
  }
  return null;
}

function decoded(bytes: Uint8Array): string {
  const encoding = markedEncoding(bytes) ?? unmarkedUtf16(bytes);
  if (encoding) return new TextDecoder(encoding).decode(bytes);
  const candidates = ['utf-8', ...guesses(bytes), 'gb18030'];
  for (const candidate of candidates) {
    const text = decodedAs(candidate, bytes);
    if (text !== null) return text;
  }
  // What is not recognised is read as UTF-8 with a replacement character for each invalid byte.
  return new TextDecoder().decode(bytes);
}

/** Null: these bytes are none of the encoding, or it is not known. */
function decodedAs(encoding: string, bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

const guesses = (bytes: Uint8Array): string[] =>
  analyse(bytes.subarray(0, SAMPLE_BYTES))
    .filter(({ confidence }) => confidence >= CERTAINTY_MIN)
    .map(({ name }) => name);

function markedEncoding([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

/** Every other byte of text in Latin letters is zero. */
function unmarkedUtf16(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, 1_024);
  const zeros = [0, 0];
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const most = sample.length / 4;
  if (odd > most && even === 0) return 'utf-16le';
  return even > most && odd === 0 ? 'utf-16be' : undefined;
}

function controlShare(text: string): number {
  // eslint-disable-next-line no-control-regex -- they are what is counted
  const controls = text.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/g)?.length ?? 0;
  return text === '' ? 0 : controls / text.length;
}
