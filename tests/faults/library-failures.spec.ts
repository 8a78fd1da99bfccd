import Anthropic from '@anthropic-ai/sdk';
import { ApiError } from '@google/genai';
import { APICallError } from 'ai';
import EarlierAnthropic from 'anthropic-sdk-0';
import OpenAI from 'openai';
import { eventually } from '#testing';
import type { VendorRefusal } from '../harness/text-vendor/vendor-faults.js';
import {
  MODEL_OVER,
  startTextGateway,
  type TextGateway,
  type Upstream,
  UPSTREAMS,
} from '../harness/text-vendor/text-gateway.js';
import { TEXT_LIBRARIES, type TextLibrary } from '../harness/text-vendor/text-libraries.js';

const WAIT = { 'retry-after-ms': '20' };
const HELLO = ['Hello there'] as const;

type ErrorClass = abstract new (...parts: never[]) => Error;
interface Failure extends Error {
  readonly status?: number;
  readonly statusCode?: number;
  readonly requestID?: string;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly lastError?: Failure;
}

/** What an application catches; the class of its own library, so that its error handling keeps working. */
interface Caught {
  readonly limited: ErrorClass;
  readonly overloaded: ErrorClass;
  readonly failed: ErrorClass;
  readonly unpaid: ErrorClass;
}

const always = (only: ErrorClass): Caught => ({ limited: only, overloaded: only, failed: only, unpaid: only });
const openai: Caught = {
  ...always(OpenAI.InternalServerError),
  limited: OpenAI.RateLimitError,
  unpaid: OpenAI.APIError,
};
const anthropic: Caught = {
  limited: Anthropic.RateLimitError,
  overloaded: Anthropic.OverloadedError,
  failed: Anthropic.InternalServerError,
  unpaid: Anthropic.PaymentRequiredError,
};

/** As the library tells its errors: each of its packages may bring a class of its own. */
class CallError extends Error {
  static override [Symbol.hasInstance](error: unknown): boolean {
    return APICallError.isInstance(error);
  }
}

const CAUGHT: Readonly<Record<string, Caught>> = {
  openai,
  'openai (chat completions)': openai,
  '@anthropic-ai/sdk 1.x': anthropic,
  '@anthropic-ai/sdk 0.x': {
    ...always(EarlierAnthropic.InternalServerError),
    limited: EarlierAnthropic.RateLimitError,
    unpaid: EarlierAnthropic.APIError,
  },
  '@google/genai': always(ApiError),
  'AI SDK (OpenAI)': always(CallError),
  'AI SDK (openai-compatible)': always(CallError),
  'AI SDK (Anthropic)': always(CallError),
  'AI SDK (Google)': always(CallError),
  // These pass on what the vendor's library throws, which is not always the version that is installed here.
  'LangChain (OpenAI)': always(Error),
  'LangChain (Anthropic)': always(Error),
  'LangChain (Google)': always(Error),
  'LangChain (Google, former)': always(Error),
};

/** How a vendor refuses, and the status the styles tell it with. */
const REFUSALS: readonly (readonly [keyof Caught, VendorRefusal, status: number, inMessages: number])[] = [
  ['limited', { status: 429, headers: WAIT }, 429, 429],
  ['overloaded', { status: 503, headers: WAIT }, 503, 529],
  ['overloaded', { status: 529, headers: WAIT }, 503, 529],
  ['failed', { status: 500, headers: WAIT }, 502, 502],
];

const OVER = UPSTREAMS.filter((upstream) => upstream !== 'sandbox');

/** LangChain waits for more than a second before it tries again: one upstream is enough. It does not repeat each 429. */
const isSlow = ({ name }: TextLibrary): boolean => name.startsWith('LangChain');
const ownUpstream = ({ style }: TextLibrary): Upstream => style;

