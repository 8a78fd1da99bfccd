import { type Agent, LIMIT_MS, session } from './agent.js';

/** What the vendor had said when its output limit was reached. */
const CUT_WORDS = 'Half of a sentence that';

/**
 * Tests that a reply cut off by the output limit is reported as such, and that the client ends as it does at its own vendor.
 *
 * @param shown what the client shows of it; where it says no more, the words until then.
 */
export function itIsCutOff(agent: Agent, shown = new RegExp(CUT_WORDS)): void {
  it(
    'ends when the output limit cuts off a reply, as it does at its own vendor',
    async () => {
      const { vendor } = agent.gateway();
      vendor.script = ({ toolNames }) =>
        toolNames.includes(agent.steps[0].tool)
          ? { reasoning: undefined, text: CUT_WORDS, call: undefined, isCut: true }
          : undefined;
      const ended = await session(agent, 'messages', 'Look at the notes.');
      expect(ended.output).toMatch(shown);
      expect(ended.code).not.toBeNull();
    },
    LIMIT_MS,
  );
}
