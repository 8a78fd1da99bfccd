import type { JsonObject } from '#contracts';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { FakeTextVendor } from '../harness/text-vendor/fake-text-vendor.js';
import { type Style, STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

const MARKED = ['gemini:GSIG', 'messages:MSIG', 'responses:RSIG', 'chat:at_call:CSIG'] as const;

/** A conversation whose assistant thought, with the proof an earlier answer gave. */
function conversation(style: Style, proof: string): JsonObject {
  if (style === 'responses') {
    const reasoning = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'deep' }],
      encrypted_content: proof,
    };
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
    return {
      input: [
        { role: 'user', content: 'x' },
        reasoning,
        call,
        { type: 'function_call_output', call_id: 'c', output: 'y' },
      ],
    };
  }
  if (style === 'chat') {
    const details = [
      { type: 'reasoning.text', text: 'deep', signature: proof, index: 0 },
      { type: 'reasoning.encrypted', data: proof, index: 1 },
    ];
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const calls = [{ ...call, extra_content: { google: { thought_signature: proof } } }];
    return {
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, reasoning_details: details, tool_calls: calls },
        { role: 'tool', tool_call_id: 'c', content: 'y' },
      ],
    };
  }
  if (style === 'messages') {
    const thinking = [
      { type: 'thinking', thinking: 'deep', signature: proof },
      { type: 'redacted_thinking', data: proof },
    ];
    const call = { type: 'tool_use', id: 'c', name: 'f', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'c', content: 'y' };
    return {
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: [...thinking, call] },
        { role: 'user', content: [result] },
      ],
    };
  }
  return {
    contents: [
      { role: 'user', parts: [{ text: 'x' }] },
      {
        role: 'model',
        parts: [
          { text: 'deep', thought: true, thoughtSignature: proof },
          { functionCall: { name: 'f', args: {} }, thought_signature: proof },
        ],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { y: 1 } } }] },
    ],
  };
}

describe.each(STYLES)('Reasoning that another vendor signed, in the %s style', (style) => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
  });
  afterAll(() => gateway.stop());

  async function sent(proof: string, stream: boolean): Promise<{ readonly text: string; readonly asked: string }> {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model: MODEL_OVER[style], stream });
    const asked = JSON.stringify({ ...body, ...conversation(style, proof) });
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: asked,
    });
    await answer.text();
    expect(answer.status).toBe(200);
    return { text: gateway.vendor.last.text, asked };
  }

  it.each(MARKED.filter((proof) => !proof.startsWith(style)))('does not reach the vendor: %s', async (proof) => {
    for (const stream of [false, true]) {
      const { text } = await sent(proof, stream);
      expect(text).not.toContain(proof);
      expect(text).not.toContain('deep');
      expect(text).toContain('"f"');
      // A vendor asked to think refuses the request when its own thinking is missing from the last turn.
      expect(text).not.toContain('budget_tokens');
    }
  });

  it('loses only its mark at the vendor that signed it', async () => {
    const proof = MARKED.find((mark) => mark.startsWith(style)) ?? '';
    const { text } = await sent(proof, false);
    expect(text).not.toContain(proof);
    expect(text).toContain(JSON.stringify(proof.split(':').at(-1)));
  });

  it('keeps reasoning that the vendor itself signed unchanged', async () => {
    const { text, asked } = await sent('EqQBCkgIBRABGAIiQ+/=', false);
    // The content-generation style continues in one spelling.
    const spelled = style === 'gemini' ? asked.replaceAll('thought_signature', 'thoughtSignature') : asked;
    expect(JSON.parse(text)).toMatchObject({ ...(JSON.parse(spelled) as object), ...modelOf(text) });
  });
});

