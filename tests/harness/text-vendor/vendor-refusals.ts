import type { Style } from './text-requests.js';

/** What vendors of every protocol mean by a refusal, in the words that each has for it. */
export interface RefusalWords {
  readonly openai: { readonly type: string; readonly code?: string };
  readonly anthropic: string;
  readonly google: string;
  readonly message: string;
  /** Seconds to wait that one protocol names in its body. */
  readonly waitSeconds?: number;
}

const TOO_LONG: Readonly<Record<Style, string>> = {
  responses: 'Your input exceeds the context window of this model.',
  chat: "This model's maximum context length is 8192 tokens.",
  messages: 'prompt is too long: 2 tokens > 1 maximum',
  gemini: 'The input token count (2) exceeds the maximum number of tokens allowed (1).',
};

const FIELD = 'The field is wrong.';
const request = (code?: string, message = FIELD): RefusalWords => ({
  openai: { type: 'invalid_request_error', ...(code && { code }) },
  anthropic: 'invalid_request_error',
  google: 'INVALID_ARGUMENT',
  message,
});
const words = (openai: string, anthropic: string, google: string, message = 'Not now.'): RefusalWords => ({
  openai: { type: openai },
  anthropic,
  google,
  message,
});

/** The words of each refusal, whatever its protocol. */
export const REFUSAL_WORDS = {
  invalid: request(),
  tooLong: request('context_length_exceeded'),
  prompt: request('invalid_prompt'),
  filtered: request('content_filter', 'Output blocked by content filtering policy'),
  key: words('authentication_error', 'authentication_error', 'UNAUTHENTICATED'),
  unpaid: words('billing_error', 'billing_error', 'FAILED_PRECONDITION', 'Insufficient Balance'),
  forbidden: words('permission_error', 'permission_error', 'PERMISSION_DENIED'),
  missing: words('not_found_error', 'not_found_error', 'NOT_FOUND', 'The file file_1 is not there.'),
  large: words('invalid_request_error', 'request_too_large', 'INVALID_ARGUMENT'),
  limited: {
    ...words('rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.'),
    waitSeconds: 0.03,
  },
  usedUp: {
    ...words('insufficient_quota', 'billing_error', 'RESOURCE_EXHAUSTED'),
    openai: { type: 'insufficient_quota', code: 'insufficient_quota' },
  },
  failed: words('server_error', 'api_error', 'INTERNAL'),
  overloaded: words('overloaded_error', 'overloaded_error', 'UNAVAILABLE'),
  late: words('timeout_error', 'timeout_error', 'DEADLINE_EXCEEDED'),
} as const satisfies Record<string, RefusalWords>;

export type RefusalName = keyof typeof REFUSAL_WORDS;

/** The body with which a vendor of the protocol refuses. */
export function refusalBody(protocol: Style, name: RefusalName, status: number): { readonly error: object } {
  const { openai, anthropic, google, message: said, waitSeconds }: RefusalWords = REFUSAL_WORDS[name];
  const message = name === 'tooLong' ? TOO_LONG[protocol] : said;
  if (protocol === 'gemini') {
    const delay = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${waitSeconds}s` };
    return { error: { code: status, status: google, message, details: waitSeconds === undefined ? [] : [delay] } };
  }
  const error = protocol === 'messages' ? { type: anthropic, message } : { ...openai, message, param: null };
  return { ...(protocol === 'messages' && { type: 'error' }), error };
}

/** The event with which it reports the same inside a stream. */
export function refusalEvent(protocol: Style, name: RefusalName, status: number): string {
  const body = refusalBody(protocol, name, status);
  if (protocol === 'gemini') return `data: ${JSON.stringify(body)}\r\n\r\n`;
  if (protocol === 'chat') return `data: ${JSON.stringify(body)}\n\n`;
  return `event: error\ndata: ${JSON.stringify({ type: 'error', ...body })}\n\n`;
}
