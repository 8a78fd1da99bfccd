import Anthropic from '@anthropic-ai/sdk';
import { ApiError } from '@google/genai';
import OpenAI from 'openai';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { type LibraryClient, TEXT_LIBRARIES } from '../harness/text-vendor/text-libraries.js';
import { STYLES, type Style } from '../harness/text-vendor/text-requests.js';
import { refusalBody, refusalEvent, type RefusalName } from '../harness/text-vendor/vendor-refusals.js';

type ErrorClass = abstract new (...parts: never[]) => Error;

/** What a caller's library makes of a refusal: its status and whether a repeat may help, then class and word of each library. */
interface Met {
  readonly status: number;
  readonly repeats: boolean;
  readonly openai: readonly [ErrorClass, code: string];
  readonly anthropic: readonly [ErrorClass, type: string, status?: number];
  readonly google: string;
}

const refused = (code: string): Met => ({
  status: 400,
  repeats: false,
  openai: [OpenAI.BadRequestError, code],
  anthropic: [Anthropic.BadRequestError, 'invalid_request_error'],
  google: 'INVALID_ARGUMENT',
});

const MET = {
  invalid: refused('invalid_parameter'),
  tooLong: refused('context_length_exceeded'),
  prompt: refused('invalid_prompt'),
  filtered: refused('content_filter'),
  forbidden: {
    status: 403,
    repeats: false,
    openai: [OpenAI.PermissionDeniedError, 'permission_denied'],
    anthropic: [Anthropic.PermissionDeniedError, 'permission_error'],
    google: 'PERMISSION_DENIED',
  },
  missing: {
    status: 404,
    repeats: false,
    openai: [OpenAI.NotFoundError, 'not_found'],
    anthropic: [Anthropic.NotFoundError, 'not_found_error'],
    google: 'NOT_FOUND',
  },
  large: {
    status: 413,
    repeats: false,
    openai: [OpenAI.APIError, 'request_too_large'],
    anthropic: [Anthropic.ContentTooLargeError, 'request_too_large'],
    google: 'INVALID_ARGUMENT',
  },
  limited: {
    status: 429,
    repeats: true,
    openai: [OpenAI.RateLimitError, 'upstream_rate_limited'],
    anthropic: [Anthropic.RateLimitError, 'rate_limit_error'],
    google: 'RESOURCE_EXHAUSTED',
  },
  failed: {
    status: 502,
    repeats: true,
    openai: [OpenAI.InternalServerError, 'upstream_error'],
    anthropic: [Anthropic.InternalServerError, 'api_error'],
    google: 'UNAVAILABLE',
  },
  overloaded: {
    status: 503,
    repeats: true,
    openai: [OpenAI.InternalServerError, 'overloaded'],
    anthropic: [Anthropic.OverloadedError, 'overloaded_error', 529],
    google: 'UNAVAILABLE',
  },
  late: {
    status: 504,
    repeats: true,
    openai: [OpenAI.InternalServerError, 'upstream_timeout'],
    anthropic: [Anthropic.GatewayTimeoutError, 'timeout_error'],
    google: 'DEADLINE_EXCEEDED',
  },
} as const satisfies Record<string, Met>;

/** Every status a vendor refuses with, what it means by it, and what the caller meets. */
const REFUSALS: readonly (readonly [status: number, RefusalName, met: keyof typeof MET])[] = [
  [400, 'invalid', 'invalid'],
  [400, 'tooLong', 'tooLong'],
  [400, 'prompt', 'prompt'],
  [400, 'filtered', 'filtered'],
  [401, 'key', 'failed'],
  [402, 'unpaid', 'failed'],
  [403, 'forbidden', 'forbidden'],
  [404, 'missing', 'missing'],
  [408, 'late', 'late'],
  [409, 'invalid', 'invalid'],
  [413, 'large', 'large'],
  [422, 'invalid', 'invalid'],
  [424, 'invalid', 'invalid'],
  [429, 'limited', 'limited'],
  [429, 'usedUp', 'failed'],
  [500, 'failed', 'failed'],
  [502, 'failed', 'failed'],
  [503, 'overloaded', 'overloaded'],
  [504, 'late', 'late'],
  [529, 'overloaded', 'overloaded'],
];

/** Words that only some protocols have. */
const hasWords = (protocol: Style, name: RefusalName): boolean =>
  name === 'prompt' || name === 'usedUp'
    ? protocol === 'responses' || protocol === 'chat'
    : name !== 'filtered' || protocol !== 'gemini';

const LIBRARY: Readonly<Record<Style, string>> = {
  responses: 'openai',
  chat: 'openai (chat completions)',
  messages: '@anthropic-ai/sdk 1.x',
  gemini: '@google/genai',
};

interface Caught extends Error {
  readonly status?: number;
  readonly code?: string;
  readonly type?: string;
  readonly headers?: Headers;
}

const HELLO = 'Hello there, what will be said of this?';
const WAIT = { 'retry-after-ms': '30' };

