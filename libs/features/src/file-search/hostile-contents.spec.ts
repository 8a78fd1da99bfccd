import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { gzipSync } from 'node:zlib';
import { docxSample, pdfSample, pptxSample, xlsxSample, ZIP_ENCRYPTED, zipSample } from '#testing';
import { FilePreparer, FULL_BOUNDS } from './file-preparer.js';

/** What a bomb of a few kilobytes unpacks to, in bytes. */
const UNPACKED = 24 * 1024 * 1024;
const KINDS = ['txt', 'md', 'html', 'csv', 'json', 'ts', 'pdf', 'docx', 'pptx', 'xlsx'];

/** Office files by their kind, with these parts besides or instead of their own; all parts with these flags. */
const OFFICE = {
  docx: (parts: object, flags = 0) =>
    zipSample({ 'word/document.xml': '<d><p><t>lighthouse</t></p></d>', ...parts }, flags),
  pptx: (parts: object, flags = 0) =>
    zipSample({ 'ppt/presentation.xml': '<p/>', 'ppt/slides/slide1.xml': '<s><t>lighthouse</t></s>', ...parts }, flags),
  xlsx: (parts: object, flags = 0) =>
    zipSample(
      {
        'xl/workbook.xml': '<w/>',
        'xl/sharedStrings.xml': '<sst><si><t>lighthouse</t></si></sst>',
        'xl/worksheets/sheet1.xml': '<w><row><c t="s"><v>0</v></c></row></w>',
        ...parts,
      },
      flags,
    ),
};
type Office = keyof typeof OFFICE;

/** A compound file, as Office wraps what it encrypts. */
const wrapped = (): Buffer =>
  Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(504),
    Buffer.from('EncryptedPackage', 'utf16le'),
  ]);

/** A PDF that says that it is encrypted, under a password that nobody knows. */
const sealedPdf = (encryption: string): Buffer =>
  Buffer.from(
    pdfSample(['lighthouse'])
      .toString('latin1')
      .replace('trailer<<', `trailer<</Encrypt<<${encryption}>>/ID[<00><00>]`),
    'latin1',
  );
const PASSWORDS = `/O(${'o'.repeat(32)})/U(${'u'.repeat(32)})/P -4`;

const LOOP = '<!DOCTYPE d [<!ENTITY a "&b;&b;"><!ENTITY b "&a;&a;">]><d><t>&a;</t></d>';

const between = (start: string, content: Buffer, end: string): Buffer =>
  Buffer.concat([Buffer.from(start), content, Buffer.from(end)]);

type Case = readonly [what: string, name: string, content: () => Buffer, reason: RegExp];

const ENCRYPTED: Case[] = [
  ['a PDF with a password', 'a.pdf', () => sealedPdf(`/Filter/Standard/V 2/R 3/Length 128${PASSWORDS}`), /encrypted/],
  ['a PDF for holders of a certificate', 'a.pdf', () => sealedPdf('/Filter/Adobe.PubSec/V 2'), /encrypted/],
  [
    'a PDF with a cipher that nobody knows',
    'a.pdf',
    () => sealedPdf(`/Filter/Standard/V 9/R 9${PASSWORDS}`),
    /encrypted/,
  ],
  ...Object.entries(OFFICE).flatMap(([kind, make]): Case[] => [
    [`a ${kind} that Office encrypted`, `a.${kind}`, wrapped, /unsupported_file: The file is encrypted/],
    ...Object.entries(ZIP_ENCRYPTED).map(([how, flag]): Case => [
      `a ${kind} of parts that are ${how} encrypted`,
      `a.${kind}`,
      () => make({}, flag),
      /invalid_file: The file is encrypted/,
    ]),
  ]),
];

const sharing = (texts: string | Buffer, cells = '<row><c t="s"><v>0</v></c></row>'): Buffer =>
  OFFICE.xlsx({ 'xl/sharedStrings.xml': texts, 'xl/worksheets/sheet1.xml': `<w>${cells}</w>` });

