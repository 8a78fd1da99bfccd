import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWithRedis, eventually, FaultProxy, uniqueRedisPrefix } from '#testing';
import type { JsonObject } from '#contracts';
import { FakeTextVendor } from '../harness/text-vendor/fake-text-vendor.js';
import { Conversation, provingAs, REFUSAL } from '../harness/text-vendor/proving-conversation.js';
import { MODEL_OVER } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES } from '../harness/text-vendor/text-requests.js';
import {
  createGatewayPlace,
  type GatewayPlace,
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from '../harness/test-gateway.js';

const MODEL = MODEL_OVER.chat;

/** What makes a model of each style tell its reasoning. */
const THINKING: Readonly<Partial<Record<Style, JsonObject>>> = {
  messages: { thinking: { type: 'enabled', budget_tokens: 1_024 } },
  responses: { include: ['reasoning.encrypted_content'], reasoning: { effort: 'high' } },
};

describeWithRedis('Conversations of two API processes over two vendor accounts', (redisUrl) => {
  let place: GatewayPlace;
  let folder: string;
  let proxy: FaultProxy;
  let vendors: FakeTextVendor[];
  let gateways: TestGateway[];

  beforeAll(async () => {
    place = await createGatewayPlace();
    proxy = await FaultProxy.start(redisUrl);
    vendors = [await FakeTextVendor.start(), await FakeTextVendor.start()];
    folder = await mkdtemp(join(tmpdir(), 'conversations-'));
    const entries = vendors.flatMap(({ baseUrl }, index) =>
      STYLES.map(
        (protocol) =>
          `  - { id: v${index}-${protocol}, protocol: ${protocol}, base_url: "${baseUrl}", models: { ${MODEL_OVER[protocol]}: m }, priority: ${index} }\n`,
      ),
    );
    const file = join(folder, 'upstreams.yaml');
    await writeFile(file, `upstreams:\n${entries.join('')}`);
    const environment = { UPSTREAMS_FILE: file, TEXT_RETRY_SECONDS: '0', QUEUE_PREFIX: uniqueRedisPrefix() };
    const options = { place, workers: false, redisUrl: proxy.urlOf(redisUrl), environment };
    gateways = [await startTestGateway(options), await startTestGateway(options)];
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
    for (const vendor of vendors) await vendor.stop();
    await proxy.close();
    await place.remove();
    await rm(folder, { recursive: true, force: true });
  });

  /** Which vendor answers a turn at one of the processes. */
  async function ask(process: number, session: string, text = 'Hello'): Promise<number> {
    const before = vendors.map(({ seen }) => seen.length);
    const body = { model: MODEL, messages: [{ role: 'user', content: text }] };
    // The end of the test run looks for this name in all log lines.
    const headers = { authorization: `Bearer ${TEST_KEY}`, 'x-session-id': `nobody-sees-this-session ${session}` };
    const answer = await gateways[process]!.send('POST', '/v1/chat/completions', body, headers);
    expect(answer.status).toBe(200);
    const asked = vendors.map(({ seen }, index) => seen.length - before[index]!);
    return asked.lastIndexOf(1);
  }

  /** Moves a conversation to the second vendor, at the first process. */
  async function move(session: string): Promise<void> {
    vendors[0]!.spoiled.set(`away ${session}`, { status: 503, body: {} });
    expect(await ask(0, session, `away ${session}`)).toBe(1);
  }

  it('that moved at one are where they moved to at the other', async () => {
    let moves = 0;
    // Either process may still connect to Redis, or wait too briefly for it on a busy machine.
    const session = await eventually(async () => {
      const moved = `s${(moves += 1)}`;
      await move(moved);
      if ((await ask(1, moved)) === 1) return moved;
      // Three failures without a reply between them would close the first vendor.
      await ask(0, `well ${moves}`);
      return undefined;
    });
    expect(await ask(0, session)).toBe(1);
    expect(await ask(1, 'other')).toBe(0);
  });

  it('go on without Redis, without a wait, as each process knows them', async () => {
    await move('t');
    for (const fault of ['black-hole', 'refuse'] as const) {
      proxy.set(fault);
      expect([await ask(0, 't'), await ask(1, 't')]).toEqual([1, 0]);
      const began = performance.now();
      for (let turn = 0; turn < 10; turn += 1) await ask(turn % 2, 't');
      // Ten waits for a command of Redis that has no end of its own would be twenty seconds.
      expect(performance.now() - began).toBeLessThan(10_000);
    }
    proxy.set('pass');
  });

  it.each(['black-hole', 'refuse'] as const)(
    'do not end by the proofs of the account that the other process went to, without Redis: %s',
    async (fault) => {
      for (const [index, name] of ['A', 'B'].entries()) {
        const vendor = vendors[index]!;
        vendor.rewrite = provingAs(name);
        vendor.script = ({ text }) => ({ reasoning: 'deep', text: `heard ${text}`, call: undefined });
        vendor.spoiled.set(`PROOF_OF_${name === 'A' ? 'B' : 'A'}`, REFUSAL);
      }
      proxy.set(fault);
      const [first, other] = [gateways[0]!, gateways[1]!];
      for (const style of STYLES)
        for (const over of STYLES) {
          const session = { 'x-session-id': `nobody-sees-this-session ${fault} ${style} ${over}` };
          const conversation = new Conversation(first, style, session, THINKING[style] ?? {}, MODEL_OVER[over]);
          await conversation.say('one');
          await conversation.say('two', other);
          vendors[0]!.spoiled.set('three', { status: 503, body: {} });
          await conversation.say('three');
          vendors[0]!.spoiled.delete('three');
          // From here on each process knows another account of it, and every turn has proofs of both.
          for (const text of ['four', 'six']) {
            const before = vendors.map(({ seen }) => seen.length);
            await conversation.say(text, other);
            await conversation.say(`${text} and one`);
            const asked = vendors.map(({ seen }, index) => seen.length - before[index]!);
            expect([style, over, asked]).not.toEqual([style, over, [2, 0]]);
            expect(asked[0]! + asked[1]!).toBeLessThanOrEqual(4);
          }
        }
      proxy.set('pass');
    },
  );
});
