import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { libraryClients } from '../harness/text-vendor/library-clients.js';
import {
  ALLOW_EVERYTHING,
  MODEL_OVER,
  startTextGateway,
  type TextGateway,
  UPSTREAMS,
} from '../harness/text-vendor/text-gateway.js';

const VENDORS = UPSTREAMS.filter((upstream) => upstream !== 'sandbox');
const HEADERS = { 'anthropic-version': '2023-06-01' };

/** What an upstream was sent of a conversation, whatever its protocol names it. */
const conversation = (body: Record<string, unknown>): string =>
  JSON.stringify(body['messages'] ?? body['input'] ?? body['contents']);

describe('Conversations that a messages library asks its server to keep', () => {
  let gateway: TextGateway;
  let client: Anthropic;
  let ran: string[];
  beforeAll(async () => {
    gateway = await startTextGateway({}, { settings: ALLOW_EVERYTHING });
    ({ anthropic: client } = libraryClients(gateway));
  });
  afterAll(() => gateway.stop());
  beforeEach(() => {
    ran = [];
    gateway.vendor.seen.length = 0;
    gateway.vendor.script = ({ result, toolNames }) =>
      result === undefined && toolNames.includes('weather')
        ? { reasoning: undefined, text: '', call: { id: 'call_1', name: 'weather', args: { city: 'Oslo' } } }
        : { reasoning: undefined, text: `It is ${result ?? 'unknown'}.`, call: undefined };
  });

  const weather = betaTool({
    name: 'weather',
    description: 'Tells the weather.',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    run: ({ city }) => {
      ran.push(city);
      return `windy in ${city}`;
    },
  });
  const order = (model: string) => ({
    model,
    max_tokens: 500,
    messages: [{ role: 'user' as const, content: 'How is Oslo?' }],
    tools: [weather],
  });
  const textOf = ({ content }: { content: readonly { type: string }[] }): string =>
    content.map((block) => ('text' in block ? String(block.text) : '')).join('');

  describe.each(VENDORS)('over the %s upstream', (upstream) => {
    it('are sent whole by its runner of tools, whose every tool runs once', async () => {
      const message = await client.beta.messages.toolRunner(order(MODEL_OVER[upstream]));
      expect(textOf(message)).toContain('windy in Oslo');
      expect(ran).toEqual(['Oslo']);
      expect(gateway.vendor.seen).toHaveLength(2);
      const { body } = gateway.vendor.last;
      expect(conversation(body)).toMatch(/How is Oslo.*windy in Oslo/);
    });

    it('are sent whole by its streaming runner of tools as well', async () => {
      const runner = client.beta.messages.toolRunner({ ...order(MODEL_OVER[upstream]), stream: true });
      const texts: string[] = [];
      for await (const stream of runner) texts.push(textOf(await stream.finalMessage()));
      expect(texts.at(-1)).toContain('windy in Oslo');
      expect(ran).toEqual(['Oslo']);
      expect(gateway.vendor.seen).toHaveLength(2);
    });

    it('are not kept by the vendor, for whom all callers are one', async () => {
      const body = { ...order(MODEL_OVER[upstream]), tools: [], thread: { type: 'create' } };
      const { status } = await gateway.send('POST', '/v1/messages', body, {
        ...HEADERS,
        authorization: `Bearer ${gateway.key}`,
      });
      expect(status).toBe(200);
      expect(gateway.vendor.last.body).not.toHaveProperty('thread');
    });
  });

  it('are lost when they are continued, in the words that the library acts on, and nothing is asked', async () => {
    const thread = { type: 'continue', previous_message_id: 'msg_of_another_account' };
    for (const messages of [[], [{ role: 'user', content: 'and now?' }]]) {
      const { status, body } = await gateway.send<{ error: object }>(
        'POST',
        '/v1/messages',
        { model: MODEL_OVER.messages, max_tokens: 50, messages, thread },
        { ...HEADERS, authorization: `Bearer ${gateway.key}` },
      );
      expect(status).toBe(404);
      expect(body.error).toMatchObject({
        type: 'not_found_error',
        message: 'thread: no conversation is kept for later requests; send all of its messages.',
        details: { error_code: 'thread_not_found' },
      });
    }
    expect(gateway.vendor.seen).toEqual([]);
  });

  it.each([
    [{ type: 'keep' }, 'thread.type'],
    [{ type: 'continue' }, 'thread.previous_message_id'],
    ['create', 'thread'],
  ])('are refused by the name of the field where their form is wrong: %j', async (thread, field) => {
    const { status, body } = await gateway.send<{ error: { message: string } }>(
      'POST',
      '/v1/messages',
      { ...order(MODEL_OVER.messages), tools: [], thread },
      { ...HEADERS, authorization: `Bearer ${gateway.key}` },
    );
    expect(status).toBe(400);
    expect(body.error.message).toContain(`${field} `);
  });
});
