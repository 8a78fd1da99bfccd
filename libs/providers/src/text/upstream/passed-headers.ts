import { ArrayMaxSize, IsArray, IsOptional, Matches } from 'class-validator';
import { type TextProtocol, type UpstreamPolicy } from '#contracts';
import { permittedBetas } from './permitted.js';

const CONVERSATION = [
  'session-id',
  'session_id',
  'thread-id',
  'x-client-request-id',
  'x-session-id',
  'x-session-affinity',
  'x-opencode-session',
  'x-codex-turn-state',
];

/** Headers of callers that an upstream of their style is sent: vendors find by them what their caches and machines know already. */
const PASSED: Readonly<Record<TextProtocol, readonly string[]>> = {
  responses: CONVERSATION,
  chat: CONVERSATION,
  messages: [
    'x-claude-code-session-id',
    'x-claude-code-agent-id',
    'x-claude-code-parent-agent-id',
    'anthropic-workspace-id',
  ],
  gemini: [],
  sandbox: [],
};

const BETA = 'anthropic-beta';
/** What requests of the style mean nothing without. */
const NEEDED: Readonly<Partial<Record<TextProtocol, readonly string[]>>> = { messages: ['anthropic-version', BETA] };

/** Headers of an upstream's reply that go back to a caller of its style: with it the vendor finds the same machine again. */
const RETURNED: Readonly<Partial<Record<TextProtocol, string>>> = {
  responses: 'x-codex-turn-state',
  chat: 'x-codex-turn-state',
};

const LONGEST_VALUE = 512;
const IS_PRINTABLE = /^[\x20-\x7e]+$/;
const MOST = 32;

/** Names of what proves who the caller is to the gateway, of what the gateway says itself, and of what belongs to a connection. */
const REFUSED =
  '(?!(?:.*[-_])?(?:authorization|auth|api-?key|key|token|secret|password|cookie2?)(?:[-_]|$))' +
  '(?!(?:content|proxy|x-forwarded|x-real|cf|sec|accept)-)' +
  '(?!(?:host|forwarded|via|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|accept|range|set-cookie)$)';

/** The names of `pass_headers`. */
export const IsPassedHeaders = (): PropertyDecorator => (target, property) => {
  IsOptional()(target, property);
  IsArray()(target, property);
  ArrayMaxSize(MOST)(target, property);
  Matches(new RegExp(`^${REFUSED}[a-z0-9][a-z0-9_-]{0,63}$`), {
    each: true,
    message: `$property must be a list of at most ${MOST} header names in small letters, without those of credentials, cookies, content, addresses and connections`,
  })(target, property);
};

/** The caller's headers that an upstream of their style is sent. */
export class PassedHeaders {
  private readonly names: readonly string[];
  private readonly returnedName: string | undefined;

  /** @param own `pass_headers` of the upstream, in place of what is passed by default. */
  constructor(protocol: TextProtocol, own?: readonly string[]) {
    this.names = [...(NEEDED[protocol] ?? []), ...(own ?? PASSED[protocol])];
    const returned = RETURNED[protocol];
    this.returnedName = returned !== undefined && this.names.includes(returned) ? returned : undefined;
  }

  of(
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
    policy: UpstreamPolicy,
  ): Record<string, string> {
    const passed: Record<string, string> = {};
    for (const name of this.names) {
      const value = headers[name];
      if (typeof value !== 'string') continue;
      if (name === BETA) {
        const betas = permittedBetas(value, policy);
        if (betas !== '') passed[name] = betas;
      } else if (value.length <= LONGEST_VALUE && IS_PRINTABLE.test(value)) passed[name] = value;
    }
    return passed;
  }

  /** The headers of a reply that its caller gets; undefined where there are none. */
  returned(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> | undefined {
    const name = this.returnedName;
    const value = name === undefined ? undefined : headers[name];
    const isReturned = typeof value === 'string' && value.length <= LONGEST_VALUE && IS_PRINTABLE.test(value);
    return name !== undefined && isReturned ? { [name]: value } : undefined;
  }
}
