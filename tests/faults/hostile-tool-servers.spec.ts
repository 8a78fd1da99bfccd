import type { JsonObject } from '#contracts';
import { HOSTILITIES, type HostileServer, startHostileServer, TOOL, WEIGHED } from '../harness/tools/hostile-server.js';
import { eventually, pngSample } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';

const TOKEN = 'a-token-that-must-stay-secret';
const MIB = 1024 * 1024;
/** Seconds that a server gets which answers. */
const PATIENT = 30;

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
    server.tools = [TOOL];
    server.result = WEIGHED;
    server.asked.length = 0;
  });

  let nth = 0;
  /** Each time another address, so that no list is known from before. */
  const url = (): string => `http://${server.address}/mcp?nth=${(nth += 1)}`;
  const respond = (tool: object) =>
    gateway.send<Answer>('POST', '/v1/responses', {
      model: MODEL_OVER.chat,
      input: 'please weigh it with {}',
      tools: [tool],
    });
  /** Seconds are for what never comes. */
  const ask = (timeout: number) =>
    respond({ type: 'remote_mcp', remote_mcp: { url: url(), auth_token: TOKEN, timeout } });
  const native = (settings: object) =>
    respond({ type: 'mcp', server_label: 'scales', server_url: url(), require_approval: 'never', ...settings });

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
      const { status, body } = await eventually(async () => {
        server.flooded = 0;
        server.asked.length = 0;
        const answer = await ask(5);
        // It lists its tools at once: only a machine that is busy with the flood before takes longer.
        return !answer.body.error?.message.includes('did not list its tools: it did not answer') && answer;
      });
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
    const { body } = await ask(PATIENT);
    expect(body.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
  });

  it.each([65, Number.POSITIVE_INFINITY])(
    'that lists its tools on %d pages is refused: none is left out in silence',
    async (pages) => {
      server.hostility = undefined;
      server.pages = pages;
      const { status, body } = await ask(PATIENT);
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
    const { status, body } = await ask(PATIENT);
    gateway.vendor.script = script;
    expect(status).toBe(200);
    expect(body.output.find(({ type }) => type === 'mcp_call')).toMatchObject({ output: 'It weighs 7.', error: null });
    const methods = server.asked.map(({ method }) => method);
    expect(methods.filter((method) => method === 'initialize')).toHaveLength(2);
    expect(methods.filter((method) => method === 'tools/call')).toHaveLength(2);
  });

  it('that forgets every session is told once more, and not without end', async () => {
    server.hostility = { at: 'call', does: 'forgets' };
    const { body } = await ask(PATIENT);
    expect(body.output.find(({ type }) => type === 'mcp_call')).toMatchObject({
      error: 'The server did not run the tool: it answered with HTTP status 404.',
    });
    expect(server.asked.filter(({ method }) => method === 'initialize')).toHaveLength(2);
  });

  it('that lists names which no vendor takes, or lists one twice, has each tool offered once and called by its own', async () => {
    server.hostility = undefined;
    const names = ['weigh', 'weigh', 'weigh!', 'weigh?', '称重', '秤重', '9 lives', 'x'.repeat(256), 'y'.repeat(255)];
    server.tools = names.map((name) => ({ ...TOOL, name }));
    const offered: string[][] = [];
    const script = gateway.vendor.script;
    gateway.vendor.script = ({ toolNames, result }) => {
      offered.push([...toolNames]);
      const call = { id: 'call_1', name: toolNames[2] ?? '', args: {} };
      return result === undefined ? { reasoning: undefined, text: '', call } : undefined;
    };
    const { status, body } = await native({});
    gateway.vendor.script = script;
    expect([status, body.error]).toEqual([200, null]);
    expect(offered[0]).toHaveLength(new Set(names).size);
    expect(new Set(offered[0]).size).toBe(offered[0]?.length);
    expect(offered[0]?.filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([]);
    const called = server.asked.filter(({ method }) => method === 'tools/call').map(({ params }) => params);
    expect(called).toEqual([expect.objectContaining({ name: 'weigh?' })]);
    expect(body.output.find(({ type }) => type === 'mcp_call')).toMatchObject({ name: 'weigh?', error: null });
  });

  it.each(['', 'x'.repeat(257), 7, null])(
    'that lists a tool whose name is %j is refused by that reason',
    async (name) => {
      server.hostility = undefined;
      server.tools = [{ ...TOOL, name }];
      const { status, body } = await native({});
      expect(status).toBe(400);
      expect(body.error?.message).toMatch(/it lists a tool without a name of 1 to 256 characters\.$/);
    },
  );

  it('that says nothing of what its tool takes has it offered all the same', async () => {
    server.hostility = undefined;
    server.tools = [{ name: 'weigh' }];
    const { body } = await native({});
    expect(body.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
  });

  const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64');
  it.each<[string, JsonObject, RegExp]>([
    ['sounds', { content: [{ type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' }] }, /type audio, audio\/wav/],
    ['links', { content: [{ type: 'resource_link', name: 'a', uri: 'file:///etc/passwd' }] }, /\[a\]\(file:/],
    ['files', { content: [{ type: 'resource', resource: { uri: 'x:y', blob: 'AAAA' } }] }, /A file of type unknown/],
    ['texts in files', { content: [{ type: 'resource', resource: { uri: 'x:y', text: 'seven' } }] }, /seven/],
    ['structures', { content: [], structuredContent: { weight: 7 } }, /\{"weight":7\}/],
    ['what nobody knows', { content: [{ type: 'smell', mimeType: 'a/b' }, {}] }, /type smell, a\/b[^]*type unknown/],
    ['nothing', {}, /^$/],
    [
      'an image that is none',
      { content: [{ type: 'image', mimeType: 'image/png', data: base64('<svg onload=alert(1)>') }] },
      /Content of type image, image\/png, which is not shown/,
    ],
    [
      'an image of another type than it says',
      { content: [{ type: 'image', mimeType: 'image/webp', data: base64(pngSample({ width: 8, height: 8 })) }] },
      /^\[image\]$/,
    ],
  ])('that returns %s has the model told so, and no request fails for it', async (_, result, told) => {
    server.hostility = undefined;
    server.result = result;
    const { status, body } = await native({});
    expect([status, body.error]).toEqual([200, null]);
    const call = body.output.find(({ type }) => type === 'mcp_call');
    expect(call).toMatchObject({ status: 'completed', error: null, output: expect.stringMatching(told) });
    const sent = JSON.stringify(gateway.vendor.seen.at(-1)?.body);
    // What the model sees is an image, or no bytes at all.
    expect(sent.includes('data:image/png;base64,')).toBe(told.source.includes('[image'));
    expect(sent).not.toContain('data:image/webp');
  });

  it('is sent one authorization: a second one, in headers, is refused by its name', async () => {
    server.hostility = undefined;
    const { status, body } = await native({ authorization: TOKEN, headers: { Authorization: 'Basic eA==' } });
    expect([status, body.error?.param]).toEqual([400, 'tools[0].headers.Authorization']);
    expect(server.asked).toHaveLength(0);
    expect((await native({ headers: { Authorization: 'Basic eA==' } })).status).toBe(200);
  });

  it.each([
    [{ never: { read_only: true } }, true, 'mcp_call'],
    [{ never: { read_only: true } }, false, 'mcp_approval_request'],
    [{ always: { read_only: true } }, true, 'mcp_approval_request'],
    [{ always: { read_only: true } }, false, 'mcp_call'],
    [{ never: { tool_names: ['weigh'] } }, false, 'mcp_call'],
    [{ never: { tool_names: ['other'] } }, true, 'mcp_approval_request'],
  ])('is asked by the rule %j, where its tool says readOnlyHint: %j', async (rule, readOnlyHint, expected) => {
    server.hostility = undefined;
    server.tools = [{ ...TOOL, annotations: { readOnlyHint } }];
    const { body } = await native({ require_approval: rule });
    expect(body.output[1]?.['type']).toBe(expected);
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

  const servers = (count: number, timeout = 30) =>
    Array.from({ length: count }, (_, nth) => ({
      type: 'mcp',
      server_label: `s${nth}`,
      server_url: url(),
      require_approval: 'never',
      timeout,
    }));
  const respondWith = (tools: readonly object[]) =>
    gateway.send<Answer>('POST', '/v1/responses', { model: MODEL_OVER.chat, input: 'hello', tools });

  it.each<[string, string, () => object]>([
    ['/v1/responses', 'tools[16]', () => ({ input: 'hello', tools: servers(17) })],
    [
      '/v1/responses',
      'tools[16]',
      () => ({ input: 'hello', tools: Array.from({ length: 2_000 }, () => ({ type: 'file_search' })) }),
    ],
    [
      '/v1/chat/completions',
      'tools[16]',
      () => ({ messages: [{ role: 'user', content: 'hello' }], tools: servers(17) }),
    ],
    [
      '/v1/messages',
      'mcp_servers[16]',
      () => ({
        messages: [{ role: 'user', content: 'hello' }],
        max_tokens: 10,
        mcp_servers: Array.from({ length: 17 }, (_, nth) => ({ type: 'url', name: `s${nth}`, url: url() })),
      }),
    ],
  ])('is one of sixteen at most: further ones of a request to %s are refused at %s', async (path, param, body) => {
    server.hostility = undefined;
    const sent = await gateway.send<Answer>(
      'POST',
      path,
      { model: MODEL_OVER.chat, ...body() },
      { authorization: `Bearer ${gateway.key}`, 'anthropic-version': '2023-06-01' },
    );
    expect([sent.status, JSON.stringify(sent.body).includes(param)]).toEqual([400, true]);
    expect(server.asked).toHaveLength(0);
  });

  it('is one of sixteen that all are asked', async () => {
    server.hostility = undefined;
    const { status, body } = await respondWith(servers(16));
    expect([status, body.error]).toEqual([200, null]);
    expect(body.output.filter(({ type }) => type === 'mcp_list_tools')).toHaveLength(16);
  });

  it('is not asked for an account that cannot pay', async () => {
    server.hostility = undefined;
    await gateway.setBalance(0n);
    const { status } = await respondWith(servers(3));
    await gateway.spareMoney();
    expect(status).toBe(402);
    expect(server.asked).toHaveLength(0);
  });

  it('is asked for its tools within the share of the account, and not after another one failed', async () => {
    server.hostility = { at: 'list', does: 'hangs' };
    const { status } = await respondWith(servers(16, 1));
    expect(status).toBe(400);
    expect(server.asked.filter(({ method }) => method === 'initialize')).toHaveLength(8);
  });

  it('may say as much of its tools as all servers of a request together', async () => {
    server.hostility = undefined;
    server.tools = [{ ...TOOL, description: 'x'.repeat(400_000) }];
    expect((await respondWith(servers(2))).status).toBe(200);
    const { status, body } = await respondWith(servers(4));
    expect(status).toBe(400);
    expect(body.error?.message).toMatch(/^tools\[\d\]: the servers of the request say more than 1048576 characters/);
  });

  it('has what it says weigh as a body does while the answer is made', async () => {
    server.hostility = undefined;
    server.tools = [{ ...TOOL, description: 'x'.repeat(400_000) }];
    const script = gateway.vendor.script;
    let heldBytes = 0;
    gateway.vendor.script = (request) => {
      heldBytes = gateway.heldBytes();
      return script(request);
    };
    await respondWith(servers(2));
    gateway.vendor.script = script;
    expect(heldBytes).toBeGreaterThan(2 * 2 * 400_000);
    expect(heldBytes).toBeLessThan(2 * MIB);
    await gateway.untilAnswered();
    expect(gateway.heldBytes()).toBe(0);
  });

  it('is used again once it works, and its token is stored nowhere', async () => {
    server.hostility = undefined;
    const { status, body } = await ask(PATIENT);
    expect(status).toBe(200);
    expect(body.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    const { rows } = await gateway.database.query<{ found: boolean }>({
      text: 'select bool_or(to_jsonb(r)::text like $1) as found from text_response r',
      values: [`%${TOKEN}%`],
    });
    expect(rows[0]?.found).toBe(false);
  });
});
