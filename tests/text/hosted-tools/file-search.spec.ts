import type { JsonObject } from '#contracts';
import { eventually, pdfSample } from '#testing';
import OpenAI, { toFile } from 'openai';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest } from '../../harness/text-vendor/text-requests.js';

const HARBOUR = 'The lighthouse of Vesterholm was lit in 1871. Its keeper was Ingrid Aasen.';
const TEA = 'Longjing tea comes from Hangzhou. The spring harvest is the dearest.';
const QUESTION = 'Who was its keeper?';

/** A search of all files of the account, as each style asks for it. */
const SEARCH: Record<Style, JsonObject> = {
  responses: { tools: [{ type: 'file_search' }], include: ['file_search_call.results'] },
  chat: { tools: [{ type: 'file_search' }] },
  messages: { tools: [{ type: 'file_search', name: 'file_search' }] },
  gemini: { tools: [{ fileSearch: {} }] },
};

describe('A question about an uploaded file', () => {
  let gateway: TextGateway;
  let openai: OpenAI;
  let fileId: string;
  beforeAll(async () => {
    gateway = await startTextGateway({}, { idleSeconds: 30, workers: true });
    openai = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: gateway.key, maxRetries: 0 });
    const upload = async (content: Uint8Array, name: string) =>
      openai.files.create({ file: await toFile(Buffer.from(content), name), purpose: 'assistants' });
    [{ id: fileId }] = await Promise.all([
      upload(pdfSample([HARBOUR]), 'harbour.pdf'),
      upload(Buffer.from(TEA), 'tea.txt'),
    ]);
    // The model searches first, and cites the first result.
    gateway.vendor.script = ({ result, toolNames }) =>
      result === undefined && toolNames.includes('file_search')
        ? {
            reasoning: undefined,
            text: '',
            call: { id: `call_${Math.random()}`, name: 'file_search', args: { query: 'keeper of the lighthouse' } },
          }
        : { reasoning: undefined, text: 'It was Ingrid Aasen.【1】', call: undefined };
    await eventually(async () => (await ask('responses', MODEL_OVER.sandbox, false)).includes(fileId));
  });
  afterAll(() => gateway.stop());

  async function ask(style: Style, model: string, stream: boolean): Promise<string> {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream, text: QUESTION });
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...body, ...SEARCH[style] }),
    });
    const text = await answer.text();
    expect({ status: answer.status, text: answer.ok ? '' : text }).toEqual({ status: 200, text: '' });
    return text;
  }

  describe.each(STYLES)('in the %s style', (style) => {
    it.each(UPSTREAMS)(
      'is answered with a citation of its passage, whole and streamed, over the %s upstream',
      async (upstream) => {
        for (const stream of [false, true]) {
          const answer = await ask(style, MODEL_OVER[upstream], stream);
          expect(answer).toContain('Ingrid Aasen');
          expect(answer).toContain(fileId);
          expect(answer).toContain('harbour.pdf');
          expect(answer).not.toContain('【');
        }
      },
    );
  });

  it('cites the passage with its text and its position in the file', async () => {
    const answer = await openai.responses.create({
      model: MODEL_OVER.sandbox,
      input: QUESTION,
      tools: [{ type: 'file_search' } as OpenAI.Responses.FileSearchTool],
      include: ['file_search_call.results'],
    });
    const search = answer.output.find((item) => item.type === 'file_search_call');
    expect(search).toMatchObject({ status: 'completed', queries: [QUESTION] });
    expect(search?.results?.[0]).toMatchObject({ file_id: fileId, filename: 'harbour.pdf' });
    const message = answer.output.find((item) => item.type === 'message');
    const part = message?.content[0];
    const cited = part?.type === 'output_text' ? part.annotations[0] : undefined;
    expect(cited).toMatchObject({ type: 'file_citation', file_id: fileId, filename: 'harbour.pdf' });
    const { start_index: from, end_index: to } = cited as unknown as { start_index: number; end_index: number };
    expect(answer.output_text.slice(from, to)).toContain('Ingrid Aasen');
  });

  it.each(STYLES)('is refused in the %s style before money is held where it names an unknown store', async (style) => {
    const asked = gateway.vendor.seen.length;
    const store = 'vs_unknown';
    const tool: JsonObject =
      style === 'gemini'
        ? { fileSearch: { fileSearchStoreNames: [`fileSearchStores/${store}`] } }
        : { type: 'file_search', name: 'file_search', vector_store_ids: [store] };
    const { path, headers, body } = textRequest(style, {
      key: gateway.key,
      model: MODEL_OVER.chat,
      stream: true,
      text: QUESTION,
    });
    const since = await gateway.settled();
    const answer = await gateway.send('POST', path, { ...body, tools: [tool] }, headers);
    expect(answer.status).toBe(404);
    expect(JSON.stringify(answer.body)).toContain(store);
    expect(gateway.vendor.seen).toHaveLength(asked);
    const text = 'select 1 from ledger_entry where created_at > $1';
    expect((await gateway.database.query({ text, values: [since] })).rows).toEqual([]);
  });

  it.each(
    STYLES.flatMap(
      (style) =>
        [
          [
            style,
            'more stores than one search reads',
            Array.from({ length: 17 }, (_, nth) => `vs_${nth}`),
            'at most 16',
          ],
          [style, 'what is no store', ['vs_\u0000'], 'the id of a vector store'],
        ] as const,
    ),
  )('is refused in the %s style where it names %s', async (style, _what, stores, rule) => {
    const tool: JsonObject =
      style === 'gemini'
        ? { fileSearch: { fileSearchStoreNames: stores.map((store) => `fileSearchStores/${store}`) } }
        : { type: 'file_search', name: 'file_search', vector_store_ids: stores };
    const { path, headers, body } = textRequest(style, {
      key: gateway.key,
      model: MODEL_OVER.chat,
      stream: false,
      text: QUESTION,
    });
    const answer = await gateway.send('POST', path, { ...body, tools: [tool] }, headers);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(rule);
  });

  it('is answered from the vector store that the request names, and from no other', async () => {
    const store = await openai.vectorStores.create({ name: 'empty' });
    const answer = await openai.responses.create({
      model: MODEL_OVER.chat,
      input: QUESTION,
      tools: [{ type: 'file_search', vector_store_ids: [store.id] }],
      include: ['file_search_call.results'],
    });
    expect(answer.output.find((item) => item.type === 'file_search_call')?.results).toEqual([]);
    expect(JSON.stringify(answer.output)).not.toContain(fileId);
  });

  it('is answered from a file that passes the filter in one of the named stores, with its attributes there', async () => {
    const entry = (place: string) => ({ files: [{ file_id: fileId, attributes: { place } }] });
    const stores = [await openai.vectorStores.create({}), await openai.vectorStores.create({})];
    for (const [nth, { id }] of stores.entries())
      await openai.vectorStores.fileBatches.create(id, entry(nth === 0 ? 'north' : 'south'));
    const found = async (place: string): Promise<unknown> => {
      const filters = { type: 'eq', key: 'place', value: place } as const;
      const answer = await openai.responses.create({
        model: MODEL_OVER.chat,
        input: QUESTION,
        tools: [{ type: 'file_search', vector_store_ids: stores.map(({ id }) => id), filters }],
        include: ['file_search_call.results'],
      });
      const search = answer.output.find((item) => item.type === 'file_search_call');
      return search?.results?.map(({ file_id, attributes }) => [file_id, attributes]);
    };
    expect(await found('north')).toEqual([[fileId, { place: 'north' }]]);
    expect(await found('south')).toEqual([[fileId, { place: 'south' }]]);
    expect(await found('west')).toEqual([]);
  });
});
