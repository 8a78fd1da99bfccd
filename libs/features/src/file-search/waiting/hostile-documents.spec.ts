import { deflateSync } from 'node:zlib';
import { quickestOf } from '#testing';
import { FilePreparer, FULL_BOUNDS } from '../file-preparer.js';

const MIB = 1024 * 1024;

/** What the stream unpacks to, and how much of it a thread may hold in this test. */
const UNPACKED_MIB = 300;
const ARRAYS_MIB = 64;

/** A PDF whose page shows one word, from objects of which the sixth and the third may be anything. Without a table: readers make one. */
function pdfOf({ content, font, extra }: { content: PdfObject; font: PdfObject; extra: PdfObject }): Buffer {
  const objects: PdfObject[] = [
    ['/Type/Catalog/Pages 2 0 R'],
    ['/Type/Pages/Count 1/Kids[4 0 R]'],
    font,
    ['/Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R'],
    content,
    extra,
    ['/Type/FontDescriptor/FontName/X/Flags 4/FontFile2 6 0 R'],
  ];
  const written = objects.map(([dictionary, stream], index) => {
    const head = `${index + 1} 0 obj\n<<${dictionary}`;
    if (!stream) return Buffer.from(`${head}>>\nendobj\n`);
    return Buffer.concat([
      Buffer.from(`${head}/Length ${stream.length}>>stream\n`),
      stream,
      Buffer.from('\nendstream\nendobj\n'),
    ]);
  });
  return Buffer.concat([Buffer.from('%PDF-1.5\n'), ...written, Buffer.from('trailer<</Size 8/Root 1 0 R>>\n%%EOF')]);
}

type PdfObject = readonly [dictionary: string, stream?: Buffer];

const WORD: PdfObject = ['', Buffer.from('BT /F1 12 Tf 72 720 Td (lighthouse) Tj ET')];
const FONT: PdfObject = ['/Type/Font/Subtype/Type1/BaseFont/Helvetica'];
const NOTHING: PdfObject = [''];

describe('Documents that unpack to more than there is memory for', () => {
  const preparer = new FilePreparer({ ...FULL_BOUNDS, arraysMb: ARRAYS_MIB });
  let bomb: PdfObject;
  beforeAll(() => {
    const spaces = deflateSync(Buffer.alloc(UNPACKED_MIB * MIB, ' '));
    bomb = ['/Filter[/FlateDecode/FlateDecode]', deflateSync(spaces)];
  });
  afterAll(() => preparer.close());

  /** How it ended, and by how much the memory of this process grew meanwhile, in MiB. */
  async function prepared(bytes: Buffer): Promise<{ outcome: unknown; grewMib: number }> {
    const before = process.memoryUsage.rss();
    let most = before;
    const looks = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 10);
    try {
      const sizes = { chunkTokens: 800, overlapTokens: 400 };
      const file = { bytes: new Uint8Array(bytes), filename: 'a.pdf', sizes };
      const outcome = await preparer.prepare(file, new AbortController().signal);
      return { outcome, grewMib: (most - before) / MIB };
    } finally {
      clearInterval(looks);
    }
  }

  beforeAll(async () => {
    // The thread itself, and what it loads, are not of the documents.
    await prepared(pdfOf({ content: WORD, font: FONT, extra: NOTHING }));
  });

  it.each<[where: string, file: () => Buffer]>([
    ['the content of a page', () => pdfOf({ content: bomb, font: FONT, extra: NOTHING })],
    [
      'a font',
      () =>
        pdfOf({
          content: WORD,
          font: ['/Type/Font/Subtype/TrueType/BaseFont/X/FontDescriptor 7 0 R'],
          extra: bomb,
        }),
    ],
    [
      'the meaning of letters',
      () =>
        pdfOf({
          content: WORD,
          font: ['/Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R'],
          extra: bomb,
        }),
    ],
  ])(
    'fail with a reason, in bounded memory: a PDF of a few kilobytes, of which %s has hundreds of megabytes',
    async (_, file) => {
      const bytes = file();
      expect(bytes.length).toBeLessThan(10_000);
      // Suites beside this one take memory of the same process: what the document takes is there every time.
      const grewMib = await quickestOf(UNPACKED_MIB, async () => {
        const { outcome, grewMib: grew } = await prepared(bytes);
        expect(outcome).toMatchObject({
          kind: 'unreadable',
          code: 'invalid_file',
          message: expect.stringContaining('takes more memory'),
        });
        return grew;
      });
      expect(grewMib).toBeLessThan(UNPACKED_MIB);
    },
  );

  it('leave the thread as it was: the next document is read', async () => {
    const { outcome } = await prepared(pdfOf({ content: WORD, font: FONT, extra: NOTHING }));
    expect(outcome).toMatchObject({ kind: 'passages', passages: [{ text: 'lighthouse\n' }] });
  });
});
