import { getDocumentProxy } from 'unpdf';
import { decodeText } from './decode-text.js';
import { type ExtractedText, storable, TextWriter } from './extracted-text.js';
import { extensionIn, formatOf } from './file-format.js';
import { textOfHtml } from './read-html.js';
import { readOffice } from './read-office.js';
import { broken, encrypted, isUnknownCipher, tooMuch, Unreadable } from './unreadable.js';

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
