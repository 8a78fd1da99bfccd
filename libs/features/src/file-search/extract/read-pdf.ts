import { getDocumentProxy } from 'unpdf';
import { type ExtractedText, storable, TextWriter } from './extracted-text.js';
import { broken, encrypted, isUnknownCipher, tooMuch } from './unreadable.js';

const PAGES_MAX = 5_000;

type Document = Awaited<ReturnType<typeof getDocumentProxy>>;

/** The text layer of a PDF, page by page. Images of pages are not read. @throws Unreadable */
export async function readPdf(bytes: Uint8Array): Promise<ExtractedText> {
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
