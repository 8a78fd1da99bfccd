import { crc32, deflateRawSync } from 'node:zlib';

/** A PDF with a page for each text. */
export function pdfSample(pages: readonly string[]): Buffer {
  return pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${pages.length}/Kids[${pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ')}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...pages.flatMap((text, index) => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents ${5 + index * 2} 0 R>>`,
      pdfStream('', `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`),
    ]),
  ]);
}

/** A PDF of a few kilobytes that nobody can read to its end: its page shows a form that shows two that show two, and so on. */
export function endlessPdfSample(): Buffer {
  const depth = 40;
  const shows = (nth: number): string => `/Resources<</XObject<</X ${nth} 0 R>>>>`;
  const form = '/Type/XObject/Subtype/Form/BBox[0 0 9 9]';
  return pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[4 0 R]>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]${shows(6)}/Contents 5 0 R>>`,
    pdfStream('', '/X Do'),
    ...Array.from({ length: depth }, (_, index) => pdfStream(form + shows(7 + index), '/X Do /X Do')),
    pdfStream(`${form}/Resources<</Font<</F1 3 0 R>>>>`, 'BT /F1 12 Tf (a) Tj ET'),
  ]);
}

const pdfStream = (fields: string, content: string): string =>
  `<<${fields}/Length ${content.length}>>stream\n${content}\nendstream`;

/** A PDF of these objects, the first of them its catalog. */
function pdfOf(objects: readonly string[]): Buffer {
  let body = '%PDF-1.4\n';
  const places = objects.map((object, index) => {
    const place = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  return Buffer.from(
    `${body}xref\n0 ${size}\n0000000000 65535 f \n${table}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${body.length}\n%%EOF`,
    'latin1',
  );
}

/** The flags of a part that is encrypted, in the form of old and in the one that hides sizes and sums as well. */
export const ZIP_ENCRYPTED = { simply: 0x1, strongly: 0x41 } as const;

export function zipSample(files: Readonly<Record<string, string | Buffer>>, flags = 0): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let place = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(place, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), fields, tail, Buffer.from(name)]));
    parts.push(local);
    place += local.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(Buffer.concat(directory).length, 8);
  end.writeUInt32LE(place, 12);
  return Buffer.concat([...parts, ...directory, Buffer.from('PK\x05\x06'), end]);
}

export const docxSample = (paragraphs: readonly string[]): Buffer =>
  zipSample({
    '[Content_Types].xml': '<Types/>',
    'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="w"><w:body>${paragraphs
      .map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`)
      .join('')}</w:body></w:document>`,
  });

/** A presentation with a text on each slide. */
export const pptxSample = (slides: readonly string[]): Buffer =>
  zipSample({
    'ppt/presentation.xml': '<p/>',
    ...Object.fromEntries(
      slides.map((text, index) => [
        `ppt/slides/slide${index + 1}.xml`,
        `<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`,
      ]),
    ),
  });

/** A workbook of one sheet, its cells as shared texts. */
export function xlsxSample(rows: readonly (readonly string[])[]): Buffer {
  const texts = rows.flat();
  let nth = 0;
  const cells = (row: readonly string[]): string => row.map(() => `<c t="s"><v>${nth++}</v></c>`).join('');
  return zipSample({
    'xl/workbook.xml': '<workbook/>',
    'xl/sharedStrings.xml': `<sst>${texts.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows.map((row) => `<row>${cells(row)}</row>`).join('')}</sheetData></worksheet>`,
  });
}
