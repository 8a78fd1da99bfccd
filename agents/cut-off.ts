import type { TextGateway } from '../apps/gateway/src/testing/text-vendor/text-gateway.js';
import type { AgentRun } from './run-cli.js';
import type { Step } from './scripted-session.js';

const LIMIT_MS = 120_000;

/** What the vendor had said when its output limit was reached. */
const CUT_WORDS = 'Half of a sentence that';

/** What a client shows that says no more of it. */
export const CUT_OFF = new RegExp(CUT_WORDS);

/** Tests that a reply which the output limit cut off is told as one, and that the client ends as it does at its own vendor. */
export function itIsCutOff(
  gateway: () => TextGateway,
  [{ tool }]: readonly [Step, ...Step[]],
  told: RegExp,
  session: () => Promise<AgentRun>,
): void {
  it(
    'ends when the output limit cuts off a reply, as it does at its own vendor',
    async () => {
      const { vendor } = gateway();
      vendor.script = ({ toolNames }) =>
        toolNames.includes(tool) ? { reasoning: undefined, text: CUT_WORDS, call: undefined, isCut: true } : undefined;
      const ended = await session();
      expect(ended.output).toMatch(told);
      expect(ended.code).not.toBeNull();
    },
    LIMIT_MS,
  );
}
