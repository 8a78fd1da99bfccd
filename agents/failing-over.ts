import { FakeTextVendor } from '../apps/gateway/src/testing/text-vendor/fake-text-vendor.js';
import {
  MODEL_OVER,
  startTextGateway,
  type TextGateway,
  type Upstream,
} from '../apps/gateway/src/testing/text-vendor/text-gateway.js';
import type { AgentRun } from './run-cli.js';
import { LAST_WORDS, scriptedSession, type Step } from './scripted-session.js';

/** The turn in whose answer the first vendor is there for the last time. */
const LAST_TURN = 5;

const LIMIT_MS = 120_000;

/** Tests that a session goes on when its vendor fails in the middle and stays away: at another vendor, of another protocol. */
export function itFailsOver(
  upstream: Upstream,
  steps: readonly Step[],
  session: (gateway: TextGateway, prompt: string) => Promise<AgentRun & { readonly notes: string }>,
): void {
  it(
    'goes on at another vendor when its own fails in the middle',
    async () => {
      const second = await FakeTextVendor.start();
      const models = `models: { ${MODEL_OVER[upstream]}: vendor-messages }`;
      const more = `  - { id: second, protocol: messages, base_url: "${second.baseUrl}", key: "\${VENDOR_KEY}", priority: 1, ${models} }\n`;
      const gateway = await startTextGateway({}, { idleSeconds: 10, more });
      const script = scriptedSession(steps);
      gateway.vendor.script = leaving(gateway.vendor, script);
      second.script = script;
      second.isStrict = true;
      const { code, output, notes } = await session(gateway, 'Look at the notes and change them.');
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
