/** Types that users often give by mistake, recognised by their first bytes; the words continue "the file is …". */
const SIGNATURES: readonly (readonly [bytes: string, name: string])[] = [
  ['%PDF-', 'a PDF document'],
  ['\u001aE\u00df\u00a3', 'a WebM or Matroska video'],
  ['OggS', 'an Ogg file'],
  ['fLaC', 'a FLAC file'],
  ['II*\0', 'a TIFF image'],
  ['MM\0*', 'a TIFF image'],
  ['PK\u0003\u0004', 'a ZIP archive'],
  ['\u001f\u008b', 'gzip data'],
];

const PATTERNS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^RIFF.{4}AVI /s, 'an AVI video'],
  [/^\s*<(?:!doctype html|html|head|body)/i, 'a web page'],
  [/^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*>\s*)?<svg/i, 'an SVG drawing'],
  [/^\s*[[{]/, 'text or JSON'],
];

/** What a file of no supported type is, as far as its first bytes show: `a web page`. */
export function foreignType(beginning: Buffer): string | undefined {
  const text = beginning.toString('latin1');
  const signature = SIGNATURES.find(([bytes]) => text.startsWith(bytes));
  return (signature ?? PATTERNS.find(([pattern]) => pattern.test(text)))?.[1];
}
