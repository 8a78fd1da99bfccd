import type { VendorRequest, VendorWords } from '../tests/harness/text-vendor/vendor-script.js';

/** One call that the vendor makes of the agent's tools. */
export interface Step {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Called at once with it. */
  readonly beside?: Step;
}

export type Steps = readonly [Step, ...Step[]];

/** What the vendor says when all steps are done. */
export const LAST_WORDS = 'The session is over.';

/** A word that a command says which is run at once with another, and a request with its call and what it returned. */
export const BESIDE = 'zu-zweit';
export const RETURNED_BESIDE = /zu-zweit.*zu-zweit/s;

/** Text that is none: a NUL, a stray byte, and the half of a character. */
export const BINARY_OUTPUT = String.raw`printf 'bin\0ary \377 \360\237'`;

/** Words in front of a command that are longer than a reply of 4096 tokens may be. */
export const LONG_WORDS = `: ${'x'.repeat(40_000)}`;

/**
 * A vendor that calls the tools of an agent one after the other, thinking before each, whatever it is asked. Requests
 * without those tools, as for a title, get the usual words.
 */
export function scriptedSession(steps: readonly Step[]): (request: VendorRequest) => VendorWords | undefined {
  let done = 0;
  return ({ toolNames, thinks }) => {
    const isAgent = steps.some(({ tool }) => toolNames.includes(tool));
    if (!isAgent) return undefined;
    const step = steps[done];
    done += 1;
    const reasoning = thinks ? `Thought ${done}.` : undefined;
    const { beside } = step ?? {};
    const alsoCalled = beside && { id: `call_w${done}`, name: beside.tool, args: beside.args };
    return step
      ? { reasoning, text: '', call: { id: `call_v${done}`, name: step.tool, args: step.args }, alsoCalled }
      : { reasoning, text: LAST_WORDS, call: undefined };
  };
}
