import { billCached } from '../tests/harness/text-vendor/caching-vendor.js';
import { FakeTextVendor } from '../tests/harness/text-vendor/fake-text-vendor.js';
import {
  MODEL_OVER,
  startTextGateway,
  type TextGateway,
  type Upstream,
} from '../tests/harness/text-vendor/text-gateway.js';
import { type Agent, LIMIT_MS, session } from './agent.js';
import { LAST_WORDS, scriptedSession } from './scripted-session.js';

/** The turn in whose answer the first vendor is there for the last time. */
const LAST_TURN = 5;

type Protocol = Exclude<Upstream, 'sandbox'>;

/** The protocol of the vendor that fails, and of the one that takes over. */
export type Failover = readonly [Protocol, Protocol];

/** From each protocol to another, each of them once on either side. */
const EVERY_FAILOVER: readonly Failover[] = [
  ['responses', 'messages'],
  ['messages', 'gemini'],
  ['gemini', 'chat'],
  ['chat', 'responses'],
];

/** Tests that a session continues when its vendor fails in the middle and stays away: at another vendor, of another protocol. */
export function itFailsOver(agent: Agent, failovers = EVERY_FAILOVER): void {
  it.each(failovers)(
    'goes on at another vendor when its own fails in the middle: from %s to %s',
    async (upstream, protocol) => {
      const second = await FakeTextVendor.start();
      const models = `models: { ${MODEL_OVER[upstream]}: vendor-second }`;
      const more = `  - { id: second, protocol: ${protocol}, base_url: "${second.baseUrl}", key: "\${VENDOR_KEY}", priority: 1, ${models} }\n`;
      const gateway = await startTextGateway({}, { idleSeconds: 10, more });
      const script = scriptedSession(agent.steps);
      gateway.vendor.script = leaving(gateway.vendor, script);
      second.script = script;
      second.isStrict = true;
      const { code, output, notes } = await session(agent, upstream, 'Look at the notes and change them.', gateway);
      const answered = second.seen.length;
      await gateway.stop();
      await second.stop();
      expect([code, output]).toEqual([0, expect.stringContaining(LAST_WORDS)]);
      expect([notes, answered > 1]).toEqual(['changed\n', true]);
    },
    LIMIT_MS,
  );
}

/** The part of its input that a session of so many turns has from the cache at least, although one of two accounts dies. */
const CACHED_LEAST = 0.8;

/** Tests that a session stays at one of two accounts of a vendor until that one dies, and then at the other, its input in the cache. */
export function itStays(agent: Agent, protocol: Protocol): void {
  it(
    `stays at one of two ${protocol} accounts until it dies, with its input in the cache`,
    async () => {
      const second = await FakeTextVendor.start();
      const models = `models: { ${MODEL_OVER[protocol]}: vendor-second }`;
      const more = `  - { id: second, protocol: ${protocol}, base_url: "${second.baseUrl}", key: "\${VENDOR_KEY}", ${models} }\n`;
      const gateway = await startTextGateway({}, { idleSeconds: 10, more });
      const script = scriptedSession([...agent.steps, ...agent.steps.slice(-2)]);
      const answeredBy: FakeTextVendor[] = [];
      for (const vendor of [gateway.vendor, second]) {
        vendor.isStrict = true;
        billCached(vendor);
        vendor.script = (request) => {
          const words = script(request);
          if (words) answeredBy.push(vendor);
          if (words && answeredBy.length === LAST_TURN) vendor.fault = 'error-500';
          return words;
        };
      }
      const { code, output, notes } = await session(agent, protocol, 'Look at the notes and change them.', gateway);
      const share = await cachedShare(gateway);
      await gateway.stop();
      await second.stop();
      expect([code, output]).toEqual([0, expect.stringContaining(LAST_WORDS)]);
      const [first] = answeredBy;
      expect(answeredBy.map((vendor, turn) => (vendor === first) === turn < LAST_TURN)).not.toContain(false);
      expect([notes, answeredBy.length]).toEqual(['changed\n', agent.steps.length + 3]);
      expect(share).toBeGreaterThan(CACHED_LEAST);
    },
    LIMIT_MS,
  );
}

/** The share of all input tokens that was billed as cached. */
async function cachedShare(gateway: TextGateway): Promise<number> {
  await gateway.settled();
  const { rows } = await gateway.database.query<{ share: number }>({
    text: `select sum(cached_input_tokens)::float8 / sum(input_tokens)::float8 as share from usage_record where status = 'completed'`,
    values: [],
  });
  return rows[0]?.share ?? 0;
}

/** What a vendor says until it fails. */
function leaving(vendor: FakeTextVendor, script: FakeTextVendor['script']): FakeTextVendor['script'] {
  let turns = 0;
  return (request) => {
    const words = script(request);
    if (words) turns += 1;
    if (turns === LAST_TURN) vendor.fault = 'error-500';
    return words;
  };
}
