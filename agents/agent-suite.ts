import { startTextGateway, type TextGateway } from '../tests/harness/text-vendor/text-gateway.js';
import { type Agent, LIMIT_MS, session, type SetUp } from './agent.js';
import { itGoesOn, type Resumption } from './going-on.js';
import { type AgentPackage, describeWithCli } from './install-cli.js';
import { IMAGE_BASE64 } from './run-cli.js';
import { LAST_WORDS, RETURNED_BESIDE, scriptedSession, type Steps } from './scripted-session.js';

/** The client that a suite is about, with what the vendor calls of its tools. */
type OpenAgent = (steps: Steps, setUp: SetUp, image?: string) => Agent;

/** Describes a client over a gateway whose vendor keeps to its own rules, or says why it is skipped. */
export function describeAgent(agent: AgentPackage, tests: (open: OpenAgent) => void): void {
  describeWithCli(agent, (path) => {
    let gateway: TextGateway;
    beforeAll(async () => {
      gateway = await startTextGateway({}, { idleSeconds: 10 });
      gateway.vendor.isStrict = true;
    });
    afterAll(() => gateway.stop());
    tests((steps, setUp, image = IMAGE_BASE64) => ({ path, steps, setUp, image, gateway: () => gateway }));
  });
}

/** Tests sessions of ten turns over each protocol, and what may happen to a session besides. */
export function itLivesLong(agent: Agent, resumptions?: readonly Resumption[]): void {
  it.each(['responses', 'chat', 'messages', 'gemini'] as const)(
    'lives through ten turns with its defaults over a strict %s upstream',
    async (upstream) => {
      const { steps, image } = agent;
      const { vendor } = agent.gateway();
      vendor.script = scriptedSession(steps);
      const before = vendor.seen.length;
      const { code, output, notes } = await session(agent, upstream, 'Look at the notes and change them.');
      expect([code, output]).toEqual([0, expect.stringContaining(LAST_WORDS)]);
      // Those without tools are for a title.
      const asked = vendor.seen.slice(before).filter(({ body }) => body['tools']);
      expect([notes, asked.length]).toEqual(['changed\n', steps.length + 1]);
      expect(asked.some(({ text }) => text.includes(image))).toBe(true);
      expect(asked.some(({ text }) => RETURNED_BESIDE.test(text))).toBe(true);
    },
    LIMIT_MS,
  );
  itGoesOn(agent, resumptions);
}

/** Tests a session of one turn over the sandbox, and what of it the client shows. */
export function itEndsOverSandbox(agent: Agent, prompt: string, shown: RegExp): void {
  it(
    'ends over the sandbox',
    async () => {
      const { code, output } = await session(agent, 'sandbox', prompt);
      expect([code, output]).toEqual([0, expect.stringMatching(shown)]);
    },
    LIMIT_MS,
  );
}
