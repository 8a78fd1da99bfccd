import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** What no line of a log may hold: the secrets and prompts that the spec files use, and the forms of ours. */
const FORBIDDEN: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['an API key', /\bsk-[\w-]{12,}/],
  ['a webhook secret', /\bwhsec_[\w+/=-]{8,}/],
  ['an admin token', /\badmin-[\w-]{24,}|an-admin-token-for-tests/],
  ['the pepper', /a-pepper-for-(tests|benchmarks)/],
  ['a password in an address', /\b(?:postgres(?:ql)?|rediss?|https?):\/\/[^\s"/@]*:[^\s"/@]+@/],
  ['a link that signs in', /#(?:code|invitation)=[\w-]{20}|"code":"[\w-]{43}"/],
  ['a signed link', /[?&](?:X-Amz-Signature|signature|sig|token)=(?!\[redacted\])[^\s"&]{8,}/i],
  ['a prompt', /lighthouse|Say hello\.|waves against|\[sandbox:(?:fail|delay|flaky|hang)/],
  ['the name of a session', /nobody-sees-this-session/],
  ['an inline file', /data:(?:image|video|audio)\/[\w.+-]+;base64,/],
];

/** A line that must not have been written. */
export interface ForbiddenLine {
  readonly what: string;
  readonly line: string;
}

/** The first lines of a log, at most twenty, that hold what no log may hold. */
export async function searchLogs(file: string): Promise<ForbiddenLine[]> {
  if (!existsSync(file)) return [];
  const found: ForbiddenLine[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const [what] = FORBIDDEN.find(([, pattern]) => pattern.test(line)) ?? [];
    if (what !== undefined) found.push({ what, line: line.slice(0, 600) });
    if (found.length === 20) break;
  }
  return found;
}
