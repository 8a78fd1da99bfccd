import { decodeText } from './decode-text.js';
import { type ExtractedText, storable, TextWriter } from './extracted-text.js';
import { extensionIn, formatOf } from './file-format.js';
import { textOfHtml } from './read-html.js';
import { readOffice } from './read-office.js';
import { readPdf } from './read-pdf.js';
import { Unreadable } from './unreadable.js';

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
