import { ReconciliationService } from '#features';
import { Database } from '#platform';
import { eventually, FaultProxy, ownTimeMs } from '#testing';
import { type FakeEngine, startFakeEngine } from '../harness/tools/search-engine.js';
import { createGatewayPlace, type GatewayPlace } from '../harness/test-gateway.js';
import { MODEL_OVER, startTextGateway, type TextGateway, type Upstream } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

/** How long running requests may go on, in milliseconds. */
const DRAIN_MS = 100;

/** One of another protocol than the style's own. */
const FOREIGN: Readonly<Record<Style, Upstream>> = {
  responses: 'chat',
  chat: 'messages',
  messages: 'gemini',
  gemini: 'responses',
};

interface Question {
  readonly name: string;
  readonly style: Style;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly id: string;
}

interface Charge {
  readonly status: string;
  readonly amount: bigint;
  readonly output: bigint;
}

const asking = (style: Style, upstream: Upstream, stream: boolean, key: string, more: object = {}): Question => {
  const { path, headers, body } = textRequest(style, { key, model: MODEL_OVER[upstream], stream });
  const tools = Object.keys(more).length > 0 ? ' with tools' : '';
  return { name: `${style} over ${upstream}${tools}`, style, path, headers, body: { ...body, ...more } };
};

const SEARCHES = { tools: [{ type: 'web_search' }] };

const questions = (stream: boolean, key: string): readonly Question[] => [
  ...STYLES.map((style) => asking(style, style, stream, key)),
  ...STYLES.map((style) => asking(style, FOREIGN[style], stream, key)),
  asking('responses', 'chat', stream, key, SEARCHES),
];

