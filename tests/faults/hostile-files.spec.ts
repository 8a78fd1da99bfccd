import { gzipSync } from 'node:zlib';
import OpenAI, { toFile } from 'openai';
import { docxSample, eventually, pdfSample, pptxSample, xlsxSample, zipSample } from '#testing';
import { startTestGateway, TEST_KEY, type TestGateway } from '../harness/test-gateway.js';

/** A Chinese text, and its bytes in GB18030. */
const TEA = '龙井茶的产地是杭州西湖。春天采摘的茶叶味道最好，价格也最高。';
const TEA_BYTES = Buffer.from(
  'c1fabeaeb2e8b5c4b2fab5d8cac7babcd6ddcef7bafea1a3b4baccecb2c9d5aab5c4b2e8d2b6ceb6b5c0d7eebac3a3acbcdbb8f1d2b2d7eeb8dfa1a3',
  'hex',
);

/** A Japanese sentence, and its bytes in Shift JIS. */
const JAPANESE = '日本語のテストです。';
const JAPANESE_BYTES = Buffer.from('93fa967b8cea82cc83658358836782c582b78142', 'hex');

const EXTERNAL_ENTITY = `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY file SYSTEM "file:///etc/passwd">]>
<w:document xmlns:w="w"><w:p><w:t>&file;</w:t></w:p></w:document>`;

/** A PDF whose tree of pages holds itself. */
const PAGE_LOOP = pdfSample(['x']).toString('latin1').replace('4 0 R]', '2 0 R]');

const NO_CELLS = Array<string[]>(1_000).fill(Array<string>(1_000).fill(''));

