import { GatewayError } from '#contracts';
import { readProcessConfig } from '#runtime';
import { createTestDatabase, type TestDatabase } from '#testing';
import { PassageEmbedder } from './passage-embedder.js';
import { type EmbeddingOrder, PassageVectors } from './passage-vectors.js';

const PASSAGES = 150;
const BATCH = 64;

describe('The vectors of a file with many passages', () => {
  let test: TestDatabase;
  let orders: EmbeddingOrder[] = [];
  let failure: GatewayError | undefined;
  const fake = {
    model: 'first-model' as string | undefined,
    embed: (order: EmbeddingOrder) => {
      if (failure && orders.length > 0) return Promise.reject(failure);
      orders.push(order);
      return Promise.resolve(order.texts.map((text) => Float32Array.of(text.length % 2 === 0 ? 1 : -1, 0)));
    },
  };
  const embedder = (): PassageEmbedder =>
    new PassageEmbedder(test.database, new PassageVectors(test.database), fake, {
      config: readProcessConfig({}),
    });
  const run = async (by = embedder()): Promise<void> => {
    while (await by.embedNext());
  };
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.query({ text: `insert into account (id, name) values ('acct', 'acct')` });
    await test.database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash) values ('key', 'acct', 'key', 'sk', '\\x00')`,
    });
    await test.database.query({
      text: `insert into uploaded_file (id, account_id, api_key_id, filename, purpose, content_type, store_key, state)
        values ('file', 'acct', 'key', 'a.txt', 'assistants', 'text/plain', 'uploads/file', 'ready')`,
    });
    await test.database.query({
      text: `with made as (insert into file_index (file_id, account_id, chunk_tokens, overlap_tokens, state)
          values ('file', 'acct', 800, 400, 'completed') returning id)
        insert into file_passage (index_id, nth, text, start_at, end_at)
        select made.id, nth, repeat('x', nth + 1), 0, 1 from made, generate_series(0, $1::integer - 1) as nth`,
      values: [PASSAGES],
    });
  });
  afterAll(() => test.remove());
  beforeEach(() => {
    orders = [];
    failure = undefined;
  });

  const state = async () => {
    const text = `select embedding_model as model, vector_attempt as attempt, vector_due_at > now() as waits,
      (select count(*)::integer from passage_vector) as vectors from file_index`;
    return (await test.database.query({ text })).rows[0];
  };
  const due = (): Promise<unknown> => test.database.query({ text: 'update file_index set vector_due_at = now()' });
  const asked = (): number => orders.reduce((sum, { texts }) => sum + texts.length, 0);

  it('are made in batches charged to the uploading key, and those of a broken attempt are not made again', async () => {
    failure = new GatewayError('upstream_error', 'The upstream failed.');
    await run();
    expect(await state()).toEqual({ model: null, attempt: 1, waits: true, vectors: BATCH });
    failure = undefined;
    await due();
    await run();
    expect(await state()).toMatchObject({ model: 'first-model', attempt: 0, vectors: PASSAGES });
    expect(asked()).toBe(PASSAGES);
    expect(new Set(orders.map(({ apiKeyId, accountId }) => `${accountId} ${apiKeyId}`))).toEqual(new Set(['acct key']));
    expect(new Set(orders.map(({ requestId }) => requestId)).size).toBe(orders.length);
  });

  it('are made again once by another model', async () => {
    fake.model = 'second-model';
    await run();
    await run();
    expect(await state()).toMatchObject({ model: 'second-model', attempt: 0, vectors: PASSAGES });
    expect(asked()).toBe(PASSAGES);
  });

  it('are not requested while no upstream offers the model, and faults of the operator count no attempt', async () => {
    fake.model = undefined;
    await run();
    expect(await state()).toMatchObject({ model: 'second-model' });
    fake.model = 'third-model';
    failure = new GatewayError('model_not_priced', 'No price.');
    orders.push({ requestId: '', accountId: '', apiKeyId: '', texts: [] });
    await run();
    expect(await state()).toEqual({ model: null, attempt: 0, waits: true, vectors: 0 });
  });

  it('are not stored once their file is deleted meanwhile', async () => {
    failure = undefined;
    await due();
    const embed = fake.embed;
    fake.embed = async (order) => {
      await test.database.query({ text: 'delete from file_index' });
      return embed(order);
    };
    await run();
    fake.embed = embed;
    const { rows } = await test.database.query({ text: 'select 1 from passage_vector' });
    expect(rows).toEqual([]);
  });
});

describe('The vectors of files of several accounts', () => {
  let test: TestDatabase;
  let orders: EmbeddingOrder[] = [];
  const fake = {
    model: 'first-model',
    embed: (order: EmbeddingOrder) => {
      orders.push(order);
      return Promise.resolve(order.texts.map(() => Float32Array.of(1, 0)));
    },
  };
  const embedder = (): PassageEmbedder =>
    new PassageEmbedder(test.database, new PassageVectors(test.database), fake, {
      config: readProcessConfig({ FILES_ACCOUNT_MB: '1' }),
    });
  beforeAll(async () => {
    test = await createTestDatabase();
    for (const account of ['ann', 'ben']) {
      await test.database.query({ text: `insert into account (id, name) values ('${account}', '')` });
      await test.database.query({
        text: `insert into api_key (id, account_id, name, prefix, key_hash) values ('${account}', '${account}', '', 'sk', '${account}')`,
      });
    }
  });
  afterEach(() => test.database.query({ text: 'truncate uploaded_file, file_index, file_usage cascade' }));
  afterAll(() => test.remove());

  const add = (accountId: string, name: string, passages: number): Promise<unknown> =>
    test.database.query({
      text: `with file as (
          insert into uploaded_file (id, account_id, api_key_id, filename, purpose, content_type, store_key, state)
          values ($2, $1, $1, 'a.txt', 'assistants', 'text/plain', $2, 'ready')
        ), made as (
          insert into file_index (file_id, account_id, chunk_tokens, overlap_tokens, state)
          values ($2, $1, 800, 400, 'completed') returning id
        ) insert into file_passage (index_id, nth, text, start_at, end_at)
          select made.id, nth, $2, 0, 1 from made, generate_series(1, $3::integer) as nth`,
      values: [accountId, name, passages],
    });

  it('are made in turns of 64 passages, of one account after the other and of its files', async () => {
    orders = [];
    await add('ann', 'a1', 150);
    await add('ann', 'a2', 100);
    await add('ben', 'b1', 10);
    const all = embedder();
    while (await all.embedNext());
    const turns = orders.map(({ texts }) => `${texts[0]} ${texts.length}`);
    expect(turns).toEqual(['a1 64', 'b1 10', 'a2 64', 'a1 64', 'a2 36', 'a1 22']);
  });

  it('of a model that went are removed 2,000 at a time, each time for good', async () => {
    await add('ann', 'a1', 5_000);
    await test.database.query({
      text: `insert into passage_vector (index_id, nth, embedding) select index_id, nth, '' from file_passage`,
    });
    await test.database.query({
      text: `update file_index set vector_model = 'an-old-model', embedding_model = 'an-old-model'`,
    });
    const left = async (): Promise<unknown> =>
      (
        await test.database.query({
          text: `select count(*)::integer as count from passage_vector where embedding = ''`,
        })
      ).rows[0];
    const all = embedder();
    for (const count of [3_000, 1_000, 0]) {
      expect(await all.embedNext()).toBe(true);
      expect(await left()).toEqual({ count });
    }
    while (await all.embedNext());
    const { rows } = await test.database.query({
      text: `select embedding_model as model, (select count(*)::integer from passage_vector) as vectors from file_index`,
    });
    expect(rows).toEqual([{ model: 'first-model', vectors: 5_000 }]);
  });

  it('are made up to what an account may have, of others all the same', async () => {
    orders = [];
    await add('ann', 'a1', 150);
    await add('ben', 'b1', 10);
    await test.database.query({
      text: `update file_index set index_bytes = 16 * 1024 * 1024 - 100 where account_id = 'ann'`,
    });
    const all = embedder();
    while (await all.embedNext());
    expect(orders.map(({ texts }) => `${texts[0]} ${texts.length}`)).toEqual(['a1 64', 'b1 10']);
    // Those of a file that is smaller now are made in an hour.
    await test.database.query({ text: `update file_index set index_bytes = 0, vector_due_at = now()` });
    while (await all.embedNext());
    expect(orders).toHaveLength(4);
  });
});
