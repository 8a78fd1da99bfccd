import OpenAI from 'openai';
import type { ResponseInput } from 'openai/resources/responses/responses';
import { startTextGateway, type TextGateway, MODEL_OVER, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WEATHER = {
  type: 'function' as const,
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
};
const SANDBOX = MODEL_OVER.sandbox;
const UNKNOWN_ID = 'resp_000000000000000000000000';

describe('A stored response, for the openai library', () => {
  let gateway: TextGateway;
  let responses: OpenAI['responses'];
  beforeAll(async () => {
    gateway = await startTextGateway();
    ({ responses } = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 }));
  });
  afterAll(() => gateway.stop());

  const ask = (input: string | ResponseInput, more: object = {}) =>
    responses.create({ model: SANDBOX, input, ...more }) as Promise<OpenAI.Responses.Response>;
  async function read<Item>(pages: PromiseLike<AsyncIterable<Item>>): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of await pages) items.push(item);
    return items;
  }
  const textsOf = (items: readonly object[]): (string | undefined)[] =>
    items.map((item) => {
      const [part] = 'content' in item && Array.isArray(item.content) ? (item.content as { text?: string }[]) : [];
      return part?.text;
    });

  it.each(['responses', 'chat'] as const)(
    'names the response it continues, whole, streamed and read again, over %s',
    async (upstream) => {
      const model = MODEL_OVER[upstream];
      const first = await responses.create({ model, input: 'My name is Ada' });
      const more = { model, input: 'Who am I?', previous_response_id: first.id };
      const whole = await responses.create(more);
      const stream = responses.stream(more);
      const begun = await stream.emitted('response.created');
      const streamed = await stream.finalResponse();
      const answers = [whole, begun.response, streamed, await responses.retrieve(whole.id)];
      expect(answers.map(({ previous_response_id: previous }) => previous)).toEqual(answers.map(() => first.id));
      const { previous_response_id: none } = await responses.create({ model, input: 'Hello' });
      expect(none).toBeNull();
    },
  );

  it.each(['vendor-responses', 'vendor-responses-2026-11-01'])(
    'shows the public name of its model everywhere, whole, streamed and read again, where the vendor answers as %s',
    async (name) => {
      gateway.vendor.rewrite = (json) => json.replaceAll('"vendor-responses"', JSON.stringify(name));
      const namesIn = (text: string): unknown[] => [...text.matchAll(/"model":"([^"]*)"/g)].map(([, shown]) => shown);
      const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
      for (const stream of [false, true]) {
        const body = JSON.stringify({ model: MODEL_OVER.responses, input: 'Hello there', stream });
        const sent = await fetch(`${gateway.baseUrl}/v1/responses`, { method: 'POST', headers, body });
        const text = await sent.text();
        const id = /"id":"(resp_\w+)"/.exec(text)?.[1];
        const stored = await fetch(`${gateway.baseUrl}/v1/responses/${id}`, { headers });
        for (const names of [namesIn(text), namesIn(await stored.text())])
          expect([names.length >= 1, new Set(names)]).toEqual([true, new Set([MODEL_OVER.responses])]);
      }
      gateway.vendor.rewrite = (json) => json;
    },
  );

  it('numbers a failure after the events passed on', async () => {
    gateway.vendor.fault = 'cut-mid-event';
    const answer = await fetch(`${gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL_OVER.responses, input: 'Hello there', stream: true }),
    });
    const numbers = [...(await answer.text()).matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
    gateway.vendor.fault = 'none';
    expect(numbers.length).toBeGreaterThan(2);
    expect(numbers).toEqual([...numbers.keys()]);
  });

  it.each(UPSTREAMS)('passes on no header about the account at the vendor, over %s', async (upstream) => {
    gateway.vendor.headers = {
      'x-ratelimit-remaining-requests': '1',
      'anthropic-ratelimit-requests-remaining': '1',
      'openai-organization': 'org-operator',
      'retry-after': '7',
    };
    for (const stream of [false, true]) {
      const answer = await responses.create({ model: MODEL_OVER[upstream], input: 'Hello', stream }).asResponse();
      expect([...answer.headers.keys()].filter((name) => /ratelimit-|organization|retry-after/.test(name))).toEqual([]);
      await answer.arrayBuffer();
    }
    gateway.vendor.headers = {};
  });

  describe('that is deleted', () => {
    it('is deleted with its items, and responses that continue it cannot be continued any more', async () => {
      const first = await ask([{ role: 'user', content: 'One', id: 'msg_mine' } as never]);
      const second = await ask('Two', { previous_response_id: first.id });
      await responses.delete(first.id);
      await expect(responses.retrieve(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      await expect(responses.delete(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      for (const id of ['msg_mine', first.output[0]?.id ?? ''])
        await expect(ask([{ type: 'item_reference', id }])).rejects.toMatchObject({ code: 'item_not_found' });
      expect((await responses.retrieve(second.id)).output_text).toContain('Two');
      await expect(ask('Three', { previous_response_id: second.id })).rejects.toMatchObject({
        code: 'previous_response_not_found',
        message: expect.stringContaining(first.id),
      });
      expect(textsOf(await read(responses.inputItems.list(second.id)))).toEqual(['Two']);
    });

    it('is read by its id', async () => {
      const { id } = await ask('One');
      const answer = await fetch(`${gateway.baseUrl}/v1/responses/${id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${gateway.key}` },
      });
      const gone = { id, object: 'response', deleted: true };
      expect(await answer.json()).toEqual({ code: 200, data: gone, ...gone });
    });
  });

  describe('lists its input items', () => {
    let last: string;
    let said: (string | undefined)[];
    beforeAll(async () => {
      const first = await ask('One');
      const second = await ask(
        [
          { role: 'user', content: 'Two' },
          { role: 'assistant', content: 'Three' },
        ],
        { previous_response_id: first.id },
      );
      last = (await ask('Four', { previous_response_id: second.id })).id;
      said = ['One', first.output_text, 'Two', 'Three', second.output_text, 'Four'];
    });

    it.each([1, 2, 4, 100])('the whole conversation, in pages of %i, in both orders', async (limit) => {
      const [asc, desc] = [
        await read(responses.inputItems.list(last, { limit, order: 'asc' })),
        await read(responses.inputItems.list(last, { limit })),
      ];
      expect(textsOf(asc)).toEqual(said);
      expect(desc.map(({ id }) => id)).toEqual(asc.map(({ id }) => id).toReversed());
      expect(new Set(asc.map(({ id }) => id)).size).toBe(said.length);
    });

    it('with the fields of a page that the library reads', async () => {
      const answer = await responses.inputItems.list(last, { limit: 2, order: 'asc' }).asResponse();
      const page = (await answer.json()) as { data: { id: string }[] };
      expect(page).toMatchObject({
        code: 200,
        object: 'list',
        data: [
          { type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'One' }] },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text' }] },
        ],
        has_more: true,
        first_id: page.data[0]?.id,
        last_id: page.data[1]?.id,
      });
    });

    it('calls, results, and long values on request by include', async () => {
      const { id } = await ask(
        [
          { role: 'user', content: [{ type: 'input_image', image_url: PIXEL, detail: 'auto' }] },
          { type: 'reasoning', id: 'rs_mine', summary: [], encrypted_content: 'sealed' },
          { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{}' },
          { type: 'function_call_output', call_id: 'call_1', output: '22 degrees' },
        ],
        { tools: [WEATHER] },
      );
      const [result, call, reasoning, message] = await read(responses.inputItems.list(id));
      expect(call).toMatchObject({
        type: 'function_call',
        call_id: 'call_1',
        status: 'completed',
        id: expect.any(String),
      });
      expect(result).toMatchObject({ type: 'function_call_output', output: '22 degrees' });
      expect(reasoning).toEqual({ type: 'reasoning', id: 'rs_mine', summary: [] });
      expect(message).toMatchObject({ content: [{ image_url: null }] });
      const include = ['message.input_image.image_url', 'reasoning.encrypted_content'] as const;
      const shown = await read(responses.inputItems.list(id, { include: [...include], order: 'asc', limit: 2 }));
      expect(shown.slice(0, 2)).toMatchObject([{ content: [{ image_url: PIXEL }] }, { encrypted_content: 'sealed' }]);
    });

    it.each([
      ['limit', '0'],
      ['limit', 'ten'],
      ['order', 'up'],
      ['after', 'item_unknown'],
      ['after', ''],
      ['include', 'everything'],
    ])('and refuses %s=%j by its name', async (param, value) => {
      const list = responses.inputItems.list(last, { [param]: value });
      await expect(list).rejects.toMatchObject({ status: 400, param });
    });
  });

  describe('is read as a stream', () => {
    it.each(UPSTREAMS)('whose helper reads the same response, over %s', async (upstream) => {
      const made = await responses.create({
        model: MODEL_OVER[upstream],
        input: 'Use get_weather for Paris',
        tools: [WEATHER],
        reasoning: { effort: 'low', summary: 'auto' },
      });
      const stored = await responses.retrieve(made.id);
      const stream = responses.stream({ response_id: made.id });
      let json = '';
      stream.on('response.function_call_arguments.delta', ({ delta }) => {
        json += delta;
      });
      expect((await stream.finalResponse()).output).toMatchObject(stored.output);
      expect(JSON.parse(json)).toEqual({ city: 'Paris' });
    });

    it('from any of its events on', async () => {
      const { id } = await ask('Hello there');
      const all = await read(responses.retrieve(id, { stream: true }));
      expect(all.map(({ type }) => type)).toEqual([
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.completed',
      ]);
      expect(all.map((event) => event.sequence_number)).toEqual([...all.keys()]);
      for (const starting_after of [0, 4, 8])
        expect(await read(responses.retrieve(id, { stream: true, starting_after }))).toEqual(
          all.slice(starting_after + 1),
        );
      const beyond = responses.retrieve(id, { stream: true, starting_after: 9 });
      await expect(beyond).rejects.toMatchObject({ status: 400, param: 'starting_after' });
      await expect(responses.retrieve(id, { starting_after: 1 } as object)).rejects.toMatchObject({
        param: 'starting_after',
      });
    });

    it('that ends as the reply ended', async () => {
      const { id } = await ask('Hello there', { max_output_tokens: 16, stop: undefined });
      await gateway.database.query({
        text: `update text_response set response = jsonb_set(response, '{status}', '"incomplete"') where id = $1`,
        values: [id],
      });
      expect((await read(responses.retrieve(id, { stream: true }))).at(-1)?.type).toBe('response.incomplete');
    });
  });

  it('cannot be cancelled, because it is finished', async () => {
    const { id } = await ask('One');
    await expect(responses.cancel(id)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('background'),
    });
  });

  describe('is compacted with its conversation', () => {
    it.each(UPSTREAMS)('to an item that every upstream can continue from, made by %s', async (upstream) => {
      const first = await ask('My name is Ada');
      const compacted = await responses.compact({
        model: MODEL_OVER[upstream],
        previous_response_id: first.id,
        input: [{ role: 'user', content: 'I live in Paris' }],
      });
      expect(compacted).toMatchObject({ object: 'response.compaction', usage: { output_tokens: expect.any(Number) } });
      expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction']);
      const input = [...compacted.output.slice(-1), { role: 'user', content: 'Go on' }] as ResponseInput;
      for (const next of UPSTREAMS) {
        const { output_text: text } = await responses.create({ model: MODEL_OVER[next], input, store: false });
        expect(next === 'sandbox' ? text : gateway.vendor.last.text).toContain('What it came to');
      }
    });

    it('only if there is something to compact', async () => {
      await expect(responses.compact({ model: SANDBOX })).rejects.toMatchObject({ status: 400, param: 'input' });
      await expect(responses.compact({ input: 'x' } as never)).rejects.toMatchObject({ status: 400, param: 'model' });
      const sealed = { type: 'compaction' as const, encrypted_content: 'of a vendor' };
      await expect(responses.compact({ model: SANDBOX, input: [sealed] })).rejects.toMatchObject({
        status: 400,
        param: 'input[0]',
      });
    });
  });

  it('is counted together with the new input', async () => {
    const first = await ask('My name is Ada');
    const count = async (body: object) => (await responses.inputTokens.count({ model: SANDBOX, ...body })).input_tokens;
    const [alone, both] = [
      await count({ input: 'Go on' }),
      await count({ input: 'Go on', previous_response_id: first.id }),
    ];
    expect(both).toBeGreaterThan(alone);
    expect(await count({ previous_response_id: first.id })).toBeLessThan(both);
    await expect(responses.inputTokens.count({ model: SANDBOX })).rejects.toMatchObject({
      status: 400,
      param: 'input',
    });
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['read', (id) => responses.retrieve(id)],
    ['streamed', (id) => responses.retrieve(id, { stream: true })],
    ['deleted', (id) => responses.delete(id)],
    ['listed', (id) => responses.inputItems.list(id)],
    ['cancelled', (id) => responses.cancel(id)],
  ])('of an unknown id cannot be %s', async (_what, call) => {
    await expect(call(UNKNOWN_ID)).rejects.toMatchObject({ status: 404, type: 'not_found_error' });
  });
});