describe('Reasoning whose proof a client dropped', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
  });
  afterAll(() => gateway.stop());

  const summary = [{ type: 'summary_text', text: 'deep' }];
  const itemsSent = async (id: string): Promise<unknown> => {
    const items: JsonObject[] = [
      { role: 'user', content: 'x' },
      { type: 'reasoning', id, summary },
      { role: 'user', content: 'y' },
    ];
    await gateway.send('POST', '/v1/responses', { model: MODEL_OVER.responses, store: false, input: items });
    return gateway.vendor.last.body['input'];
  };

  it('does not reach a vendor that never had it, by an id that the gateway gave', async () => {
    expect(await itemsSent(`rs_${'0a'.repeat(12)}`)).toEqual([
      { role: 'user', content: 'x' },
      { role: 'user', content: 'y' },
    ]);
  });

  it('goes back to a messages vendor that redacted it, or only left it unsaid, as it came', async () => {
    const blocks = (signature: string, data: string): JsonObject[] => [
      { type: 'thinking', thinking: '', signature },
      { type: 'redacted_thinking', data },
    ];
    const said = { role: 'user', content: 'x' };
    const content = blocks('messages:proof', 'messages:redacted:sealed');
    const messages = [said, { role: 'assistant', content }, said];
    const model = MODEL_OVER.messages;
    const { path, headers, body } = textRequest('messages', { key: gateway.key, model, stream: false });
    await gateway.send('POST', path, { ...body, messages }, headers);
    expect(gateway.vendor.last.body['messages']).toEqual([
      said,
      { role: 'assistant', content: blocks('proof', 'sealed') },
      said,
    ]);
  });

  it('goes back to a chat vendor in the account that it gave of it', async () => {
    const given = [{ type: 'reasoning.text', text: 'deep', signature: 'theirs', format: 'theirs' }];
    const proof = Buffer.from(JSON.stringify(['reasoning', ...given])).toString('base64url');
    const detail = { type: 'reasoning.text', text: 'deep', signature: `chat:details:${proof}`, index: 0 };
    const { path, headers, body } = textRequest('chat', { key: gateway.key, model: MODEL_OVER.chat, stream: false });
    const said = { role: 'assistant', content: 'x', reasoning_content: 'deep' };
    for (const [details, sent] of [
      [[detail], { ...said, reasoning_details: given }],
      [[{ ...detail, signature: 'chat:reasoning_content' }], said],
    ]) {
      const messages = [
        { ...said, reasoning_details: details },
        { role: 'user', content: 'y' },
      ] as JsonObject[];
      await gateway.send('POST', path, { ...body, messages }, headers);
      expect((gateway.vendor.last.body['messages'] as JsonObject[])[0]).toEqual(sent);
    }
  });

  it('goes back to the vendor that gave its id', async () => {
    expect(await itemsSent(`rs_${'0a'.repeat(25)}`)).toContainEqual({
      type: 'reasoning',
      id: `rs_${'0a'.repeat(25)}`,
      summary,
    });
  });
});

/** What a vendor says of a proof that another of its accounts made. */
const REFUSALS = {
  responses: {
    error: {
      message: 'The encrypted content could not be verified. Reason: organization_id did not match.',
      type: 'invalid_request_error',
      param: null,
      code: null,
    },
  },
  messages: {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'messages.1.content.0: Invalid `signature` in `thinking` block' },
  },
  gemini: { error: { code: 400, message: 'Thought signature is not valid.', status: 'INVALID_ARGUMENT' } },
  chat: { error: { message: 'Corrupted thought signature.', code: 400 } },
} as const;

const PROTOCOLS = ['responses', 'messages', 'gemini', 'chat'] as const;

/** The same vendor's replies with a proof by which it knows them again. */
const proving = (json: string): string =>
  json
    .replaceAll(/"(proof|sealed)"/g, '"PROOF_OF_FIRST"')
    .replaceAll('"thought":true', '"thought":true,"thoughtSignature":"PROOF_OF_FIRST"')
    .replaceAll(
      '"type":"function"',
      '"extra_content":{"google":{"thought_signature":"PROOF_OF_FIRST"}},"type":"function"',
    );

/** The proof in an answer; one interface has a place for a single proof, in which the gateway packs the thoughts as well. */
function proofIn(answer: string): string {
  const packed = /"([a-z]+@\w+:)~([\w-]+)"/.exec(answer);
  if (!packed) return /"([^"]*PROOF_OF_FIRST)"/.exec(answer)?.[1] ?? '';
  const unpacked = JSON.parse(Buffer.from(packed[2] ?? '', 'base64url').toString()) as string[][];
  return `${packed[1]}${unpacked.at(-1)?.at(-1)}`;
}

