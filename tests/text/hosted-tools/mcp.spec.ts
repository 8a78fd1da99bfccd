import { type McpProgram, startMcpProgram } from '../../harness/tools/mcp-program.js';
import { FakeTextVendor } from '../../harness/text-vendor/fake-text-vendor.js';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../../harness/text-vendor/text-gateway.js';

interface Item {
  readonly type: string;
  readonly [field: string]: unknown;
}

describe('A server of tools that the gateway asks', () => {
  let everything: McpProgram;
  let budget: McpProgram;
  let older: McpProgram;
  let gateway: TextGateway;
  beforeAll(async () => {
    [everything, budget, older] = await Promise.all([
      startMcpProgram('everything'),
      startMcpProgram('budget'),
      startMcpProgram('everything-sse'),
    ]);
    gateway = await startTextGateway(
      { MEDIA_FETCH_ALLOW: [everything, budget, older].map(({ address }) => address).join(',') },
      { idleSeconds: 10 },
    );
  });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all([everything, budget, older].map((program) => program.stop()));
  });

  const remote = (address: string, path = '/mcp') => ({
    type: 'remote_mcp',
    remote_mcp: { url: `http://${address}${path}`, auth_token: 'a-token-of-the-caller' },
  });
  const respond = (body: object) =>
    gateway.send<{ output: Item[]; tools: object[]; error?: object }>('POST', '/v1/responses', body);

  it.each(UPSTREAMS)('runs its tool and uses the result over the %s upstream', async (upstream) => {
    const { status, body } = await respond({
      model: MODEL_OVER[upstream],
      input: 'Please call echo with {"message":"the word is heliotrope"}',
      tools: [remote(everything.address)],
    });
    expect([status, body.error]).toEqual([200, null]);
    // One vendor proves the reasoning of every call.
    const shown = body.output.filter(({ type }) => type !== 'reasoning');
    expect(shown.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    const [list, call, message] = shown;
    expect(list).toMatchObject({ server_label: everything.address.replaceAll(/[.:]/g, '-'), error: null });
    expect(JSON.stringify(list?.['tools'])).toContain('"name":"echo"');
    expect(call).toMatchObject({ name: 'echo', status: 'completed', error: null, approval_request_id: null });
    expect(call?.['output']).toContain(upstream === 'sandbox' ? 'Echo' : 'the word is heliotrope');
    expect(JSON.stringify(message)).toContain('Echo');
    expect(JSON.stringify(body)).not.toContain('a-token-of-the-caller');
  });

  it.each([
    ['by its name', ['echo']],
    ['by its name in a filter', { tool_names: ['echo'] }],
  ])('shows no tool but the one that its caller allows %s', async (_how, allowed) => {
    const { body } = await respond({
      model: MODEL_OVER.chat,
      input: 'Say hello.',
      tools: [
        {
          type: 'mcp',
          server_label: 'everything',
          server_url: `http://${everything.address}/mcp`,
          allowed_tools: allowed,
        },
      ],
    });
    const list = body.output.find(({ type }) => type === 'mcp_list_tools');
    expect(list?.['tools']).toEqual([expect.objectContaining({ name: 'echo' })]);
  });

  it('reaches another server of the registry, and one with an older protocol version', async () => {
    const answers = await Promise.all([
      respond({ model: MODEL_OVER.chat, input: 'call get-budget-data with {}', tools: [remote(budget.address)] }),
      respond({
        model: MODEL_OVER.chat,
        input: 'call get-sum with {"a":20,"b":22}',
        tools: [remote(older.address, '/sse')],
      }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(JSON.stringify(answers[0]?.body.output)).toContain('get-budget-data');
    expect(JSON.stringify(answers[1]?.body.output)).toContain('42');
  });

  describe('over two vendor accounts', () => {
    let second: FakeTextVendor;
    let over: TextGateway;
    beforeAll(async () => {
      second = await FakeTextVendor.start();
      const entry = (protocol: 'chat' | 'gemini', priority: number): string =>
        `  - { id: second-${protocol}, protocol: ${protocol}, base_url: "${second.baseUrl}", models: { ${MODEL_OVER[protocol]}: m }, priority: ${priority} }\n`;
      const more = [entry('chat', 0), entry('gemini', 1)];
      over = await startTextGateway({ MEDIA_FETCH_ALLOW: everything.address }, { more: more.join('') });
    });
    afterAll(async () => {
      await over.stop();
      await second.stop();
    });

    /** How often each vendor was asked for one answer. */
    async function asked(model: string, input: string, session?: string): Promise<[number, number]> {
      const before = [over.vendor.seen.length, second.seen.length] as const;
      const body = { model, input, tools: [remote(everything.address)] };
      const named = session === undefined ? {} : { 'x-session-id': session };
      const { status } = await over.send('POST', '/v1/responses', body, {
        authorization: `Bearer ${over.key}`,
        ...named,
      });
      expect(status).toBe(200);
      return [over.vendor.seen.length - before[0], second.seen.length - before[1]];
    }

    it('has all rounds of a request asked at one of them', async () => {
      const places = new Set<string>();
      for (let turn = 0; turn < 16; turn += 1)
        places.add(String(await asked(MODEL_OVER.chat, `call echo with {"message":"turn ${turn}"}`)));
      expect(places).toEqual(new Set(['2,0', '0,2']));
    });

    it('has the conversation go on where the last round was answered', async () => {
      over.vendor.spoiled.set('Echo: moved', { status: 503, body: {} });
      const all = await asked(MODEL_OVER.gemini, 'call echo with {"message":"moved"}', 'a loop');
      expect(all).toEqual([2, 1]);
      expect(await asked(MODEL_OVER.gemini, 'Hello', 'a loop')).toEqual([0, 1]);
    });
  });
});