/** Says of its first part that it unpacks to so many bytes. */
function claiming(zip: Buffer, bytes: number): Buffer {
  zip.writeUInt32LE(bytes, zip.indexOf('PK\u0001\u0002') + 24);
  return zip;
}

const TOO_MUCH = /invalid_file: .*(characters|bytes)/;
const BOMBS: Case[] = [
  [
    'a part that says that it unpacks to 4 GB, of which nothing is unpacked',
    'a.docx',
    () => claiming(OFFICE.docx({}), 4_000_000_000),
    /invalid_file: .*more than \d+ bytes when unpacked/,
  ],
  ['a part that unpacks to more than it says', 'a.docx', () => claiming(OFFICE.docx({}), 5), /invalid_file: .*damaged/],
  [
    'a shared text of 24 MiB',
    'a.xlsx',
    () => sharing(between('<sst><si><t>', Buffer.alloc(UNPACKED, 'a'), '</t></si></sst>')),
    TOO_MUCH,
  ],
  [
    'six million shared texts that are empty',
    'a.xlsx',
    () => sharing(between('<sst>', Buffer.alloc(UNPACKED, '<si/>'), '</sst>')),
    TOO_MUCH,
  ],
  [
    'a shared text of 100 KiB that 1,000 cells show',
    'a.xlsx',
    () =>
      sharing(`<sst><si><t>${'a'.repeat(102_400)}</t></si></sst>`, '<row><c t="s"><v>0</v></c></row>'.repeat(1_000)),
    TOO_MUCH,
  ],
  [
    'a cell of 24 MiB',
    'a.xlsx',
    () =>
      OFFICE.xlsx({ 'xl/worksheets/sheet1.xml': between('<w><c><v>', Buffer.alloc(UNPACKED, 'a'), '</v></c></w>') }),
    TOO_MUCH,
  ],
  [
    'an attribute of 24 MiB',
    'a.xlsx',
    () => OFFICE.xlsx({ 'xl/worksheets/sheet1.xml': between('<w a="', Buffer.alloc(UNPACKED, 'a'), '"/>') }),
    /invalid_file/,
  ],
  [
    'a comment of 24 MiB',
    'a.docx',
    () => OFFICE.docx({ 'word/document.xml': between('<d><!--', Buffer.alloc(UNPACKED, 'a'), '--></d>') }),
    /invalid_file/,
  ],
  [
    'more parts than an Office file has',
    'a.docx',
    () => OFFICE.docx(Object.fromEntries(Array.from({ length: 20_001 }, (_, nth) => [`p${nth}`, '']))),
    /invalid_file: The file has more than 20000 parts/,
  ],
];

const PARTS: Record<Office, readonly string[]> = {
  docx: ['word/document.xml', 'word/footnotes.xml', 'word/endnotes.xml'],
  pptx: ['ppt/slides/slide1.xml', 'ppt/notesSlides/notesSlide1.xml'],
  xlsx: ['xl/sharedStrings.xml', 'xl/worksheets/sheet1.xml'],
};
const ENTITIES: Case[] = Object.entries(PARTS).flatMap(([kind, parts]) =>
  parts.map((part): Case => [
    `entities that hold each other in ${part}`,
    `a.${kind}`,
    () => OFFICE[kind as Office]({ [part]: LOOP }),
    /invalid_file: The file defines entities/,
  ]),
);

const EMPTY: Case[] = [
  ...KINDS.map((kind): Case => [`${kind} without a byte`, `a.${kind}`, () => Buffer.alloc(0), /There is no text/]),
  ['a PDF without pages', 'a.pdf', () => pdfSample([]), /There is no text/],
  ['a PDF whose page is empty', 'a.pdf', () => pdfSample(['']), /There is no text/],
  ['a docx without paragraphs', 'a.docx', () => docxSample([]), /There is no text/],
  ['a pptx without slides', 'a.pptx', () => pptxSample([]), /There is no text/],
  ['an xlsx without cells', 'a.xlsx', () => xlsxSample([]), /There is no text/],
  ['a page without a body', 'a.html', () => Buffer.from('<!doctype html><script>x</script>'), /There is no text/],
  ['a ZIP without parts', 'a.docx', () => zipSample({}), /unsupported_file/],
];

