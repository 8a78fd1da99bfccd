import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import type { VendorFault } from '../harness/text-vendor/vendor-faults.js';
import { MODEL_OVER, startTextGateway, type TextGateway, type Upstream } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES } from '../harness/text-vendor/text-requests.js';

const OVER = ['responses', 'chat', 'messages', 'gemini'] as const satisfies readonly Upstream[];

/** What a caller must meet. `in-band`: the reply has begun, so the failure comes in the style's own form, and an end. */
type Outcome = { readonly status: number; readonly retryAfter?: string } | 'in-band' | 'complete';

/** Every way an upstream can fail, and what callers of every style meet: whole replies, then streams. */
const TABLE: readonly (readonly [VendorFault, whole: Outcome, streamed: Outcome])[] = [
  ['cut-before-headers', { status: 502 }, { status: 502 }],
  ['cut-after-headers', { status: 502 }, { status: 502 }],
  ['cut-mid-event', { status: 502 }, 'in-band'],
  ['early-end', { status: 502 }, 'in-band'],
  ['stall', { status: 504 }, 'in-band'],
  ['garbage', { status: 502 }, 'in-band'],
  ['huge-reply', { status: 502 }, 'in-band'],
  ['error-in-stream', { status: 502 }, 'in-band'],
  ['wrong-content-type', { status: 502 }, { status: 502 }],
  ['slow-429', { status: 429, retryAfter: '1' }, { status: 429, retryAfter: '1' }],
  ['refusal-400', { status: 400 }, { status: 400 }],
  ['error-500', { status: 502 }, { status: 502 }],
  ['no-usage', 'complete', 'complete'],
  ['no-output-count', 'complete', 'complete'],
];

const NAMED = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
/** How each protocol reports inside a stream that it failed. */
const REPORTS: Record<(typeof OVER)[number], string> = {
  responses: NAMED,
  messages: NAMED,
  chat: 'data: {"error":{"type":"overloaded_error","message":"Overloaded","code":503}}\n\n',
  gemini: 'data: {"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}\r\n\r\n',
};

/** Replies that are whole, of which the upstream does not tell what they used. */
const UNCOUNTED = ['no-usage', 'no-output-count'] as const satisfies readonly VendorFault[];

/** These take a second each: once passed through and once translated is enough. */
const SLOW: ReadonlySet<VendorFault> = new Set(['stall', 'huge-reply']);

const NOTHING_TO_SEE = { status: 200, retryAfter: null, failedInBand: false, finished: false, tellsSecrets: false };

