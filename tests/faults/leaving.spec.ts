import { ReconciliationService } from '#features';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway, type Upstream } from '../harness/text-vendor/text-gateway.js';
import type { GateMoment } from '../harness/text-vendor/fake-text-vendor.js';
import { STYLES, textRequest, type Style } from '../harness/text-vendor/text-requests.js';

const VENDORS = ['responses', 'chat', 'messages', 'gemini'] as const satisfies readonly Upstream[];
const MOMENTS = ['start', 'middle', 'end'] as const;

interface Paid {
  readonly status: string;
  readonly amount: bigint;
  readonly output: bigint;
  readonly input: bigint;
  readonly sources: readonly string[];
}

interface Question {
  readonly style: Style;
  /** Another route of the style. */
  readonly path?: string;
  readonly model: string;
  readonly stream: boolean;
  readonly more?: object;
  readonly text?: string;
}

const WORDS = 60;
/** Three parts of equal length: streams come in pieces of about as much. */
const LONG = ['alpha ', 'sigma ', 'omega '].map((word) => word.repeat(WORDS)).join('');
/** Two of the parts have been sent when a stream is here, or all where it comes in one piece. */
const BEHIND = { behind: 'sigma' } as const;
/** The tokens of most of what has been sent there. */
const WRITTEN = BigInt(2 * WORDS - 10);
const REASONS = { reasoning: LONG, text: 'Yes.', call: undefined };
const CALLS = { reasoning: '!', text: '', call: { id: 'call_v1', name: 'note', args: { text: LONG } } };

