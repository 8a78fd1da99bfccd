import { Ajv } from 'ajv';
import type { JsonObject } from '#contracts';
import { COMPACTED, EVENTS, RESPONSE } from '../harness/open-responses/schemas.js';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';

/** An icon of one pixel. */
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WEATHER: JsonObject = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a place now.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

const says = (role: string, content: string | readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  type: 'message',
  role,
  content,
  ...more,
});
const looks = (part: JsonObject): JsonObject[] => [
  says('user', [{ type: 'input_text', text: 'What is this? One sentence.' }, part]),
];

/** A request, and an item that its answer must hold. */
interface Case {
  readonly name: string;
  readonly body: JsonObject;
  readonly item?: string;
}

/** The cases that Open Responses tries over HTTP. */
const CASES: readonly Case[] = [
  { name: 'a user message', body: { input: [says('user', 'Say hello in three words.')] } },
  { name: 'a text as input', body: { input: 'Say hello.' } },
  {
    name: 'a system message',
    body: { input: [says('system', 'You are a pirate.'), says('user', 'Say hello.')] },
  },
  {
    name: 'a developer message',
    body: { input: [says('developer', 'You are a pirate.'), says('user', 'Say hello.')] },
  },
  {
    name: 'a conversation of several turns',
    body: {
      input: [says('user', 'My name is Alice.'), says('assistant', 'Hello Alice!'), says('user', 'What is my name?')],
    },
  },
  {
    name: 'turns with their phases',
    body: {
      input: [
        says('user', 'Look it up.'),
        says('assistant', 'I am looking.', { phase: 'commentary' }),
        says('assistant', 'It is four.', { phase: 'final_answer' }),
        says('user', 'And twice that?'),
      ],
    },
  },
  { name: 'an image', body: { input: looks({ type: 'input_image', image_url: PNG }) } },
  {
    name: 'a file',
    body: {
      input: looks({ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQK' }),
    },
  },
  {
    name: 'a function',
    body: { input: [says('user', 'Ask get_weather about Paris.')], tools: [WEATHER] },
    item: 'function_call',
  },
  {
    name: 'the result of a function',
    body: {
      input: [
        says('user', 'What is the weather in Paris?'),
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' },
        { type: 'function_call_output', call_id: 'call_1', output: '{"sky":"clear"}' },
      ],
      tools: [WEATHER],
    },
  },
  {
    name: 'a wish for reasoning',
    body: { input: 'What is two and two?', reasoning: { effort: 'low', summary: 'auto' } },
  },
];

interface Answer extends JsonObject {
  readonly id: string;
  readonly status: string;
  readonly output: JsonObject[];
}

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
const compiled = new Map([...EVENTS].map(([type, schema]) => [type, ajv.compile(schema)]));
const isResponse = ajv.compile(RESPONSE);
const isCompacted = ajv.compile(COMPACTED);

/** What is wrong with an event, in words; undefined for one of the interface. */
function mistakeIn(event: JsonObject): string | undefined {
  const { type } = event as { readonly type: string };
  const validate = compiled.get(type);
  if (!validate) return `an event of the type ${type}`;
  return validate(event) ? undefined : `${type}: ${ajv.errorsText(validate.errors)}`;
}

const eventsOf = (stream: string): JsonObject[] =>
  stream.split('\n').flatMap((line) => {
    const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : '';
    return data === '' || data === '[DONE]' ? [] : [JSON.parse(data) as JsonObject];
  });

describe('The cases of Open Responses, checked against its schemas', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
    gateway.vendor.isStrict = true;
  });
  afterAll(() => gateway.stop());

  const ask = async (path: string, body: JsonObject): Promise<Response> =>
    fetch(`${gateway.baseUrl}/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify(body),
    });

  async function whole(body: JsonObject): Promise<Answer> {
    const answer = (await (await ask('responses', { ...body, stream: false })).json()) as Answer;
    isResponse(answer);
    expect(isResponse.errors ?? []).toEqual([]);
    return answer;
  }

  async function streamed(body: JsonObject): Promise<Answer> {
    const reply = await ask('responses', { ...body, stream: true });
    expect(reply.headers.get('content-type')).toContain('text/event-stream');
    const events = eventsOf(await reply.text());
    expect(events.flatMap((event) => mistakeIn(event) ?? [])).toEqual([]);
    expect(events.map((event) => event['sequence_number'])).toEqual([...events.keys()]);
    return events.at(-1)?.['response'] as Answer;
  }

  describe.each(UPSTREAMS)('over %s', (upstream) => {
    const model = MODEL_OVER[upstream];

    it.each(CASES)('answer $name, whole and streamed', async ({ body, item = 'message' }) => {
      const asked = { model, ...body };
      for (const answer of [await whole(asked), await streamed(asked)]) {
        expect(answer.status).toBe('completed');
        expect(answer.output.map(({ type }) => type)).toContain(item);
      }
    });

    it('continue from an earlier response', async () => {
      const { id } = await whole({ model, input: 'My name is Alice.' });
      const next = { model, previous_response_id: id, input: 'What is my name?' };
      for (const answer of [await whole(next), await streamed(next)])
        expect(answer).toMatchObject({ status: 'completed', previous_response_id: id });
    });

    it('compact a conversation to an item that a request continues from', async () => {
      const input = [says('user', 'My name is Alice.'), says('assistant', 'Hello Alice!')];
      const compacted = (await (await ask('responses/compact', { model, input })).json()) as Answer;
      isCompacted(compacted);
      expect(isCompacted.errors ?? []).toEqual([]);
      expect(compacted.output.map(({ type }) => type)).toContain('compaction');
      const next = [...compacted.output, says('user', 'What is my name?')];
      expect(await whole({ model, input: next })).toMatchObject({ status: 'completed' });
    });
  });

  it('refuse to compact without a model, naming the field', async () => {
    const reply = await ask('responses/compact', { input: 'My name is Alice.' });
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { param: 'model' } }]);
  });
});
