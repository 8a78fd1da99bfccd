import { FakeTextVendor } from '../tests/harness/text-vendor/fake-text-vendor.js';
import { MODEL_OVER, startTextGateway, type Upstream } from '../tests/harness/text-vendor/text-gateway.js';
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
