import type { JsonObject } from '#contracts';
import { FakeTextVendor } from '../harness/text-vendor/fake-text-vendor.js';
import { Conversation, proofsWritten, provingAs, REFUSAL } from '../harness/text-vendor/proving-conversation.js';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

let sessions = 0;
/** The end of the test run looks for this name in all log lines. */
const session = (): Record<string, string> => ({ 'x-session-id': `nobody-sees-this-session ${(sessions += 1)}` });

describe('A conversation of a model with two vendor accounts', () => {
  let gateway: TextGateway;
  let second: FakeTextVendor;
  beforeAll(async () => {
    second = await FakeTextVendor.start();
    const more = STYLES.map(
      (protocol) =>
        `  - { id: second-${protocol}, protocol: ${protocol}, base_url: "${second.baseUrl}", models: { ${MODEL_OVER[protocol]}: m }, priority: 1 }\n`,
    );
    gateway = await startTextGateway({}, { more: more.join('') });
    for (const [vendor, name] of [
      [gateway.vendor, 'A'],
      [second, 'B'],
    ] as const) {
      vendor.rewrite = provingAs(name);
      vendor.script = ({ text }) => ({ reasoning: 'deep', text: `heard ${text}`, call: undefined });
    }
  });
  afterEach(() => {
    gateway.vendor.spoiled.clear();
    second.spoiled.clear();
    gateway.vendor.headers = {};
  });
  afterAll(async () => {
    await gateway.stop();
    await second.stop();
  });

  const proofsAt = (vendor: FakeTextVendor): string[] => [...vendor.last.text.matchAll(/PROOF_OF_[AB]/g)].map(String);

  it.each(STYLES)(
    'goes on without the proofs of the first account and with those of the second, in the %s style',
    async (style) => {
      const conversation = new Conversation(gateway, style, session());
      // Each account refuses the proofs of the other.
      second.spoiled.set('PROOF_OF_A', REFUSAL);
      gateway.vendor.spoiled.set('PROOF_OF_B', REFUSAL);
      await conversation.say('one');
      await conversation.say('two');
      expect(proofsAt(gateway.vendor)).toEqual(['PROOF_OF_A']);
      gateway.vendor.spoiled.set('three', { status: 503, body: {} });
      const before = second.seen.length;
      for (const [place, text] of ['three', 'four', 'five'].entries()) {
        const headers = await conversation.say(text);
        expect(headers.get('x-gateway-proofs')).toBeNull();
        expect(proofsAt(second)).toEqual(Array.from({ length: place }, () => 'PROOF_OF_B'));
        for (const word of ['one', 'heard one', 'heard two', text]) expect(second.last.text).toContain(word);
      }
      expect(second.seen.length - before).toBe(3);
    },
  );

  it.each(STYLES)(
    'is asked once more where nobody knows that it moved, and not again later, in the %s style',
    async (style) => {
      const conversation = new Conversation(gateway, style, session());
      await conversation.say('one');
      second.spoiled.set('PROOF_OF_A', REFUSAL);
      gateway.vendor.spoiled.set('two', { status: 503, body: {} });
      const lost = new Conversation(gateway, style, session());
      lost.history.push(...conversation.history);
      const before = second.seen.length;
      expect((await lost.say('two')).get('x-gateway-proofs')).toBe('dropped');
      expect(second.seen.length - before).toBe(2);
      expect((await lost.say('three')).get('x-gateway-proofs')).toBeNull();
      expect(second.seen.length - before).toBe(3);
      expect(proofsAt(second)).toEqual(['PROOF_OF_B']);
    },
  );

  it.each([
    ['responses', { message: 'The content gAAAA could not be verified.', code: 'invalid_encrypted_content' }],
    ['responses', { message: 'The encrypted content gAAAA could not be verified.', code: null }],
    ['responses', { message: 'This item was made by a different resource: its encrypted content is unknown here.' }],
    [
      'responses',
      { message: "Item 'rs_1' of type 'function_call' was provided without its required 'reasoning' item." },
    ],
    ['chat', { message: 'The content could not be verified.', code: 'invalid_encrypted_content' }],
    ['messages', { message: 'messages.1.content.0: Invalid `signature` in `thinking` block' }],
    ['gemini', { message: 'Invalid thought signature.', status: 'INVALID_ARGUMENT' }],
    ['gemini', { message: 'Corrupted thought signature.', status: 'INVALID_ARGUMENT' }],
  ] as const)('is asked once more in whatever words its vendor refuses: %s, %j', async (style, said) => {
    const conversation = new Conversation(gateway, style, session());
    await conversation.say('one');
    const refusal = { status: 400, body: { error: { type: 'invalid_request_error', ...said } } };
    gateway.vendor.spoiled.set(`PROOF_OF_A${proofsWritten()}"`, refusal);
    const before = gateway.vendor.seen.length;
    expect((await conversation.say('two')).get('x-gateway-proofs')).toBe('dropped');
    expect(gateway.vendor.seen.length - before).toBe(2);
    expect((await conversation.say('three')).get('x-gateway-proofs')).toBeNull();
    expect([gateway.vendor.seen.length - before, proofsAt(gateway.vendor)]).toEqual([3, ['PROOF_OF_A']]);
  });

  it('is refused once where the vendor refuses it without proofs as well, and its upstream stays healthy', async () => {
    const conversation = new Conversation(gateway, 'messages', session());
    await conversation.say('one');
    gateway.vendor.spoiled.set('never', REFUSAL);
    const before = [gateway.vendor.seen.length, second.seen.length];
    for (let turn = 0; turn < 4; turn += 1)
      await expect(new Conversation(gateway, 'messages', session()).say('never')).rejects.toThrow('400');
    expect([gateway.vendor.seen.length, second.seen.length]).toEqual([before[0]! + 4, before[1]]);
    await conversation.say('two');
    expect(gateway.vendor.last.text).toContain('two');
  });

  describe('whose vendor binds thinking to what comes before it', () => {
    const OTHER = {
      status: 400,
      body: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'messages.1.content.0: This `thinking` block is bound to a different conversation.',
        },
      },
    };
    const ADAPTIVE = { thinking: { type: 'adaptive' } };

    it('lets it drop what does not fit, by its own beta, at once in later turns', async () => {
      const conversation = new Conversation(gateway, 'messages', session(), ADAPTIVE);
      await conversation.say('one');
      // It takes leave to drop, and nothing else.
      gateway.vendor.spoiled.set('"thinking":{"type":"adaptive"}', OTHER);
      const before = gateway.vendor.seen.length;
      expect((await conversation.say('two')).get('x-gateway-proofs')).toBe('dropped');
      expect((await conversation.say('three')).get('x-gateway-proofs')).toBeNull();
      expect(gateway.vendor.seen.length - before).toBe(3);
      expect(gateway.vendor.last.body['thinking']).toEqual({
        type: 'adaptive',
        block_binding: { prefix_mismatch_behavior: 'drop_block' },
      });
      expect(gateway.vendor.last.headers['anthropic-beta']).toBe('thinking-binding-controls-2026-08-01');
      expect(proofsAt(gateway.vendor)).toHaveLength(2);
    });

    it('leaves the thinking out where none is asked for', async () => {
      const conversation = new Conversation(gateway, 'messages', session());
      await conversation.say('one');
      gateway.vendor.spoiled.set('PROOF_OF_A', OTHER);
      expect((await conversation.say('two')).get('x-gateway-proofs')).toBe('dropped');
      expect(gateway.vendor.last.text).not.toContain('block_binding');
    });

    it('hears the refusal where the caller wants it', async () => {
      const thinking = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'error' } };
      const conversation = new Conversation(gateway, 'messages', session(), { thinking });
      await conversation.say('one');
      gateway.vendor.spoiled.set('PROOF_OF_A', OTHER);
      const before = gateway.vendor.seen.length;
      await expect(conversation.say('two')).rejects.toThrow('400');
      expect(gateway.vendor.seen.length - before).toBe(1);
    });
  });

  it('keeps to the account that alone can read it, with 503 and a time while that is away', async () => {
    const headers = { authorization: `Bearer ${gateway.key}`, ...session() };
    const conversation = new Conversation(gateway, 'responses', headers);
    await conversation.say('one');
    const sealed = { type: 'compaction', id: 'cmp_1', encrypted_content: 'OF_THE_VENDOR' };
    const ask = (input: JsonObject[]) =>
      gateway.send('POST', '/v1/responses', { model: MODEL_OVER.responses, store: false, input }, headers);
    const input = [sealed, { role: 'user', content: 'after it' }];
    const before = second.seen.length;
    gateway.vendor.spoiled.set('after it', { status: 503, body: {} });
    const away = await ask(input);
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    expect(second.seen.length).toBe(before);
    gateway.vendor.spoiled.clear();
    expect((await ask(input)).status).toBe(200);
    // What the gateway shortened itself any upstream can read.
    gateway.vendor.spoiled.set('after ours', { status: 503, body: {} });
    const own = { ...sealed, encrypted_content: `gateway:${Buffer.from('in short').toString('base64url')}` };
    expect((await ask([own, { role: 'user', content: 'after ours' }])).status).toBe(200);
    expect(second.last.text).toContain('in short');
  });

  it('finds the account that alone can read it where nobody knows any more which that is, and stays there', async () => {
    const headers = { authorization: `Bearer ${gateway.key}`, ...session() };
    const sealed = { type: 'compaction', id: 'cmp_1', encrypted_content: 'OF_THE_SECOND' };
    const error = { message: 'The content could not be verified.', code: 'invalid_encrypted_content' };
    gateway.vendor.spoiled.set('OF_THE_SECOND', { status: 400, body: { error } });
    const before = [gateway.vendor.seen.length, second.seen.length];
    const statuses: number[] = [];
    for (const content of ['one', 'two']) {
      const input = [sealed, { role: 'user', content }];
      const body = { model: MODEL_OVER.responses, store: false, input };
      statuses.push((await gateway.send('POST', '/v1/responses', body, headers)).status);
    }
    expect([statuses, second.last.text.includes('OF_THE_SECOND')]).toEqual([[200, 200], true]);
    expect([gateway.vendor.seen.length, second.seen.length]).toEqual([before[0]! + 1, before[1]! + 2]);
    second.spoiled.set('OF_THE_SECOND', { status: 400, body: { error } });
    const lost = { model: MODEL_OVER.responses, store: false, input: [sealed, { role: 'user', content: 'three' }] };
    const refused = await gateway.send('POST', '/v1/responses', lost, { ...headers, ...session() });
    expect([refused.status, refused.body['error']]).toEqual([400, expect.objectContaining({ code: error.code })]);
  });

  it.each(['responses', 'chat'] as const)(
    'brings its headers to a vendor of the %s style, and its state back',
    async (style) => {
      const sent = {
        'session-id': `s ${(sessions += 1)}`,
        'x-codex-turn-state': 'state',
        cookie: 'c=1',
        'x-other': 'o',
      };
      gateway.vendor.headers = { 'x-codex-turn-state': 'next', 'x-vendor': 'v' };
      const headers = await new Conversation(gateway, style, sent).say('one');
      expect([headers.get('x-codex-turn-state'), headers.get('x-vendor')]).toEqual(['next', null]);
      expect(gateway.vendor.last.headers).toMatchObject({
        'session-id': sent['session-id'],
        'x-codex-turn-state': 'state',
      });
      for (const name of ['cookie', 'x-other']) expect(gateway.vendor.last.headers[name]).toBeUndefined();
      // In another style they mean nothing.
      const {
        path,
        headers: own,
        body,
      } = textRequest('messages', { key: gateway.key, model: MODEL_OVER[style], stream: false });
      await gateway.send('POST', path, body, { ...own, ...sent });
      expect(gateway.vendor.last.headers['session-id']).toBeUndefined();
    },
  );
});