function expected(outcome: Outcome): object {
  if (outcome === 'in-band') return { failedInBand: true };
  return outcome === 'complete' ? { finished: true } : outcome;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

function bodyOf(style: Style, model: string, stream: boolean): { path: string; body: JsonObject } {
  const text = 'Tell me a story of three words';
  if (style === 'responses') return { path: '/v1/responses', body: { model, input: text, stream, store: false } };
  const messages = [{ role: 'user', content: text }];
  if (style === 'chat') return { path: '/v1/chat/completions', body: { model, messages, stream } };
  if (style === 'messages')
    return {
      path: '/v1/messages',
      body: { model, messages, max_tokens: 4_096, stream },
    };
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return { path: `/v1beta/models/${model}:${method}`, body: { contents: [{ role: 'user', parts: [{ text }] }] } };
}

/** How a finished and how a failed stream ends in each style. */
const FINISHED: Record<Style, RegExp> = {
  responses: /event: response\.completed|"status":"completed"/,
  chat: /data: \[DONE\]\n\n$|"object":"chat.completion",/,
  messages: /event: message_stop|"stop_reason":"end_turn"/,
  gemini: /"finishReason":"STOP"/,
};
const FAILED: Record<Style, RegExp> = {
  responses: /event: error\ndata: \{"type":"error".*\}\n\n$/,
  chat: /data: \{"error":\{.*\}\n\n$/,
  messages: /event: error\ndata: \{"type":"error".*\}\n\n$/,
  gemini: /"error":\{.*"code":5\d\d/,
};

/** The one that is asked now; `hasty` gives up an upstream that falls silent, where the others would wait for half a minute. */
let gateway: TextGateway;
let patient: TextGateway;
let hasty: TextGateway;
beforeAll(async () => {
  [patient, hasty] = await Promise.all([startTextGateway(), startTextGateway({}, { idleSeconds: 0.5 })]);
});
beforeEach(() => {
  gateway = patient;
});
afterAll(() => Promise.all([patient.stop(), hasty.stop()]));

describe.each(STYLES)('A failing upstream meets callers of the %s style as documented', (style) => {
  async function ask(upstream: Upstream, stream: boolean): Promise<Answer> {
    const { path, body } = bodyOf(style, MODEL_OVER[upstream], stream);
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'vendor-version': '2025-01-01',
      },
      body: JSON.stringify(body),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }

  /** Serves again, and waits until the gateway has noticed. */
  async function recover(upstream: Upstream): Promise<void> {
    gateway.vendor.fault = 'none';
    await eventually(async () => (await ask(upstream, false)).status === 200);
  }

  async function heldMoney(): Promise<bigint | undefined> {
    const { rows } = await gateway.database.query<{ held: bigint }>({
      text: 'select held_micros as held from account where id = $1',
      values: [gateway.accountId],
    });
    return rows[0]?.held;
  }

  function expectOutcome(answer: Answer, outcome: Outcome): void {
    const met = {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      failedInBand: answer.status === 200 && FAILED[style].test(answer.text),
      finished: answer.status === 200 && FINISHED[style].test(answer.text),
      tellsSecrets: answer.text.includes('secret internals'),
    };
    expect(met).toEqual({ ...NOTHING_TO_SEE, ...expected(outcome) });
  }

  /** Where the output counts of the replies since then come from; both replies have words. */
  async function outputSources(since: string): Promise<readonly string[]> {
    const { rows } = await gateway.database.query<{ source: string }>({
      text: `select line->>'source' as source from usage_record, jsonb_array_elements(lines) as line
        where created_at >= $1 and line->>'unit' = 'output_token' and (line->>'quantity')::integer > 0`,
      values: [since],
    });
    return rows.map(({ source }) => source);
  }

  describe.each(OVER)('over %s', (upstream) => {
    const rows = TABLE.filter(([fault]) => !SLOW.has(fault) || upstream === style || upstream === 'chat');
    it.each(rows)('%s', async (fault, whole, streamed) => {
      if (fault === 'stall') gateway = hasty;
      gateway.vendor.fault = fault;
      // Both at once, for they wait for the same: two failures do not yet open a circuit.
      const [answer, stream] = await Promise.all([ask(upstream, false), ask(upstream, true)]);
      expectOutcome(answer, whole);
      expectOutcome(stream, streamed);
      await recover(upstream);
      await gateway.settled();
      expect(await heldMoney()).toBe(0n);
    });

    it('returns an HTTP status for a failure reported with the first bytes', async () => {
      gateway.vendor.rewrite = () => REPORTS[upstream];
      const { status, text } = await ask(upstream, true);
      gateway.vendor.rewrite = (json) => json;
      expect([status, text]).toEqual([style === 'messages' ? 529 : 503, expect.not.stringContaining('event: ')]);
      await recover(upstream);
      await gateway.settled();
    });

    it.each(UNCOUNTED)('%s is counted by the gateway and charged', async (fault) => {
      gateway.vendor.fault = fault;
      const began = await gateway.settled();
      await Promise.all([ask(upstream, false), ask(upstream, true)]);
      gateway.vendor.fault = 'none';
      await gateway.settled();
      expect(await outputSources(began)).toEqual(['counted', 'counted']);
    });
  });
});