/** The last event of a stream that failed in the middle. */
const LAST_EVENT: Readonly<Record<Style, RegExp>> = {
  responses: /event: error\ndata: .*"code":"unavailable".*\n\n$/,
  chat: /data: {"error":.*"code":"unavailable".*\n\n$/,
  messages: /event: error\ndata: .*"type":"overloaded_error".*\n\n$/,
  gemini: /data: {"error":{"code":503,.*"status":"UNAVAILABLE".*\r?\n\r?\n{"error":.*$/,
};

describe('A stop of the process, its database 25 ms away', () => {
  let place: GatewayPlace;
  let proxy: FaultProxy;
  let engine: FakeEngine;
  let database: Database;
  let gateway: TextGateway;
  let charges: ReadonlyMap<string, readonly Charge[]>;
  const streams = new Map<string, Answer>();
  const wholes = new Map<string, Answer>();
  let stopMs = 0;

  beforeAll(async () => {
    place = await createGatewayPlace();
    proxy = await FaultProxy.start(place.databaseUrl);
    engine = await startFakeEngine();
    database = new Database(place.databaseUrl);
    await database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_search', $1, 'web_search_call', 1, 1, now() - interval '1 day', 'test'),
          ('price_vectors', 'text-embedding', 'input_token', 1, 1, now() - interval '1 day', 'test')`,
      values: [MODEL_OVER.chat],
    });
    gateway = await startTextGateway(
      { WEB_SEARCH_ENGINE: 'searxng', WEB_SEARCH_URL: engine.baseUrl },
      {},
      { place, databaseBehind: async (url) => proxy.urlOf(url) },
    );
    proxy.set('far');
    let reached = 0;
    gateway.vendor.gate = { at: 'middle', opened: new Promise(() => {}), onReached: () => (reached += 1) };
    const all = [true, false].flatMap((stream) => questions(stream, gateway.key).map((each) => ({ stream, each })));
    const embedding = { ...asking('chat', 'chat', false, gateway.key), name: 'embeddings', path: '/v1/embeddings' };
    const vectors = { stream: false, each: { ...embedding, body: { model: 'text-embedding', input: 'Hello' } } };
    const answers = [...all, vectors].map(async ({ stream, each }) => {
      (stream ? streams : wholes).set(each.name, await send(each));
    });
    await eventually(() => reached === answers.length);
    const began = ownTimeMs();
    await gateway.stop(DRAIN_MS);
    stopMs = ownTimeMs() - began;
    await Promise.all(answers);
    charges = await charged();
  });
  afterAll(async () => {
    await database.close();
    await proxy.close();
    await engine.stop();
    await place.remove();
  });

  async function send({ path, headers, body }: Question): Promise<Answer> {
    try {
      const answer = await fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const id = answer.headers.get('x-request-id') ?? '';
      let text = '';
      try {
        for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
      } catch (error) {
        text += `CUT: ${String(error)}`;
      }
      return { status: answer.status, headers: answer.headers, text, id };
    } catch (error) {
      return { status: 0, headers: new Headers(), text: `CUT: ${String(error)}`, id: '' };
    }
  }

  async function charged(): Promise<ReadonlyMap<string, readonly Charge[]>> {
    const { rows } = await database.query<Charge & { id: string }>({
      text: 'select request_id as id, status, amount_micros as amount, output_tokens as output from usage_record',
    });
    return new Map(rows.map(({ id }) => [id, rows.filter((row) => row.id === id)]));
  }

  const names = (stream: boolean): string[] => questions(stream, '').map(({ name }) => name);

  it.each(names(true).map((name) => [name]))('tells a stream in its own shape: %s', (name) => {
    const { status, text } = streams.get(name) as Answer;
    expect(status).toBe(200);
    expect(text).toMatch(LAST_EVENT[name.split(' ')[0] as Style]);
    expect(text).not.toContain('[DONE]');
  });

  it.each(names(true).map((name) => [name]))('charges what a stream delivered, once: %s', (name) => {
    const [charge, ...others] = charges.get((streams.get(name) as Answer).id) ?? [];
    expect(others).toEqual([]);
    expect(charge).toMatchObject({ status: 'failed' });
    // A round that only begins to call a tool has delivered nothing.
    if (name.includes('tools')) return;
    expect(charge?.output).toBeGreaterThan(0n);
    expect(charge?.output).toBeLessThan(100n);
    expect(charge?.amount).toBeGreaterThan(0n);
  });

  it.each([...names(false), 'embeddings'].map((name) => [name]))(
    'refuses a whole reply until later, and charges nothing for it: %s',
    (name) => {
      const { status, headers, text, id } = wholes.get(name) as Answer;
      expect([status, text]).toEqual([
        name.startsWith('messages') ? 529 : 503,
        expect.stringContaining('shutting down'),
      ]);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(headers.get('connection')).toBe('close');
      expect(charges.get(id)).toEqual([{ id, status: 'failed', amount: 0n, output: 0n }]);
    },
  );

  it('leaves nothing held, the books balanced, and takes no longer than it must', async () => {
    const { rows } = await database.query<{ held: bigint; holds: bigint }>({
      text: 'select (select sum(held_micros)::bigint from account) as held, (select count(*) from request_hold) as holds',
    });
    expect(rows).toEqual([{ held: 0n, holds: 0n }]);
    expect((await new ReconciliationService(database).run({ full: true }))?.findings).toEqual([]);
    expect(stopMs).toBeLessThan(10_000);
  });
});

describe('A stop while a vendor of vectors is silent', () => {
  it('tells a stream whose search waits for one, and waits for none itself', async () => {
    const place = await createGatewayPlace();
    const gateway = await startTextGateway({ FILE_EMBEDDING_MODEL: 'text-embedding' }, { workers: true }, { place });
    const database = new Database(place.databaseUrl);
    const send = async (path: string, body: object | FormData): Promise<Response> =>
      fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.key}`,
          ...(!(body instanceof FormData) && { 'content-type': 'application/json' }),
        },
        body: body instanceof FormData ? body : JSON.stringify(body),
      });
    const add = async (text: string): Promise<void> => {
      const form = new FormData();
      form.append('purpose', 'assistants');
      form.append('file', new Blob([text]), 'a.txt');
      const { id } = (await (await send('/v1/files', form)).json()) as { id: string };
      const { id: store } = (await (await send('/v1/vector_stores', {})).json()) as { id: string };
      await send(`/v1/vector_stores/${store}/files`, { file_id: id });
    };
    await database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_vectors', 'text-embedding', 'input_token', 1, 1, now() - interval '1 day', 'test')`,
      values: [],
    });
    await add('The lighthouse of Vesterholm was lit in 1871.');
    const embedded = `select 1 from file_index where embedding_model is not null`;
    await eventually(async () => (await database.query({ text: embedded, values: [] })).rows.length === 1);
    let reached = 0;
    gateway.vendor.gate = { at: 'start', opened: new Promise(() => {}), onReached: () => (reached += 1) };
    await add('Dough rests overnight.');
    await eventually(() => reached === 1);
    const tools = [{ type: 'file_search' }];
    const asked = { model: MODEL_OVER.sandbox, input: 'When was the lighthouse lit?', stream: true, tools };
    const told = send('/v1/responses', asked).then((answer) => answer.text());
    await eventually(() => reached === 2);
    const began = ownTimeMs();
    await gateway.stop(DRAIN_MS);
    const stopMs = ownTimeMs() - began;
    expect(await told).toMatch(LAST_EVENT.responses);
    const { rows } = await database.query({ text: 'select request_id from request_hold', values: [] });
    expect(rows).toEqual([]);
    expect(stopMs).toBeLessThan(8_000);
    await database.close();
    await place.remove();
  });
});