describe('An application whose upstream fails', () => {
  let gateway: TextGateway;
  let requests = 0;
  const realFetch = globalThis.fetch;
  beforeAll(async () => {
    gateway = await startTextGateway();
    globalThis.fetch = (...request) => {
      requests += 1;
      return realFetch(...request);
    };
  });
  afterAll(async () => {
    globalThis.fetch = realFetch;
    await gateway.stop();
  });
  beforeEach(() => {
    requests = 0;
  });

  function refuse(refusal: VendorRefusal, times: number): void {
    Object.assign(gateway.vendor, { fault: 'refusal', refusal, faultyRequests: times });
  }

  /** Serves again, and waits until the gateway has noticed. */
  async function recover(upstream: Upstream): Promise<void> {
    gateway.vendor.fault = 'none';
    const body = { model: MODEL_OVER[upstream], input: 'x', store: false };
    await eventually(async () => (await gateway.send('POST', '/v1/responses', body)).status === 200);
  }

  async function textOf(pieces: AsyncIterable<string>): Promise<string> {
    let text = '';
    for await (const piece of pieces) text += piece;
    return text;
  }

  /** The failure an application sees at last; some libraries wrap it in the story of their tries. */
  async function failureOf(reading: Promise<string>): Promise<Failure> {
    const caught = await reading.then(
      (text) => new Error(`It replied: ${text}`),
      (error: Failure) => error,
    );
    return 'lastError' in caught && caught.lastError ? caught.lastError : caught;
  }

  const statusOf = ({ status, statusCode }: Failure): number | undefined => status ?? statusCode;
  const requestIdOf = ({ requestID, responseHeaders }: Failure): string | undefined =>
    requestID ?? responseHeaders?.['x-request-id'];

  describe.each(TEXT_LIBRARIES)('with $name', (library) => {
    const caught = CAUGHT[library.name] ?? always(TypeError);
    const upstreams = isSlow(library) ? [ownUpstream(library)] : OVER;

    it.each(upstreams)('is retried by its library when the %s upstream is busy, whole and streamed', async (over) => {
      const client = library.connect(gateway, 1);
      refuse({ status: isSlow(library) ? 503 : 429, headers: WAIT }, 1);
      expect(await client.ask(MODEL_OVER[over], HELLO)).toContain('Hello there');
      refuse({ status: 503, headers: WAIT }, isSlow(library) ? 0 : 1);
      expect(await textOf(client.stream(MODEL_OVER[over], HELLO))).toContain('Hello there');
      expect(requests).toBe(isSlow(library) ? 3 : 4);
      gateway.vendor.fault = 'none';
    });

    // The form of an error depends on the caller's style alone, so one upstream is enough.
    it.each(REFUSALS)('gets an error class of its library when the upstream fails: %s by %j', async (...row) => {
      const [kind, refusal, status, inMessages] = row;
      const over = ownUpstream(library);
      const client = library.connect(gateway, 0);
      refuse(refusal, Number.POSITIVE_INFINITY);
      const whole = await failureOf(client.ask(MODEL_OVER[over], HELLO));
      await recover(over);
      refuse(refusal, Number.POSITIVE_INFINITY);
      const streamed = await failureOf(textOf(client.stream(MODEL_OVER[over], HELLO)));
      await recover(over);
      const expected = library.style === 'messages' ? inMessages : status;
      expect([whole, streamed].map(statusOf)).toEqual([expected, expected]);
      expect(whole).toBeInstanceOf(caught[kind]);
      expect(streamed).toBeInstanceOf(caught[kind]);
    });

    it('gets the same when the sandbox is made to fail', async () => {
      const failing = ['Hello there [sandbox:fail=upstream_error]'] as const;
      const client = library.connect(gateway, 0);
      const whole = await failureOf(client.ask(MODEL_OVER.sandbox, failing));
      const streamed = await failureOf(textOf(client.stream(MODEL_OVER.sandbox, failing)));
      expect([whole, streamed].map(statusOf)).toEqual([502, 502]);
      expect(whole).toBeInstanceOf(caught.failed);
      expect(await client.ask(MODEL_OVER.sandbox, HELLO)).toContain('Hello there');
    });

    it('gets one error for an empty balance, and no upstream is asked', async () => {
      await gateway.setBalance(0n);
      const asked = gateway.vendor.seen.length;
      const client = library.connect(gateway, 2);
      const whole = await failureOf(client.ask(MODEL_OVER.chat, HELLO));
      const streamed = await failureOf(textOf(client.stream(MODEL_OVER.chat, HELLO)));
      await gateway.spareMoney();
      expect([whole, streamed].map(statusOf)).toEqual([402, 402]);
      expect(whole).toBeInstanceOf(caught.unpaid);
      expect([requests, gateway.vendor.seen.length - asked]).toEqual([2, 0]);
    });
  });

  /** The others show no headers of a failure. */
  const NAMING = TEXT_LIBRARIES.filter((library) => !isSlow(library) && library.name !== '@google/genai');

  it.each(NAMING)('finds the request id in the failure of $name', async (library) => {
    const failure = await failureOf(library.connect(gateway, 0).ask('no-such-model', HELLO));
    expect(requestIdOf(failure)).toMatch(/^req_[0-9a-f]{24}$/);
  });
});