describe('A conversation of a model with upstreams of two accounts', () => {
  let gateway: TextGateway;
  let second: FakeTextVendor;
  beforeAll(async () => {
    second = await FakeTextVendor.start();
    const more = PROTOCOLS.map(
      (protocol) =>
        `  - { id: second-${protocol}, protocol: ${protocol}, base_url: "${second.baseUrl}", models: { ${MODEL_OVER[protocol]}: m }, priority: 1 }\n`,
    );
    gateway = await startTextGateway({}, { more: more.join('') });
    gateway.vendor.rewrite = proving;
    const call = { id: 'c', name: 'f', args: {} };
    gateway.vendor.script = () => ({ reasoning: 'deep', text: '', call });
    // The first account is away in the second turn.
    gateway.vendor.spoiled.set('turn two', { status: 503, body: {} });
  });
  afterAll(async () => {
    await gateway.stop();
    await second.stop();
  });

  let conversations = 0;

  async function ask(style: Style, model: string, stream: boolean, more: object = {}, session = ''): Promise<string> {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream });
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-session-id': session, ...headers },
      body: JSON.stringify({ ...body, ...more }),
    });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([200, expect.not.stringContaining('invalid')]);
    return text;
  }

  const pairs = STYLES.flatMap((style) => PROTOCOLS.map((protocol) => ({ style, protocol })));
  it.each(pairs)(
    'goes on without the proofs of the first in the $style style over $protocol',
    async ({ style, protocol }) => {
      second.spoiled.set('PROOF_OF_FIRST', { status: 400, body: REFUSALS[protocol] });
      const model = MODEL_OVER[protocol];
      const passes = style === protocol;
      for (const stream of [false, true]) {
        const session = `conversation ${(conversations += 1)}`;
        const proof = proofIn(await ask(style, model, stream, {}, session));
        expect(proof).toMatch(passes ? /^PROOF_OF_FIRST$/ : new RegExp(`^${protocol}@[0-9a-f]{8}:`));
        const again = conversation(style, proof);
        await ask(style, model, stream, again, session);
        expect(gateway.vendor.last.text).toContain('"PROOF_OF_FIRST"');
        const before = second.seen.length;
        const turnTwo = JSON.parse(JSON.stringify(again).replaceAll('"y"', '"turn two"')) as object;
        await ask(style, model, stream, turnTwo, session);
        expect(second.last.text).not.toContain('PROOF_OF_FIRST');
        expect(second.last.text).toMatch(/"name":"f"/);
        // What says whose it is never gets there, and neither does what was there when a known conversation moved.
        expect(second.seen.length - before).toBe(1);
        // What passed through unmarked in a conversation that nobody knows is refused once, and asked for without it.
        await ask(style, model, stream, turnTwo, `unknown ${session}`);
        expect(second.last.text).not.toContain('PROOF_OF_FIRST');
        expect(second.seen.length - before).toBe(passes ? 3 : 2);
        expect(gateway.vendor.last.text).toContain('turn two');
      }
    },
  );

  it.each(STYLES)('goes on without proofs that were lost or cut, in the %s style', async (style) => {
    gateway.vendor.isStrict = true;
    for (const stream of [false, true])
      for (const proof of ['cut', '', undefined]) {
        const asked = JSON.parse(JSON.stringify(conversation(style, proof ?? 'LOST'))) as object;
        const said =
          proof === undefined
            ? (JSON.parse(
                JSON.stringify(asked).replaceAll(
                  /,"(signature|encrypted_content|thoughtSignature|thought_signature)":"LOST"/g,
                  '',
                ),
              ) as object)
            : asked;
        await ask(style, MODEL_OVER[style], stream, said);
        expect(gateway.vendor.last.text).toContain('"f"');
      }
    gateway.vendor.isStrict = false;
  });

  it('hears the refusal that stays without them', async () => {
    const refusal = { status: 400, body: REFUSALS.messages };
    gateway.vendor.spoiled.set('never', refusal);
    const before = gateway.vendor.seen.length;
    const { path, headers, body } = textRequest('messages', {
      key: gateway.key,
      model: MODEL_OVER.messages,
      stream: false,
    });
    const said = { ...body, ...conversation('messages', 'PROOF'), system: 'never' };
    const { status, body: answer } = await gateway.send('POST', path, said, headers);
    expect([status, JSON.stringify(answer)]).toEqual([400, expect.stringContaining('Invalid `signature`')]);
    expect(gateway.vendor.seen.length - before).toBe(2);
    expect(second.last.text).not.toContain('never');
  });
});

/** The model has another name at the vendor. */
function modelOf(text: string): object {
  const { model } = JSON.parse(text) as { model?: string };
  return model === undefined ? {} : { model };
}
