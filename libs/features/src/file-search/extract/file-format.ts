/** What a file is by its first bytes; `text` where they say nothing. */
export type FileFormat = 'pdf' | 'zip' | 'ole' | 'image' | 'audio' | 'video' | 'binary' | 'text';

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
export const extensionIn = (filename: string): string => /\.([^.]{1,16})$/.exec(filename)?.[1]?.toLowerCase() ?? '';

/** The MIME type: by the bytes, and within what they leave open by the name. */
export function contentTypeOf(format: FileFormat, filename: string): string {
  const extension = extensionIn(filename);
  if (format === 'pdf') return 'application/pdf';
  if (format === 'zip') return (OFFICE.has(extension) && BY_EXTENSION[extension]) || 'application/zip';
  if (format === 'text') return OFFICE.has(extension) ? 'text/plain' : (BY_EXTENSION[extension] ?? 'text/plain');
  return 'application/octet-stream';
}