const BILLION_LAUGHS = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">${Array.from(
  { length: 9 },
  (_, index) => `<!ENTITY lol${index + 1} "${`&lol${index || ''};`.repeat(10)}">`,
).join('')}]><w:document xmlns:w="w"><w:p><w:t>&lol9;</w:t></w:p></w:document>`;

describe('Malformed files', () => {
  let gateway: TestGateway;
  let client: OpenAI;
  let storeId: string;
  beforeAll(async () => {
    gateway = await startTestGateway();
    client = new OpenAI({ apiKey: TEST_KEY, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
    storeId = (await client.vectorStores.create({})).id;
  });
  afterAll(() => gateway.stop());

  /** How it ended, and the text that was found in it. */
  async function indexed(content: string | Buffer, name: string): Promise<{ error: string; text: string }> {
    const file = await client.files.create({ file: await toFile(Buffer.from(content), name), purpose: 'assistants' });
    const place = { vector_store_id: storeId };
    await client.vectorStores.files.create(storeId, { file_id: file.id });
    const ended = await eventually(
      async () => {
        const entry = await client.vectorStores.files.retrieve(file.id, place);
        return entry.status === 'in_progress' ? null : entry;
      },
      // Each look counts among the requests that cost nothing.
      { limitMs: 150_000, pauseMs: 200, shows: () => name },
    );
    if (ended.status === 'failed')
      return { error: `${ended.last_error?.code}: ${ended.last_error?.message}`, text: '' };
    const text = await client.vectorStores.files.content(file.id, place);
    return { error: '', text: text.data[0]?.text ?? '' };
  }

  it.each<[what: string, name: string, content: () => string | Buffer, error: RegExp]>([
    ['empty', 'empty.txt', () => '', /invalid_file: There is no text/],
    ['of spaces alone', 'spaces.txt', () => ' \n\t'.repeat(50), /invalid_file: There is no text/],
    [
      'an image under another name',
      'notes.txt',
      () => Buffer.from('89504e470d0a1a0a0000000d', 'hex'),
      /unsupported_file/,
    ],
    ['packed', 'notes.gz', () => gzipSync('hello'), /unsupported_file/],
    [
      'a program',
      'tool.md',
      () => Buffer.concat([Buffer.from('7f454c46', 'hex'), Buffer.alloc(64)]),
      /unsupported_file/,
    ],
    [
      'bytes without sense',
      'noise.txt',
      () => Buffer.from([...Array(512).keys()].map((n) => (n * 7) % 32)),
      /unsupported_file/,
    ],
    [
      'an old or encrypted Office file',
      'a.docx',
      () => Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      /unsupported_file: The file is encrypted/,
    ],
    ['a ZIP of something else', 'a.docx', () => zipSample({ 'readme.txt': 'hi' }), /unsupported_file/],
    ['a ZIP cut short', 'a.docx', () => docxSample(['hello']).subarray(0, 80), /invalid_file: .*damaged/],
    ['a PDF cut short', 'a.pdf', () => '%PDF-1.7\n1 0 obj', /invalid_file: .*damaged/],
    [
      'a PDF of 10,000 pages',
      'long.pdf',
      () => pdfSample(Array<string>(10_000).fill('x')),
      /invalid_file: .*5000 pages/,
    ],
    [
      'a bomb',
      'bomb.docx',
      () => zipSample({ 'word/document.xml': Buffer.concat([Buffer.from('<w:t>'), Buffer.alloc(230_000_000, 0x20)]) }),
      /invalid_file: .*more than \d+ (bytes|characters)/,
    ],
    [
      'a billion laughs',
      'lol.docx',
      () => zipSample({ 'word/document.xml': BILLION_LAUGHS }),
      /invalid_file: .*entities/,
    ],
    [
      'nested too deeply',
      'deep.docx',
      () => zipSample({ 'word/document.xml': '<a>'.repeat(100_000) }),
      /invalid_file: .*nested deeper/,
    ],
    [
      'a text that asks for another file',
      'entity.docx',
      () => zipSample({ 'word/document.xml': EXTERNAL_ENTITY }),
      /invalid_file: .*entities/,
    ],
    ['a ZIP that leaves its folder', 'slip.docx', () => zipSample({ '../../evil': 'x' }), /invalid_file: .*damaged/],
    ['a PDF whose pages hold themselves', 'loop.pdf', () => PAGE_LOOP, /invalid_file: .*damaged/],
    ['a page of a million elements in each other', 'deep.html', () => '<div>'.repeat(1_000_000), /nested deeper/],
    ['a workbook of a million empty cells', 'empty.xlsx', () => xlsxSample(NO_CELLS), /invalid_file: There is no text/],
    ['one line of 20 MB', 'line.csv', () => Buffer.alloc(20_000_000, 'abc,'), /invalid_file: .*characters of text/],
    ['too long', 'long.txt', () => 'word '.repeat(1_100_000), /invalid_file: .*characters of text/],
  ])('end as failed with a reason when they are %s', async (_what, name, content, error) => {
    expect((await indexed(content(), name)).error).toMatch(error);
  });

  it.each<[what: string, name: string, content: () => string | Buffer, text: string]>([
    ['UTF-16 with a mark', 'a.txt', () => Buffer.from('\uFEFFlighthouse keeper', 'utf16le'), 'lighthouse keeper'],
    ['UTF-16 without one', 'a.txt', () => Buffer.from('lighthouse keeper', 'utf16le'), 'lighthouse keeper'],
    ['GB18030', 'a.txt', () => TEA_BYTES, TEA],
    ['Chinese in UTF-16 without a mark', 'a.txt', () => Buffer.from(TEA, 'utf16le'), TEA],
    ['Shift JIS', 'a.txt', () => Buffer.concat(Array<Buffer>(20).fill(JAPANESE_BYTES)), JAPANESE],
    ['JSON nested 100,000 deep', 'deep.json', () => `${'['.repeat(100_000)}"keeper"`, '[[['],
    [
      'a table',
      'table.html',
      () => '<table><tr><th>name<th>age<tr><td colspan=99999999 rowspan=99999999>Ingrid<td>44</table>',
      'name\tage\t\nIngrid\t44',
    ],
    [
      'broken UTF-8',
      'a.txt',
      () => Buffer.concat([Buffer.from('keeper '.repeat(50)), Buffer.from([0xc3, 0x28])]),
      'keeper',
    ],
    ['a PDF under another name', 'a.txt', () => pdfSample(['lighthouse keeper']), 'lighthouse keeper'],
    ['plain text as .pdf', 'a.pdf', () => 'lighthouse keeper', 'lighthouse keeper'],
    ['HTML', 'a.html', () => '<script>secret()</script><h1>Title</h1><p>keeper &amp; ship</p>', 'keeper & ship'],
    ['CSV', 'a.csv', () => 'name,age\nIngrid,44', 'Ingrid,44'],
    ['JSON', 'a.json', () => '{"keeper":"Ingrid"}', '{"keeper":"Ingrid"}'],
    ['source code', 'a.ts', () => 'export const lighthouseKeeper = 1;', 'lighthouseKeeper'],
    ['slides', 'a.pptx', () => pptxSample(['first slide', 'second slide']), 'first slide\nsecond slide'],
    [
      'a workbook',
      'a.xlsx',
      () =>
        xlsxSample([
          ['name', 'age'],
          ['Ingrid', '44'],
        ]),
      'Ingrid\t44',
    ],
    ['NUL and halves of pairs', 'a.json', () => `${'keeper '.repeat(50)}\0 \uD800 ship`, 'ship'],
  ])('are read by the type of their bytes: %s', async (_what, name, content, text) => {
    const found = await indexed(content(), name);
    expect(found).toMatchObject({ error: '', text: expect.stringContaining(text) });
    expect(found.text).not.toContain('secret()');
  });

  it('do not affect others: the next file is found as before', async () => {
    expect((await indexed('The harbour master counts herrings.', 'after.txt')).text).toContain('herrings');
    const { data } = await client.vectorStores.search(storeId, { query: 'herring' });
    expect(data.map(({ filename }) => filename)).toEqual(['after.txt']);
  });
});
