import type { JsonObject } from '#contracts';
import { HOSTILITIES, type HostileServer, startHostileServer } from '../../testing/tools/hostile-server.js';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../../testing/text-vendor/text-gateway.js';

const TOKEN = 'a-token-that-must-stay-secret';
const MIB = 1024 * 1024;

interface Answer {
  readonly output: JsonObject[];
  readonly error: { readonly message: string; readonly param: string } | null;
}

describe('A hostile server of tools', () => {
  let server: HostileServer;
  let gateway: TextGateway;
  beforeAll(async () => {
    server = await startHostileServer();
    gateway = await startTextGateway({ MEDIA_FETCH_ALLOW: server.address }, { idleSeconds: 30 });
  });
  afterAll(async () => {
    await gateway.stop();
    await server.stop();
  });
  beforeEach(() => {
    server.flooded = 0;
    server.pages = 1;
    server.asked.length = 0;
  });

  let nth = 0;
  /** Each time another address, so that no list is known from before. Seconds are for what never comes. */
  const ask = (timeout: number) =>
    gateway.send<Answer>('POST', '/v1/responses', {
      model: MODEL_OVER.chat,
      input: 'please weigh it with {}',
      tools: [
        {
          type: 'remote_mcp',
          remote_mcp: { url: `http://${server.address}/mcp?nth=${(nth += 1)}`, auth_token: TOKEN, timeout },
        },
      ],
    });

  it.each(HOSTILITIES)('that %s when listing its tools causes a clear error and no charge', async (does) => {
    server.hostility = { at: 'list', does };
    const asked = gateway.vendor.seen.length;
    const { status, body } = await ask(1);
    expect(status).toBe(400);
    expect(body.error?.param).toBe('tools[0]');
    expect(body.error?.message).toMatch(/^tools\[0\]: the server "[\w-]+" did not list its tools: /);
    expect(JSON.stringify(body)).not.toContain(TOKEN);
    expect(gateway.vendor.seen).toHaveLength(asked);
    expectLittleRead();
    await gateway.settled();
  });

  it.each(HOSTILITIES)(
    'that %s when it runs a tool fails that tool alone, and the model gets the error',
    async (does) => {
      server.hostility = { at: 'call', does };
      const { status, body } = await ask(5);
      expect(status).toBe(200);
      const call = body.output.find(({ type }) => type === 'mcp_call');
      expect(call).toMatchObject({ name: 'weigh', status: 'failed', output: null });
      expect(call?.['error']).toMatch(/^The server did not run the tool: /);
      expect(body.output.at(-1)).toMatchObject({ type: 'message', status: 'completed' });
      expect(JSON.stringify(body)).not.toContain(TOKEN);
      expectLittleRead();
      await gateway.settled();
    },
  );

  /** Of a flood no more is taken than an answer may have, and what the network holds; of questions none without end. */
  function expectLittleRead(): void {
    expect(server.flooded).toBeLessThan(32 * MIB);
    expect(server.asked.length).toBeLessThan(1_000);
  }

  it('that lists its tools on many pages is read to the end', async () => {
    server.hostility = undefined;
    server.pages = 64;
    const { body } = await ask(5);
    expect(body.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
  });

  it.each([65, Number.POSITIVE_INFINITY])(
    'that lists its tools on %d pages is refused: none is left out in silence',
    async (pages) => {
      server.hostility = undefined;
      server.pages = pages;
      const { status, body } = await ask(5);
      expect(status).toBe(400);
      expect(body.error?.message).toMatch(/did not list its tools: it lists its tools on more than 64 pages\.$/);
      expect(server.asked.filter(({ method }) => method === 'tools/list')).toHaveLength(64);
    },
  );

  it('that has forgotten its session is told again who asks, once, and runs the tool once', async () => {
    server.hostility = undefined;
    const script = gateway.vendor.script;
    gateway.vendor.script = (request) => {
      server.forget();
      return script(request);
    };
    const { status, body } = await ask(5);
    gateway.vendor.script = script;
    expect(status).toBe(200);
    expect(body.output.find(({ type }) => type === 'mcp_call')).toMatchObject({ output: 'It weighs 7.', error: null });
    const methods = server.asked.map(({ method }) => method);
    expect(methods.filter((method) => method === 'initialize')).toHaveLength(2);
    expect(methods.filter((method) => method === 'tools/call')).toHaveLength(2);
  });

  it('that forgets every session is told once more, and not without end', async () => {
    server.hostility = { at: 'call', does: 'forgets' };
    const { body } = await ask(5);
    expect(body.output.find(({ type }) => type === 'mcp_call')).toMatchObject({
      error: 'The server did not run the tool: it answered with HTTP status 404.',
    });
    expect(server.asked.filter(({ method }) => method === 'initialize')).toHaveLength(2);
  });

  it('is not called at all when it is in a private network', async () => {
    server.hostility = undefined;
    for (const url of [
      'http://127.0.0.1:1/mcp',
      'http://169.254.169.254/mcp',
      'http://[::1]/mcp',
      'http://metadata.internal/mcp',
    ]) {
      const tools = [{ type: 'mcp', server_label: 'inside', server_url: url, require_approval: 'never' }];
      const { status, body } = await gateway.send<Answer>('POST', '/v1/responses', {
        model: MODEL_OVER.chat,
        input: 'hello',
        tools,
      });
      expect([url, status, body.error?.param]).toEqual([url, 400, 'tools[0].server_url']);
    }
    expect(server.asked).toHaveLength(0);
  });

  it('is used again once it works, and its token is stored nowhere', async () => {
    server.hostility = undefined;
    const { status, body } = await ask(5);
    expect(status).toBe(200);
    expect(body.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    const { rows } = await gateway.database.query<{ found: boolean }>({
      text: 'select bool_or(to_jsonb(r)::text like $1) as found from text_response r',
      values: [`%${TOKEN}%`],
    });
    expect(rows[0]?.found).toBe(false);
  });
});
