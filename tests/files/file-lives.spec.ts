import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { MaintenanceService } from '#features';
import { eventually } from '#testing';
import { type AdminGateway, startAdminGateway } from '../harness/admin-gateway.js';

const TEXT = 'The lighthouse of Vesterholm was lit for the first time in 1871.';

/** Tables with data derived from a file. */
const TRACES = ['uploaded_file', 'file_index', 'file_passage', 'file_term', 'vector_store_file'];

describe('The files of an account', () => {
  let api: AdminGateway;
  let owner: OpenAI;
  let stranger: OpenAI;
  let strangersKey: string;
  beforeAll(async () => {
    api = await startAdminGateway({ FILES_PER_ACCOUNT: '3', FILES_ACCOUNT_MB: '2', FILE_MAX_MB: '1' });
    const newKey = async (): Promise<string> => (await api.newKey((await api.newAccount({ unlimited: true })).id)).key;
    owner = clientOf(await newKey());
    strangersKey = await newKey();
    stranger = clientOf(strangersKey);
  });
  afterAll(() => api.gateway.stop());

  const clientOf = (apiKey: string): OpenAI =>
    new OpenAI({ apiKey, baseURL: `${api.gateway.baseUrl}/v1`, maxRetries: 0 });
  const upload = async (client: OpenAI, content: string | Buffer = TEXT, name = 'a.txt'): Promise<string> =>
    (await client.files.create({ file: await toFile(Buffer.from(content), name), purpose: 'assistants' })).id;
  const maintain = (): Promise<boolean> => {
    const { database, platform } = api.gateway;
    return new MaintenanceService(database, platform.store, platform.config.retention).run();
  };
  const rowsOf = async (table: string, fileId: string): Promise<number> => {
    const column = { uploaded_file: 'id', file_index: 'file_id', vector_store_file: 'file_id' }[table];
    const where = column
      ? `${column} = $1`
      : 'index_id in (select id from file_index where file_id = $1) or $1 is null';
    const text = `select count(*)::integer as count from ${table} where ${where}`;
    return (await api.gateway.database.query<{ count: number }>({ text, values: [fileId] })).rows[0]?.count ?? 0;
  };
  const traces = (fileId: string): Promise<number[]> => Promise.all(TRACES.map((table) => rowsOf(table, fileId)));
  const usage = async (): Promise<unknown> =>
    (await api.gateway.database.query({ text: 'select files::integer, bytes::integer from file_usage order by 1' }))
      .rows;
  const clear = async (client: OpenAI): Promise<void> => {
    for await (const { id } of client.files.list()) await client.files.delete(id);
  };

  it('are not found by another account, on every route', async () => {
    const fileId = await upload(owner);
    const store = await owner.vectorStores.create({});
    await owner.vectorStores.files.createAndPoll(store.id, { file_id: fileId }, { pollIntervalMs: 50 });
    const batch = await owner.vectorStores.fileBatches.create(store.id, { file_ids: [fileId] });
    const routes = api.gateway.routes().filter(([, path]) => /^\/v1\/(files|vector_stores)\/:/.test(path));
    expect(routes.length).toBeGreaterThanOrEqual(17);
    const bodies: Record<string, unknown> = {
      search: { query: 'lighthouse' },
      files: { file_id: fileId },
      file_batches: { file_ids: [fileId] },
      ':file_id': { attributes: {} },
    };
    for (const [method, pattern] of routes.filter(([method]) => method !== 'HEAD')) {
      const path = pattern
        .replace(':vector_store_id', store.id)
        .replace(':file_id', fileId)
        .replace(':batch_id', batch.id);
      const body = method === 'POST' ? (bodies[pattern.split('/').at(-1) ?? ''] ?? {}) : undefined;
      const { status } = await api.gateway.send(method, path, body, { authorization: `Bearer ${strangersKey}` });
      expect([method, pattern, status]).toEqual([method, pattern, 404]);
    }
    const theirs = await stranger.vectorStores.create({});
    await expect(stranger.vectorStores.files.create(theirs.id, { file_id: fileId })).rejects.toMatchObject({
      status: 404,
    });
    await expect(stranger.vectorStores.create({ file_ids: [fileId] })).rejects.toMatchObject({ status: 404 });
    expect((await stranger.files.list()).data).toEqual([]);
    expect((await stranger.vectorStores.list()).data.map(({ id }) => id)).toEqual([theirs.id]);
    const mine = await stranger.vectorStores.search(theirs.id, { query: 'lighthouse' });
    expect(mine.data).toEqual([]);
    expect((await owner.vectorStores.search(store.id, { query: 'lighthouse' })).data).toHaveLength(1);
    await clear(owner);
  });

  it('leave no byte, passage or term behind when they are deleted or expire', async () => {
    for (const end of ['deleted', 'expired']) {
      const fileId = await upload(owner);
      const store = await owner.vectorStores.create({});
      await owner.vectorStores.files.createAndPoll(store.id, { file_id: fileId }, { pollIntervalMs: 50 });
      expect(await traces(fileId)).toEqual([1, 1, 1, expect.any(Number), 1]);
      const { rows } = await api.gateway.database.query<{ store_key: string }>({
        text: 'select store_key from uploaded_file where id = $1',
        values: [fileId],
      });
      const key = rows[0]?.store_key ?? '';
      (await api.gateway.platform.store.open(key)).destroy();
      if (end === 'deleted') await owner.files.delete(fileId);
      else
        await api.gateway.database.query({
          text: 'update uploaded_file set expires_at = now() where id = $1',
          values: [fileId],
        });
      await expect(owner.files.retrieve(fileId)).rejects.toMatchObject({ status: 404 });
      expect((await owner.vectorStores.search(store.id, { query: 'lighthouse' })).data).toEqual([]);
      expect((await owner.vectorStores.files.list(store.id)).data).toEqual([]);
      const entry = { vector_store_id: store.id };
      await expect(owner.vectorStores.files.retrieve(fileId, entry)).rejects.toMatchObject({ status: 404 });
      await expect(owner.vectorStores.files.content(fileId, entry)).rejects.toMatchObject({ status: 404 });
      expect(await owner.vectorStores.retrieve(store.id)).toMatchObject({ file_counts: { total: 0 }, usage_bytes: 0 });
      await eventually(async () => {
        await maintain();
        return (await traces(fileId)).every((count) => count === 0);
      });
      await expect(api.gateway.platform.store.open(key)).rejects.toMatchObject({ code: 'not_found' });
      expect(await usage()).toEqual([{ files: 0, bytes: 0 }]);
    }
  });

  it('have a quota in number and in bytes, which deletion gives back', async () => {
    for (const name of ['1.txt', '2.txt', '3.txt']) await upload(owner, 'x', name);
    await expect(upload(owner)).rejects.toMatchObject({
      status: 413,
      message: expect.stringContaining('at most 3 files'),
    });
    await clear(owner);
    const large = Buffer.alloc(1024 * 1024, 'word ');
    await upload(owner, large);
    await upload(owner, large);
    await expect(upload(owner, 'x')).rejects.toMatchObject({ status: 413, message: expect.stringContaining('2 MiB') });
    await clear(owner);
    await expect(upload(owner, Buffer.alloc(1024 * 1024 + 1, 'a'))).rejects.toMatchObject({ status: 413 });
    expect(await upload(owner)).toMatch(/^file_/);
    await clear(owner);
  });

  it('are created once for an Idempotency-Key, which cannot be used for another request', async () => {
    const send = async (content: string): Promise<OpenAI.FileObject> =>
      owner.files.create(
        { file: await toFile(Buffer.from(content), 'a.txt'), purpose: 'assistants' },
        { headers: { 'idempotency-key': 'once' } },
      );
    const first = await send(TEXT);
    expect((await send(TEXT)).id).toBe(first.id);
    await expect(send('other')).rejects.toMatchObject({ status: 422 });
    expect((await owner.files.list()).data.map(({ id }) => id)).toEqual([first.id]);
    await clear(owner);
  });

  it('are refused with the field and the rule when the form is wrong', async () => {
    const post = async (form: FormData): Promise<[number, string]> => {
      const answer = await fetch(`${api.gateway.baseUrl}/v1/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${strangersKey}` },
        body: form,
      });
      return [answer.status, ((await answer.json()) as { error: { message: string } }).error.message];
    };
    const form = (fields: Record<string, string | Blob>): FormData => {
      const made = new FormData();
      for (const [name, value] of Object.entries(fields)) made.append(name, value);
      return made;
    };
    const file = new Blob([TEXT]);
    expect(await post(form({ purpose: 'assistants' }))).toEqual([400, expect.stringMatching(/^file is missing/)]);
    expect(await post(form({ file }))).toEqual([400, expect.stringMatching(/^purpose is missing/)]);
    expect(await post(form({ file, purpose: 'fun' }))).toEqual([400, expect.stringContaining('one of assistants')]);
    expect(await post(form({ file, purpose: 'assistants', colour: 'red' }))).toEqual([
      400,
      expect.stringContaining('colour is not a field'),
    ]);
    expect(await post(form({ file, purpose: 'assistants', 'expires_after[seconds]': '10' }))).toEqual([
      400,
      expect.stringContaining('expires_after[anchor]'),
    ]);
    expect(await post(form({ file, more: file, purpose: 'assistants' }))).toEqual([
      400,
      expect.stringContaining('one file'),
    ]);
    const json = await api.gateway.send('POST', '/v1/files', {}, { authorization: `Bearer ${strangersKey}` });
    expect(json.status).toBe(415);
    const anonymous = await fetch(`${api.gateway.baseUrl}/v1/files`, { method: 'POST', body: form({ file }) });
    expect(anonymous.status).toBe(401);
    expect((await stranger.files.list()).data).toEqual([]);
  });

  const storedUploads = (): Promise<string[]> =>
    readdir(join(api.gateway.platform.config.server.DATA_DIR, 'media', 'uploads'));

  it('occupy nothing once they are refused, broken off or deleted', async () => {
    const headers = { authorization: `Bearer ${strangersKey}` };
    const url = `${api.gateway.baseUrl}/v1/files`;
    await clear(owner);
    await upload(owner);
    const before = await storedUploads();
    const wrong = new FormData();
    wrong.append('file', new Blob([Buffer.alloc(900_000, 'a')]));
    wrong.append('purpose', 'fun');
    expect((await fetch(url, { method: 'POST', headers, body: wrong })).status).toBe(400);
    const type = { ...headers, 'content-type': 'multipart/form-data; boundary=b' };
    const unfinished = `--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n${'a'.repeat(100_000)}`;
    expect((await fetch(url, { method: 'POST', headers: type, body: unfinished })).status).toBe(400);
    expect(await storedUploads()).toEqual(before);
    const id = await upload(owner);
    expect(await storedUploads()).toHaveLength(before.length + 1);
    await owner.files.delete(id);
    expect(await storedUploads()).toEqual(before);
    await clear(owner);
    const text = `select 1 from uploaded_file where state = 'uploading' or (state = 'deleted' and bytes > 0)`;
    expect((await api.gateway.database.query({ text })).rows).toEqual([]);
  });

  it('lie in the store under keys that nobody can guess from their ids', async () => {
    const id = await upload(owner);
    const text = 'select store_key from uploaded_file where id = $1';
    const { rows } = await api.gateway.database.query<{ store_key: string }>({ text, values: [id] });
    expect(rows[0]?.store_key).toMatch(/^uploads\/[0-9a-f]{48}$/);
    await clear(owner);
  });

  it('are refused while too many uploads of the account are unfinished, or its deleted files still take its space', async () => {
    const account = await api.newAccount({ unlimited: true });
    const { id: keyId, key } = await api.newKey(account.id);
    const leave = (state: string, number: number, bytes: number) =>
      api.gateway.database.query({
        text: `insert into uploaded_file (id, account_id, api_key_id, filename, purpose, content_type, store_key, state, bytes, expires_at)
          select $3 || n || $1, $1, $2, '', '', '', 'uploads/none', $3, $5, now() + interval '1 hour' from generate_series(1, $4::integer) n`,
        values: [account.id, keyId, state, number, bytes],
      });
    const client = clientOf(key);
    await leave('uploading', 64, 0);
    await expect(upload(client)).rejects.toMatchObject({ status: 429, message: expect.stringContaining('unfinished') });
    await api.gateway.database.query({
      text: `delete from uploaded_file where account_id = $1`,
      values: [account.id],
    });
    await leave('deleted', 1, 3 * 1024 * 1024);
    await expect(upload(client)).rejects.toMatchObject({ status: 429, message: expect.stringContaining('deleted') });
  });

  it('are closed to keys whose scopes lack them', async () => {
    const account = await api.newAccount({ unlimited: true });
    const key = async (scopes: string[]): Promise<OpenAI> => clientOf((await api.newKey(account.id, { scopes })).key);
    await expect((await key(['generate'])).files.list()).rejects.toMatchObject({ status: 403 });
    expect((await (await key(['files'])).files.list()).data).toEqual([]);
  });

  it('are not searched for a text request of a key whose scopes lack them', async () => {
    const account = await api.newAccount({ unlimited: true });
    const status = async (scopes: string[]): Promise<number> => {
      const { key } = await api.newKey(account.id, { scopes });
      const body = { model: 'vendor-5', input: 'What do our files say?', tools: [{ type: 'file_search' }] };
      return (await api.withKey(key, '/v1/responses', 'POST', body)).status;
    };
    expect([await status(['generate']), await status(['generate', 'files'])]).toEqual([403, 200]);
  });
});
