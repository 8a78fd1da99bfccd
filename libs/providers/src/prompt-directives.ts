/**
 * What a prompt can ask of the sandbox, like the test cards of a payment service. Words may stand anywhere in the prompt; of
 * a word given twice the first counts. Unknown words and values that are not listed here are ordinary text.
 *
 * | In the prompt | What happens |
 * |---|---|
 * | `[sandbox:delay=5000]` | The work takes this long, in milliseconds, up to 3600000 (an hour). |
 * | `[sandbox:fail=content_policy]` | Ends as refused for its content. |
 * | `[sandbox:fail=upstream_error]` | Ends as failed at the vendor. |
 * | `[sandbox:flaky=2]` | The first two tries to start fail for a moment, the third works; up to 99. |
 * | `[sandbox:partial=2]` | Only the first two outputs succeed, however many were ordered; up to 99. 0 fails all. |
 * | `[sandbox:hang]` | Never finishes. |
 */
export interface PromptDirectives {
  readonly delayMs?: number;
  readonly failure?: SandboxFailure;
  /** How many tries to start fail before one works. */
  readonly flakyStarts: number;
  /** How many outputs succeed at most. */
  readonly deliverAtMost?: number;
  readonly hang: boolean;
}

/** Failures that a prompt can order, with the reason that clients see. */
export const SANDBOX_FAILURES = {
  content_policy: 'The sandbox refused the content, as [sandbox:fail=content_policy] asks.',
  upstream_error: 'The sandbox failed, as the prompt asks.',
} as const;
export type SandboxFailure = keyof typeof SANDBOX_FAILURES;

const MAX_DELAY_MS = 3_600_000;
const MAX_COUNT = 99;
const WORD = /\[sandbox:(delay|fail|flaky|partial|hang)(?:=([a-z0-9_]{1,32}))?\]/g;

export function readPromptDirectives(prompt: string): PromptDirectives {
  const words = new Map<string, string>();
  for (const [, word = '', value = ''] of prompt.matchAll(WORD)) {
    if (!words.has(word)) words.set(word, value);
  }
  const delayMs = wholeNumber(words.get('delay'), MAX_DELAY_MS);
  const failure = words.get('fail');
  const deliverAtMost = wholeNumber(words.get('partial'), MAX_COUNT);
  return {
    ...(delayMs !== undefined && { delayMs }),
    ...(isSandboxFailure(failure) && { failure }),
    flakyStarts: wholeNumber(words.get('flaky'), MAX_COUNT) ?? 0,
    ...(deliverAtMost !== undefined && { deliverAtMost }),
    hang: words.get('hang') === '',
  };
}

function isSandboxFailure(value: string | undefined): value is SandboxFailure {
  return value !== undefined && Object.hasOwn(SANDBOX_FAILURES, value);
}

function wholeNumber(text: string | undefined, max: number): number | undefined {
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const number = Number(text);
  return number <= max ? number : undefined;
}