/** Fields of each style that forbid the model to reason, so that nothing unseen is charged. */
const PLAIN: Readonly<Record<Style, object>> = {
  responses: { reasoning: { effort: 'none' } },
  chat: { reasoning_effort: 'none' },
  messages: { thinking: { type: 'disabled' } },
  gemini: { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
};

/** A gate that the vendor's reply waits at. */
function closedGate(at: GateMoment) {
  let [open, onReached] = [(): void => {}, (): void => {}];
  const opened = new Promise<void>((resolve) => (open = resolve));
  const reached = new Promise<void>((resolve) => (onReached = resolve));
  return { at, opened, open, reached, onReached };
}

describe('Leaving', () => {
  /** The one that is asked now; `hasty` soon stops reading for a client that left, `patient` reads to the end. */
  let gateway: TextGateway;
  let patient: TextGateway;
  let hasty: TextGateway;
  beforeAll(async () => {
    const started = (seconds: string) =>
      startTextGateway({ DISCONNECT_DRAIN_SECONDS: seconds, SANDBOX_WORD_MS: '5' }, { idleSeconds: 30 });
    [patient, hasty] = await Promise.all([started('60'), started('0.1')]);
  });
  beforeEach(() => {
    gateway = patient;
  });
  afterAll(() => Promise.all([patient.stop(), hasty.stop()]));
  afterEach(() => {
    for (const { vendor } of [patient, hasty])
      Object.assign(vendor, {
        gate: undefined,
        fault: 'none',
        rewrite: (json: string) => json,
        script: () => undefined,
      });
  });

  function ask({ style, model, stream, more, text, ...route }: Question, signal?: AbortSignal): Promise<Response> {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream, ...(text && { text }) });
    return fetch(gateway.baseUrl + (route.path ?? path), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, ...more }),
      signal: signal ?? null,
    });
  }

  async function records(): Promise<(Paid & { id: string })[]> {
    const { rows } = await gateway.database.query<Paid & { id: string }>({
      text: `select id, status, amount_micros as amount, output_tokens as output, input_tokens as input,
          array(select l ->> 'source' from jsonb_array_elements(lines) l) as sources
        from usage_record order by created_at, id`,
    });
    return rows;
  }

  /** What the one request that `run` makes was charged. */
  async function paidFor(run: () => Promise<void>): Promise<Paid> {
    const known = new Set((await records()).map(({ id }) => id));
    await run();
    return eventually(async () => (await records()).find(({ id }) => !known.has(id)));
  }

  const stay = (question: Question): Promise<Paid> => paidFor(async () => void (await (await ask(question)).text()));

  /** Leaves when the vendor's reply has come to its gate, which opens afterwards or never, and `seen` was read of it. */
  async function leave(question: Question, at: GateMoment, opens: boolean, seen = ''): Promise<Paid> {
    const { vendor } = gateway;
    const gate = closedGate(at);
    vendor.gate = gate;
    return paidFor(async () => {
      const leaving = new AbortController();
      const asking = ask(question, leaving.signal);
      asking.catch(() => {});
      await gate.reached;
      if (question.stream && at !== 'start') await readUntil(await asking, seen);
      leaving.abort();
      await asking.then((answer) => answer.text()).catch(() => {});
      vendor.gate = undefined;
      await gateway.untilAnswered();
      if (opens) gate.open();
    });
  }

  /** Reads at least something, and on until there is a word in it. */
  async function readUntil(answer: Response, word: string): Promise<void> {
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let read = '';
    do read += (await reader?.read())?.value ?? word;
    while (!read.includes(word));
  }

  describe.each(STYLES)('in the %s style', (style) => {
    describe.each(VENDORS)('over %s', (upstream) => {
      it.each(MOMENTS.flatMap((at) => [true, false].map((stream) => ({ at, stream }))))(
        'is charged like staying: $at, streamed $stream',
        async ({ at, stream }) => {
          const question = { style, model: MODEL_OVER[upstream], stream };
          const stayed = await stay(question);
          expect(stayed.amount).toBeGreaterThan(0n);
          const left = await leave(question, at, true);
          expect(left.amount).toBe(stayed.amount);
          expect(left).toMatchObject({ status: 'cancelled', input: stayed.input, output: stayed.output });
        },
      );

      it.each(MOMENTS.flatMap((at) => [true, false].map((stream) => ({ at, stream }))))(
        'is charged no less when the usage never arrives: $at, streamed $stream',
        async ({ at, stream }) => {
          gateway = hasty;
          const question = { style, model: MODEL_OVER[upstream], stream };
          const stayed = await stay(question);
          const left = await leave(question, at, false);
          expect(left.status).toBe('cancelled');
          // Where a model shows all it does, its words are counted, and a tokenizer may count them otherwise.
          const least = upstream === 'messages' && stream ? 1n : stayed.amount;
          expect(left.amount).toBeGreaterThanOrEqual(least);
        },
      );
    });

    it('is charged like staying over the sandbox', async () => {
      const question = { style, model: MODEL_OVER.sandbox, stream: true };
      const stayed = await stay(question);
      const left = await paidFor(async () => {
        const leaving = new AbortController();
        await readUntil(await ask(question, leaving.signal), '');
        leaving.abort();
      });
      expect(left.amount).toBe(stayed.amount);
    });
  });

  describe.each(VENDORS)('in the middle over %s', (upstream) => {
    const MIDDLES = STYLES.flatMap((style) => [
      { style, what: 'visible reasoning', words: REASONS, seen: 'sigma' },
      // One style has no calls in pieces: all that its caller sees is what was thought before.
      { style, what: 'the arguments of a call', words: CALLS, seen: '!' },
    ]);
    it.each(MIDDLES)('of $what pays for all that was written, in the $style style', async ({ style, words, seen }) => {
      gateway = hasty;
      gateway.vendor.script = () => words;
      const question = { style, model: MODEL_OVER[upstream], stream: true, more: PLAIN[style] };
      const left = await leave(question, BEHIND, false, seen);
      expect(left.status).toBe('cancelled');
      expect(left.output).toBeGreaterThan(WRITTEN);
    });
  });

  describe.each(VENDORS)('during a compaction by %s', (upstream) => {
    const compact = { style: 'responses', path: '/v1/responses/compact', stream: false } as const;
    const question = { ...compact, model: MODEL_OVER[upstream] };

    it('is charged like staying', async () => {
      const stayed = await stay(question);
      expect(stayed.amount).toBeGreaterThan(0n);
      const left = await leave(question, 'start', true);
      expect(left).toMatchObject({ status: 'cancelled', amount: stayed.amount, output: stayed.output });
    });

    it('is charged no less when the usage never arrives', async () => {
      gateway = hasty;
      const stayed = await stay(question);
      expect((await leave(question, 'start', false)).amount).toBeGreaterThanOrEqual(stayed.amount);
    });
  });

  describe('with several choices', () => {
    const three = (json: string): string =>
      json.replace(/"choices":\[(\{.*\})\]/, (_all, choice: string) => `"choices":[${choice},${choice},${choice}]`);
    const question = { style: 'chat', model: MODEL_OVER.chat, more: { n: 3, max_tokens: 900 } } as const;
    const script = () => ({ reasoning: undefined, text: LONG, call: undefined });
    beforeEach(() => {
      for (const { vendor } of [patient, hasty]) Object.assign(vendor, { rewrite: three, script });
    });

    it.each([true, false])('is charged like staying: streamed %s', async (stream) => {
      const stayed = await stay({ ...question, stream });
      const left = await leave({ ...question, stream }, 'middle', true);
      expect(left).toMatchObject({ status: 'cancelled', amount: stayed.amount, output: stayed.output });
    });

    it.each([true, false])('is charged what all may have reasoned unseen: streamed %s', async (stream) => {
      gateway = hasty;
      expect(await leave({ ...question, stream }, 'middle', false)).toMatchObject({ output: 2_700n });
    });

    it('is charged all that was delivered of all', async () => {
      gateway = hasty;
      const more = { ...question.more, ...PLAIN.chat };
      const left = await leave({ ...question, more, stream: true }, BEHIND, false, 'sigma');
      expect(left.output).toBeGreaterThan(3n * WRITTEN);
    });
  });

  it('charges hidden reasoning up to the hold', async () => {
    gateway = hasty;
    const question = {
      style: 'responses' as const,
      model: MODEL_OVER.responses,
      stream: true,
      more: { max_output_tokens: 500 },
    };
    const left = await leave(question, 'end', false);
    expect(left).toMatchObject({ output: 500n, status: 'cancelled' });
    expect(left.sources).toContain('held');
  });

  it('charges the input reported by the first event, however soon the caller leaves', async () => {
    gateway = hasty;
    gateway.vendor.rewrite = (json) => json.replaceAll(/"input_tokens":\d+/g, '"input_tokens":30000');
    const question = { style: 'messages' as const, model: MODEL_OVER.messages, stream: true };
    const left = await leave(question, 'middle', false);
    expect(left.input).toBeGreaterThanOrEqual(30_000n);
  });

  it('uses at most the configured slots, and charges the hold where none is free', async () => {
    const small = await startTextGateway({ DISCONNECT_DRAINS: '0' }, { idleSeconds: 30 });
    gateway = small;
    const question = {
      style: 'responses' as const,
      model: MODEL_OVER.responses,
      stream: false,
      more: { max_output_tokens: 300 },
    };
    const left = await leave(question, 'start', false);
    gateway = patient;
    await small.stop();
    expect(left.output).toBe(300n);
  });

  it.each(VENDORS)('charges a stream that %s broke off as far as it went', async (upstream) => {
    gateway.vendor.fault = 'cut-mid-event';
    const broken = await stay({ style: 'responses', model: MODEL_OVER[upstream], stream: true });
    expect(broken.status).toBe('failed');
    expect(broken.amount).toBeGreaterThan(0n);
    gateway.vendor.fault = 'cut-after-headers';
    expect(await stay({ style: 'responses', model: MODEL_OVER[upstream], stream: true })).toMatchObject({ amount: 0n });
  });

  it.each(VENDORS)('charges a compaction that %s answers with nothing', async (upstream) => {
    gateway.vendor.script = () => ({ reasoning: undefined, text: ' ', call: undefined });
    const paid = await paidFor(async () => {
      const path = '/v1/responses/compact';
      const answer = await ask({ style: 'responses', path, model: MODEL_OVER[upstream], stream: false });
      expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining('is charged')]);
    });
    expect(paid.amount).toBeGreaterThan(0n);
  });

  it('keeps the ledger exact throughout', async () => {
    for (const each of [patient, hasty]) {
      await each.settled();
      expect((await new ReconciliationService(each.database).run({ full: true }))?.findings).toEqual([]);
    }
  });
});