let gateway: TextGateway;
const clients = new Map<Style, LibraryClient>();
beforeAll(async () => {
  gateway = await startTextGateway();
  for (const style of STYLES) {
    const library = TEXT_LIBRARIES.find(({ name }) => name === LIBRARY[style]);
    if (library) clients.set(style, library.connect(gateway, 0));
  }
});
afterAll(() => gateway.stop());

async function caught(style: Style, over: Style, text: string, stream: boolean): Promise<Caught> {
  const client = clients.get(style);
  try {
    if (!stream) await client?.ask(MODEL_OVER[over], [text]);
    else for await (const _piece of client?.stream(MODEL_OVER[over], [text]) ?? []);
  } catch (error) {
    return error as Caught;
  }
  throw new Error('It was not refused');
}

/** Waits until the gateway asks the upstream again. */
const recovered = (over: Style) =>
  eventually(async () => {
    const body = { model: MODEL_OVER[over], input: 'x', store: false };
    return (await gateway.send('POST', '/v1/responses', body)).status === 200;
  });

/** The error code, where the library has it, and the status, as the library reports them. */
function reportedBy(style: Style, error: Caught): readonly unknown[] {
  if (style !== 'gemini') return [error.status, style === 'messages' ? error.type : error.code];
  return [error.status, /"status":"(\w+)"/.exec(error.message)?.[1]];
}

function expectedIn(style: Style, { status, openai, anthropic, google }: Met) {
  if (style === 'gemini') return { type: ApiError, reported: [status, google] };
  const [type, word, inMessages] = style === 'messages' ? anthropic : [...openai, undefined];
  return { type, reported: [inMessages ?? status, word] };
}

const CELLS = STYLES.flatMap((style) => STYLES.map((over) => [style, over] as const));

/** Each style over its own protocol and another: the error depends on the style alone, its parsing on the protocol. */
const REFUSED_CELLS = STYLES.flatMap((style, place) => {
  const other = STYLES[(place + 1) % STYLES.length] ?? style;
  return [[style, style] as const, [style, other] as const];
});

describe.each(REFUSED_CELLS)('An application of the %s style, refused over %s', (style, over) => {
  const rows = REFUSALS.filter(([, name]) => hasWords(over, name));

  it.each(rows)('with %d (%s) catches the error class of its library: %s', async (status, name, meant) => {
    const marker = `refuse ${status} ${name}`;
    const met: Met = MET[meant];
    const headers = name === 'limited' && over !== 'gemini' ? WAIT : {};
    gateway.vendor.spoiled.set(marker, { status, body: refusalBody(over, name, status), headers });
    const whole = await caught(style, over, marker, false);
    // A limit is kept at once, so that a second request would not reach the vendor.
    if (meant === 'limited') await recovered(over);
    const streamed = await caught(style, over, marker, true);
    for (const error of [whole, streamed]) {
      const { type, reported } = expectedIn(style, met);
      expect(reportedBy(style, error)).toEqual(reported);
      expect(error).toBeInstanceOf(type);
      // One of the libraries shows no headers.
      const expected = waitOf(meant, met);
      expect(waitIn(error.headers) ?? expected).toEqual(expected);
    }
    if (met.repeats) await recovered(over);
  });
});

const waitIn = (headers: Headers | undefined) =>
  headers && ['x-should-retry', 'retry-after'].map((name) => headers.get(name));
const waitOf = (meant: keyof typeof MET, { repeats }: Met) => [
  String(repeats),
  meant === 'limited' || meant === 'overloaded' ? '1' : null,
];

/** What vendors report in the middle of a reply, and the error where the reply is translated. */
const REPORTS: readonly (readonly [RefusalName, status: number, met: keyof typeof MET])[] = [
  ['tooLong', 400, 'tooLong'],
  ['prompt', 400, 'prompt'],
  ['filtered', 400, 'filtered'],
  ['limited', 429, 'limited'],
  ['usedUp', 429, 'failed'],
  ['failed', 500, 'failed'],
  ['overloaded', 503, 'overloaded'],
  ['late', 504, 'late'],
];

describe.each(CELLS)('An application of the %s style, whose reply breaks in the middle over %s', (style, over) => {
  // Only one protocol names a time to wait there; without one a limit is kept for seconds.
  const rows = REPORTS.filter(([name]) => hasWords(over, name) && (name !== 'limited' || over === 'gemini'));

  it.each(rows)('gets an error of its library: %s', async (name, status, meant) => {
    Object.assign(gateway.vendor, {
      fault: 'error-in-stream',
      faultyRequests: 1,
      report: refusalEvent(over, name, status),
    });
    const error = await caught(style, over, HELLO, true);
    const { reported } = expectedIn(style, MET[meant]);
    expect(error).toBeInstanceOf(
      { gemini: ApiError, messages: Anthropic.APIError }[style as string] ?? OpenAI.APIError,
    );
    // A passed-through error keeps the vendor's own words.
    const word = reported.at(-1);
    expect(style === over ? word : reportedBy(style, error).at(-1)).toBe(word);
    gateway.vendor.fault = 'none';
    await recovered(over);
  });
});
