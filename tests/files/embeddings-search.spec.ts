import OpenAI, { toFile } from 'openai';
import { ReconciliationService } from '#features';
import { eventually } from '#testing';
import { vectorByMeaning } from '../harness/text-vendor/embeddings-vendor.js';
import { startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';

const MODEL = 'text-embedding';
/** For each token; the vendor counts four for each text. */
const TOKEN_MICROS = 25n;
const TEXTS = {
  'light.txt': 'The lighthouse of Vesterholm was lit for the first time in 1871.',
  'bread.txt': 'Dough rests overnight and is then put into a hot oven.',
  'dogs.txt': 'Every hound gets a vaccine against rabies each third year.',
};

describe('A search of files with an upstream of embeddings', () => {
  let gateway: TextGateway;
  let client: OpenAI;
  let storeId: string;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    gateway = await startTextGateway({ FILE_EMBEDDING_MODEL: MODEL }, { workers: true });
    gateway.vendor.vectorOf = vectorByMeaning;
    await gateway.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_e', $1, 'input_token', $2, 1, '2026-01-01', 'test')`,
      values: [MODEL, TOKEN_MICROS],
    });
    await gateway.database.query({
      text: `with list as (insert into price_list (id, name, created_by) values ('half', 'Half', 'test') returning id)
        insert into price_list_rule (id, list_id, model, factor_millionths, effective_from, created_by)
        select 'rule_half', id, '*', 500000, '2026-01-01', 'test' from list`,
      values: [],
    });
    client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
    storeId = (await client.vectorStores.create({})).id;
    for (const [name, text] of Object.entries(TEXTS)) ids[name] = await add(name, text);
    await eventually(async () => (await embedded()) === 3);
  });
  afterAll(() => gateway.stop());
  afterEach(async () => {
    gateway.vendor.fault = 'none';
    await gateway.settled();
    await expectExact();
  });

  async function expectExact(): Promise<void> {
    const report = await new ReconciliationService(gateway.database).run();
    // A test that makes an account poor does so behind the back of the books.
    expect(report?.findings.filter(({ check }) => check !== 'account_balances')).toEqual([]);
  }

  async function add(name: string, text: string): Promise<string> {
    const file = await client.files.create({ file: await toFile(Buffer.from(text), name), purpose: 'assistants' });
    await client.vectorStores.files.createAndPoll(storeId, { file_id: file.id }, { pollIntervalMs: 50 });
    return file.id;
  }
  const embedded = async (): Promise<number> => {
    const text = `select count(*)::integer as count from file_index where embedding_model = $1
      and not exists (select from file_passage p where p.index_id = file_index.id
        and not exists (select from passage_vector v where v.index_id = p.index_id and v.nth = p.nth))`;
    return (await gateway.database.query<{ count: number }>({ text, values: [MODEL] })).rows[0]?.count ?? 0;
  };
  const bills = async () => {
    await gateway.settled();
    const text = `select request_id as request, amount_micros as amount, lines from usage_record where model = $1 order by created_at`;
    return (
      await gateway.database.query<{ request: string; amount: bigint; lines: { unit: string; quantity: number }[] }>({
        text,
        values: [MODEL],
      })
    ).rows;
  };
  const search = (query: string, ranking?: object) =>
    client.vectorStores.search(storeId, { query, ...(ranking && { ranking_options: ranking }) });

  it('has vectors of every passage, each charged once to its account', async () => {
    const made = (await bills()).filter(({ request }) => request.startsWith('vectors_'));
    expect(made.map(({ amount, lines }) => [amount, lines.map(({ unit, quantity }) => [unit, quantity])])).toEqual(
      Object.keys(TEXTS).map(() => [4n * TOKEN_MICROS, [['input_token', 4]]]),
    );
  });

  it('finds a passage that shares no word with the question, and counts its vector in the price', async () => {
    const before = (await bills()).length;
    const [best] = (await search('Which beacon shone there, and from when on?')).data;
    expect(best?.file_id).toBe(ids['light.txt']);
    expect((await search('puppy shot')).data[0]?.file_id).toBe(ids['dogs.txt']);
    const asked = (await bills()).slice(before);
    expect(asked.map(({ request, amount }) => [/^req_.*\.q1$/.test(request), amount])).toEqual([
      [true, 4n * TOKEN_MICROS],
      [true, 4n * TOKEN_MICROS],
    ]);
  });

  it('ranks words and meaning as the request weighs them, and leaves out what is below its threshold', async () => {
    // The word stands in one file, what it means in another.
    const query = 'overnight beacon';
    const first = async (ranking: object): Promise<string | undefined> =>
      (await search(query, ranking)).data[0]?.file_id;
    expect(await first({ hybrid_search: { embedding_weight: 0, text_weight: 1 } })).toBe(ids['bread.txt']);
    expect(await first({ hybrid_search: { embedding_weight: 1, text_weight: 0 } })).toBe(ids['light.txt']);
    const all = (await search(query)).data;
    expect(all.length).toBe(3);
    expect(all.every(({ score }) => score > 0 && score <= 1)).toBe(true);
    const threshold = all[0]?.score ?? 1;
    expect((await search(query, { score_threshold: threshold })).data.map(({ file_id: id }) => id)).toEqual([
      all[0]?.file_id,
    ]);
    await expect(search(query, { hybrid_search: { embedding_weight: 0, text_weight: 0 } })).rejects.toMatchObject({
      status: 400,
      param: 'ranking_options.hybrid_search',
    });
  });

  it('answers a model that searches by meaning, and explains each line of what that cost', async () => {
    const before = (await bills()).length;
    gateway.vendor.script = ({ result }) => ({
      reasoning: undefined,
      text: result === undefined ? '' : 'In 1871.【1】',
      call: result === undefined ? { id: 'c', name: 'file_search', args: { query: 'beacon' } } : undefined,
    });
    const answer = await client.responses.create({
      model: 'vendor-5',
      input: 'When?',
      tools: [{ type: 'file_search', vector_store_ids: [storeId], max_num_results: 1 }],
    });
    gateway.vendor.script = () => undefined;
    const [message] = answer.output.filter(({ type }) => type === 'message');
    expect(JSON.stringify(message)).toContain(ids['light.txt']);
    const asked = (await bills()).slice(before);
    expect(asked.map(({ amount, lines }) => [amount, lines.length])).toEqual([[4n * TOKEN_MICROS, 1]]);
  });

  it('searches by words while no upstream makes vectors, and makes the missing vectors later', async () => {
    gateway.vendor.fault = 'error-500';
    const id = await add('pay.txt', 'The invoice is due in thirty days.');
    expect((await search('invoice')).data[0]?.file_id).toBe(id);
    await eventually(async () => {
      const text = 'select vector_attempt as tried from file_index where file_id = $1';
      return ((await gateway.database.query<{ tried: number }>({ text, values: [id] })).rows[0]?.tried ?? 0) > 0;
    });
    gateway.vendor.fault = 'none';
    await gateway.database.query({ text: 'update file_index set vector_due_at = now()' });
    await eventually(async () => (await embedded()) === 4);
    expect((await search('When must I settle the bill?')).data[0]?.file_id).toBe(id);
    await client.files.delete(id);
  });

  it('charges nothing for vectors that are none, in a file or for a question', async () => {
    const before = (await bills()).length;
    gateway.vendor.vectorOf = () => [];
    const id = await add('rock.txt', 'Granite cools slowly.');
    // A turn is due again some seconds after it has failed, and for minutes nobody else's while it runs.
    const hasFailed = `select 1 from file_index where file_id = $1 and vector_attempt > 0 and vector_due_at < now() + interval '1 minute'`;
    await eventually(async () => (await gateway.database.query({ text: hasFailed, values: [id] })).rows.length > 0);
    expect((await search('granite')).data[0]?.file_id).toBe(id);
    const asked = (await bills()).slice(before);
    gateway.vendor.vectorOf = vectorByMeaning;
    await client.files.delete(id);
    expect(asked.map(({ request, amount }) => [request.slice(0, 4), amount])).toEqual([
      ['vect', 0n],
      ['req_', 0n],
    ]);
  });

  it('is refused to an account without money for the vector of its question', async () => {
    await gateway.setBalance(0n);
    await expect(search('beacon')).rejects.toMatchObject({ code: 'insufficient_balance' });
    expect((await search('lighthouse', { hybrid_search: { embedding_weight: 0, text_weight: 1 } })).data).toHaveLength(
      1,
    );
    await gateway.spareMoney();
  });

  it('pays for no further query once its client has left', async () => {
    let [open, onReached] = [(): void => {}, (): void => {}];
    const opened = new Promise<void>((resolve) => (open = resolve));
    const reached = new Promise<void>((resolve) => (onReached = resolve));
    gateway.vendor.gate = { at: 'start', opened, onReached };
    const queries = ['light', 'dough', 'hound'];
    const leaving = new AbortController();
    const left = client.vectorStores
      .search(storeId, { query: queries }, { signal: leaving.signal })
      .catch(() => 'left');
    await reached;
    leaving.abort();
    await left;
    gateway.vendor.gate = undefined;
    open();
    // What was left unpaid would be paid before this is.
    await client.vectorStores.search(storeId, { query: 'bread' });
    await gateway.settled();
    const asked = gateway.vendor.seen.map(({ text }) => text);
    expect(queries.map((query) => asked.some((text) => text.includes(`["${query}"]`)))).toEqual([true, false, false]);
  });

  it('counts vectors at the prices of the account, in a search as in a file', async () => {
    const assign = (list: string | null) =>
      gateway.database.query({
        text: `insert into account_price_list (account_id, list_id, effective_from, created_by) values ($1, $2, now(), 'test')`,
        values: [gateway.accountId, list],
      });
    const before = (await bills()).length;
    await assign('half');
    try {
      await search('a lamp by the sea');
      const { id } = await client.files.create({
        file: await toFile(Buffer.from('Salt.'), 'salt.txt'),
        purpose: 'assistants',
      });
      await client.vectorStores.files.createAndPoll(storeId, { file_id: id }, { pollIntervalMs: 50 });
      await eventually(async () => (await bills()).length === before + 2);
      await client.files.delete(id);
    } finally {
      await assign(null);
    }
    const half = [2n * TOKEN_MICROS, expect.objectContaining({ price_list: 'half', price_rule: 'rule_half' })];
    expect((await bills()).slice(before).map(({ amount, lines }) => [amount, lines[0]])).toEqual([half, half]);
  });
});

describe('Vectors that the operator pays for', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway({ FILE_EMBEDDING_MODEL: MODEL, FILE_EMBEDDINGS_FREE: 'true' }, { workers: true });
    gateway.vendor.vectorOf = vectorByMeaning;
  });
  afterAll(() => gateway.stop());

  it('are free for an account without balance, and need no price', async () => {
    await gateway.setBalance(0n);
    const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
    const content = await toFile(Buffer.from(TEXTS['light.txt']), 'light.txt');
    const file = await client.files.create({ file: content, purpose: 'assistants' });
    const store = await client.vectorStores.create({ file_ids: [file.id] });
    await eventually(
      async () => (await client.vectorStores.search(store.id, { query: 'beacon' })).data[0]?.file_id === file.id,
    );
    const { rows } = await gateway.database.query({
      text: 'select 1 from usage_record union select 1 from request_hold',
    });
    expect(rows).toEqual([]);
  });
});