const inside = (content: Buffer, name: string): Buffer => zipSample({ [name]: content });
const ARCHIVES: Case[] = [
  ['a docx in a ZIP', 'a.docx', () => inside(docxSample(['x']), 'word.docx'), /unsupported_file/],
  [
    'a ZIP in a ZIP, a hundred deep',
    'a.zip',
    () => Array.from({ length: 100 }).reduce<Buffer>((zip) => inside(zip, 'a.zip'), docxSample(['x'])),
    /unsupported_file/,
  ],
  ['a packed docx', 'a.docx', () => gzipSync(docxSample(['x'])), /unsupported_file/],
  ...Object.entries({
    '7z': '377abcaf271c0004',
    rar: '526172211a0700',
    xz: 'fd377a585a000004',
    zst: '28b52ffd0458',
  }).map(([kind, head]): Case => [
    `${kind} under the name of a text`,
    'a.txt',
    () => Buffer.concat([Buffer.from(head, 'hex'), gzipSync(pdfSample(['x', 'y']))]),
    /unsupported_file/,
  ]),
];

const PAGES: Case[] = [
  [
    'elements so deep that a reader leaves out what is in them',
    'a.html',
    () => Buffer.from(`${'<div>'.repeat(2_001)}lighthouse`),
    /invalid_file: The file has elements nested deeper than 2000/,
  ],
];

/** How far each thread of this process gives way to others. */
const nicenessOfThreads = (): number[] =>
  readdirSync('/proc/self/task').map((thread) => {
    const [, fields = ''] = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ');
    return Number(fields.split(' ')[16]);
  });

describe('Hostile contents', () => {
  const preparer = new FilePreparer(FULL_BOUNDS);
  afterAll(() => preparer.close());

  const outcomeOf = (bytes: Buffer, filename: string) => {
    const sizes = { chunkTokens: 800, overlapTokens: 400 };
    return preparer.prepare({ bytes: new Uint8Array(bytes), filename, sizes }, new AbortController().signal);
  };
  const reasonFor = async (bytes: Buffer, filename: string): Promise<string> => {
    const outcome = await outcomeOf(bytes, filename);
    return outcome.kind === 'unreadable' ? `${outcome.code}: ${outcome.message}` : `read: ${outcome.passages[0]?.text}`;
  };

  it.each([...ENCRYPTED, ...BOMBS, ...ENTITIES, ...EMPTY, ...ARCHIVES, ...PAGES])(
    'are refused with their reason, within the time and the memory of a file: %s',
    async (_what, name, content, reason) => {
      expect(await reasonFor(content(), name)).toMatch(reason);
    },
  );

  it.each<[what: string, page: () => string]>([
    ['behind 17 million characters that are not shown', () => `<!--${'x'.repeat(17_000_000)}-->lighthouse`],
    ['in a thousand elements', () => `${'<div>'.repeat(1_000)}lighthouse`],
  ])('of a page leave out none of its words: %s', async (_where, page) => {
    expect(await reasonFor(Buffer.from(page()), 'a.html')).toBe('read: lighthouse');
  });

  it('are read by a thread that lets requests go first', async () => {
    await outcomeOf(Buffer.from('lighthouse'), 'a.txt');
    expect(Math.max(...nicenessOfThreads())).toBeGreaterThan(getPriority());
  });

  it('inside a document are no part of it: what is embedded stays packed', async () => {
    const embedded = OFFICE.docx({ 'word/embeddings/sheet.xlsx': sharing('<sst><si><t>secret</t></si></sst>') });
    expect(await reasonFor(embedded, 'a.docx')).toBe('read: lighthouse\n');
  });

  it('leave the thread as it was: the next document is read', async () => {
    expect(await reasonFor(docxSample(['lighthouse']), 'a.docx')).toBe('read: lighthouse\n');
  });
});
