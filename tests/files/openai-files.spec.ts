import OpenAI, { toFile } from 'openai';
import { docxSample, pdfSample, type S3Server, startS3Server } from '#testing';
import { startTestGateway, TEST_KEY, type TestGateway } from '../harness/test-gateway.js';

const HARBOUR = `The lighthouse of Vesterholm was lit for the first time in 1871.
Its keeper, Ingrid Aasen, wrote down every ship that passed the strait.`;
const TEA = '龙井茶产于杭州西湖。春天采摘的茶叶味道最好，价格也最高。';

describe('The official client library', () => {
  let s3: S3Server;
  let gateway: TestGateway;
  let client: OpenAI;
  beforeAll(async () => {
    s3 = await startS3Server();
    gateway = await startTestGateway({
      environment: {
        MEDIA_S3_ENDPOINT: s3.endpoint,
        MEDIA_S3_BUCKET: s3.bucket,
        MEDIA_S3_ACCESS_KEY_ID: s3.accessKeyId,
        MEDIA_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      },
    });
    client = new OpenAI({ apiKey: TEST_KEY, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
  });
  afterAll(async () => {
    await gateway.stop();
    await s3.close();
  });

  const upload = async (content: string | Uint8Array, name: string): Promise<OpenAI.FileObject> =>
    client.files.create({ file: await toFile(Buffer.from(content), name), purpose: 'assistants' });

  it('uploads, lists, reads and deletes files', async () => {
    const made = await upload(HARBOUR, 'harbour.txt');
    expect(made).toMatchObject({
      id: expect.stringMatching(/^file_/),
      object: 'file',
      bytes: Buffer.byteLength(HARBOUR),
      filename: 'harbour.txt',
      purpose: 'assistants',
      status: 'processed',
    });
    expect(await client.files.retrieve(made.id)).toMatchObject({ id: made.id });
    const content = await client.files.content(made.id);
    expect(await content.text()).toBe(HARBOUR);
    expect([content.headers.get('content-disposition'), content.headers.get('x-content-type-options')]).toEqual([
      "attachment; filename*=UTF-8''harbour.txt",
      'nosniff',
    ]);
    const others = [await upload('a', 'a.txt'), await upload('b', 'b.txt')];
    const listed: string[] = [];
    for await (const file of client.files.list({ limit: 1, order: 'asc', purpose: 'assistants' })) listed.push(file.id);
    expect(listed).toEqual([made.id, ...others.map(({ id }) => id)]);
    expect(await client.files.delete(made.id)).toMatchObject({ id: made.id, deleted: true });
    await expect(client.files.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    await expect(client.files.content(made.id)).rejects.toMatchObject({ status: 404 });
  });

  it('makes a vector store, fills it and finds passages with their places, in English and in Chinese', async () => {
    const store = await client.vectorStores.create({ name: 'Notes', metadata: { team: 'harbour' } });
    expect(store).toMatchObject({ object: 'vector_store', name: 'Notes', status: 'completed' });
    const english = await client.vectorStores.files.uploadAndPoll(
      store.id,
      await toFile(Buffer.from(HARBOUR), 'harbour.md'),
      { pollIntervalMs: 50 },
    );
    const chinese = await upload(TEA, '茶.txt');
    const batch = await client.vectorStores.fileBatches.createAndPoll(
      store.id,
      { file_ids: [chinese.id], attributes: { topic: 'tea', year: 2024 } },
      { pollIntervalMs: 50 },
    );
    expect(batch).toMatchObject({ status: 'completed', file_counts: { completed: 1, total: 1 } });
    expect(await client.vectorStores.files.retrieve(english.id, { vector_store_id: store.id })).toMatchObject({
      status: 'completed',
      last_error: null,
    });
    const { data } = await client.vectorStores.search(store.id, { query: 'Who kept the lighthouse?' });
    expect(data[0]).toMatchObject({ file_id: english.id, filename: 'harbour.md', start: 0, end: HARBOUR.length });
    expect(data[0]?.content[0]?.text).toBe(HARBOUR);
    const tea = await client.vectorStores.search(store.id, {
      query: '杭州的茶叶',
      filters: { type: 'and', filters: [{ type: 'gte', key: 'year', value: 2024 }] },
    });
    expect(tea.data.map(({ file_id, attributes }) => [file_id, attributes])).toEqual([
      [chinese.id, { topic: 'tea', year: 2024 }],
    ]);
    const text = await client.vectorStores.files.content(chinese.id, { vector_store_id: store.id });
    expect(text.data[0]?.text).toBe(TEA);
  });

  it('names the unknown files of a request', async () => {
    const [file, store] = [await upload(HARBOUR, 'harbour.txt'), await client.vectorStores.create({})];
    const wrong = (param: string): object => ({ status: 404, error: { param } });
    const file_ids = [file.id, 'file-none'];
    await expect(client.vectorStores.create({ file_ids })).rejects.toMatchObject(wrong('file_ids[1]'));
    const { files, fileBatches } = client.vectorStores;
    await expect(fileBatches.create(store.id, { file_ids })).rejects.toMatchObject(wrong('file_ids[1]'));
    const each = { files: file_ids.map((file_id) => ({ file_id })) };
    await expect(fileBatches.create(store.id, each)).rejects.toMatchObject(wrong('files[1].file_id'));
    await expect(files.create(store.id, { file_id: 'file-none' })).rejects.toMatchObject(wrong('file_id'));
  });

  it('changes and deletes vector stores and their files', async () => {
    const file = await upload(HARBOUR, 'harbour.txt');
    const store = await client.vectorStores.create({
      file_ids: [file.id],
      expires_after: { anchor: 'last_active_at', days: 2 },
      chunking_strategy: { type: 'static', static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 10 } },
    });
    expect(store.expires_at).toBeGreaterThan(store.created_at);
    const changed = await client.vectorStores.update(store.id, { name: 'Ships', expires_after: null });
    expect(changed).toMatchObject({ name: 'Ships', expires_at: null });
    const place = { vector_store_id: store.id };
    expect(await client.vectorStores.files.update(file.id, { ...place, attributes: { read: true } })).toMatchObject({
      attributes: { read: true },
      chunking_strategy: { static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 10 } },
    });
    expect((await client.vectorStores.files.list(store.id)).data.map(({ id }) => id)).toEqual([file.id]);
    await client.vectorStores.files.delete(file.id, place);
    expect((await client.vectorStores.files.list(store.id)).data).toEqual([]);
    expect((await client.vectorStores.list()).data.map(({ id }) => id)).toContain(store.id);
    expect(await client.vectorStores.delete(store.id)).toMatchObject({ deleted: true });
    await expect(client.vectorStores.retrieve(store.id)).rejects.toMatchObject({ status: 404 });
    expect(await client.files.retrieve(file.id)).toMatchObject({ id: file.id });
  });

  it('reads a PDF by its pages, and a Word document', async () => {
    const store = await client.vectorStores.create({});
    const files = [
      await toFile(
        pdfSample(['Invoices are paid within thirty days.', 'Complaints go to the ombudsman.']),
        'terms.pdf',
      ),
      await toFile(docxSample(['The canteen opens at noon.', 'Soup is free.']), 'canteen.docx'),
    ];
    const batch = await client.vectorStores.fileBatches.uploadAndPoll(store.id, { files }, { pollIntervalMs: 50 });
    expect(batch.file_counts).toMatchObject({ completed: 2 });
    const ombudsman = await client.vectorStores.search(store.id, { query: 'complaint ombudsman' });
    expect(ombudsman.data[0]).toMatchObject({ filename: 'terms.pdf', page: 1 });
    const soup = await client.vectorStores.search(store.id, { query: 'when does the canteen open' });
    expect(soup.data[0]).toMatchObject({ filename: 'canteen.docx', page: null });
  });
});
