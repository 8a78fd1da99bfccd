import { createPgvectorDatabase, createTestDatabase, type TestDatabase } from '#testing';
import { PassageVectors, type VectorHolder } from './passage-vectors.js';

const unit = (...values: number[]): Float32Array => Float32Array.from(values, (value) => value / Math.hypot(...values));

const VECTORS = [unit(1, 0.1, 0, 0), unit(0.8, -0.6, 0.1, 0), unit(0, 0, 1, 0.2), unit(-1, 0, 0.1, 0)];
const QUERY = unit(1, 0, 0.05, 0);

describe.each([
  ['as bytes', createTestDatabase],
  ['in pgvector', createPgvectorDatabase],
] as const)('Vectors of passages that are kept %s', (kept, open) => {
  let place: TestDatabase;
  let vectors: PassageVectors;
  beforeAll(async () => {
    place = await open();
    vectors = new PassageVectors(place.database);
    const { database } = place;
    await database.query({ text: `insert into account (id, name) values ('acct', 'acct')` });
    await database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash) values ('key', 'acct', 'key', 'sk', '\\x00')`,
    });
    await database.query({
      text: `insert into uploaded_file (id, account_id, api_key_id, filename, purpose, content_type, store_key, state)
        values ('file', 'acct', 'key', 'a.txt', 'assistants', 'text/plain', 'uploads/file', 'ready')`,
    });
  });
  afterAll(() => place.remove());

  /** An index whose passages have these vectors. */
  async function index(tokens: number, added: readonly Float32Array[]): Promise<VectorHolder> {
    const { rows } = await place.database.query<{ id: string }>({
      text: `insert into file_index (file_id, account_id, chunk_tokens, overlap_tokens, vector_model, vector_turn)
        values ('file', 'acct', $1, 0, 'a-model', 1) returning id::text as id`,
      values: [tokens],
    });
    const holder = { indexId: rows[0]?.id ?? '', model: 'a-model', turn: 1 };
    expect(await vectors.add(holder, [...added.keys()], added)).toBe(true);
    return holder;
  }
  const placesOf = async (indexes: readonly string[], query = QUERY): Promise<readonly number[]> =>
    (await vectors.nearest('acct', indexes, query, 3)).map(({ nth }) => nth);
  const stored = async (): Promise<unknown> => {
    // The column of pgvector may not be there.
    const text = `select count(embedding)::integer as bytes,
      count(to_jsonb(p) ->> 'vector')::integer as vectors from passage_vector p`;
    return (await place.database.query({ text })).rows[0];
  };

  it('are found by similarity, only in the searched indexes', async () => {
    const { indexId } = await index(100, VECTORS);
    const other = await index(101, VECTORS.toReversed());
    expect(await placesOf([indexId])).toEqual([0, 1, 2]);
    expect(await placesOf([other.indexId])).toEqual([3, 2, 1]);
    const [first] = await vectors.nearest('acct', [indexId], QUERY, 1);
    expect(first?.similarity).toBeCloseTo(0.9938, 3);
    // A model that changed its ways has vectors of another length, which are none that can be compared.
    expect(await placesOf([indexId], unit(1, 0))).toEqual([]);
  });

  it('are moved to pgvector when the database has it, and are found as before', async () => {
    const before = await stored();
    expect(before).toEqual({ bytes: 8, vectors: 0 });
    while (await vectors.adopt());
    expect(await stored()).toEqual(kept === 'in pgvector' ? { bytes: 0, vectors: 8 } : before);
    const { indexId } = await index(102, VECTORS);
    expect(await placesOf([indexId])).toEqual([0, 1, 2]);
    expect(await placesOf([indexId], unit(1, 0))).toEqual([]);
    expect(await stored()).toEqual(kept === 'in pgvector' ? { bytes: 0, vectors: 12 } : { bytes: 12, vectors: 0 });
  });

  it('are not written by a turn that was taken over', async () => {
    const holder = await index(103, []);
    expect(await vectors.add({ ...holder, turn: 0 }, [0], VECTORS.slice(0, 1))).toBe(false);
    expect(await placesOf([holder.indexId])).toEqual([]);
  });

  it('are deleted with their index', async () => {
    await place.database.query({ text: 'delete from file_index' });
    expect(await stored()).toEqual({ bytes: 0, vectors: 0 });
  });
});
