import { ReconciliationService } from '#features';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway, type Upstream } from '../testing/text-vendor/text-gateway.js';
import { STYLES, textRequest, type Style } from '../testing/text-vendor/text-requests.js';

const VENDORS = ['responses', 'chat', 'messages', 'gemini'] as const satisfies readonly Upstream[];
const MOMENTS = ['start', 'middle', 'end'] as const;
type Moment = (typeof MOMENTS)[number];

interface Paid {
  readonly status: string;
  readonly amount: bigint;
  readonly output: bigint;
  readonly input: bigint;
  readonly sources: readonly string[];
}

interface Question {
  readonly style: Style;
  readonly model: string;
  readonly stream: boolean;
  readonly more?: object;
  readonly text?: string;
}

/** A gate that the vendor's reply waits at. */
function closedGate(at: Moment): { at: Moment; opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { at, opened, open };
}

describe('Leaving', () => {
  /** The one that is asked now; `hasty` soon stops reading for a client that left, `patient` reads to the end. */
  let gateway: TextGateway;
  let patient: TextGateway;
  let hasty: TextGateway;
  beforeAll(async () => {
    const started = (seconds: string) =>
      startTextGateway({ TEXT_LEFT_READ_SECONDS: seconds, SANDBOX_WORD_MS: '5' }, { idleSeconds: 30 });
    [patient, hasty] = await Promise.all([started('60'), started('0.25')]);
  });
  beforeEach(() => {
    gateway = patient;
  });
  afterAll(() => Promise.all([patient.stop(), hasty.stop()]));
  afterEach(() => {
    gateway.vendor.gate = undefined;
    gateway.vendor.fault = 'none';
    gateway.vendor.rewrite = (json) => json;
  });

  function ask({ style, model, stream, more, text }: Question, signal?: AbortSignal): Promise<Response> {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream, ...(text && { text }) });
    return fetch(gateway.baseUrl + path, {
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

  /** Leaves when the vendor's reply has come to its gate, which opens afterwards or never. */
  async function leave(question: Question, at: Moment, opens: boolean): Promise<Paid> {
    const { vendor } = gateway;
    const gate = closedGate(at);
    vendor.gate = gate;
    const asked = vendor.seen.length;
    return paidFor(async () => {
      const leaving = new AbortController();
      const asking = ask(question, leaving.signal);
      asking.catch(() => {});
      await eventually(() => vendor.seen.length > asked);
      if (question.stream && at !== 'start') await firstBytes(await asking);
      leaving.abort();
      await asking.then((answer) => answer.text()).catch(() => {});
      vendor.gate = undefined;
      await gateway.untilAnswered();
      if (opens) gate.open();
    });
  }

  async function firstBytes(answer: Response): Promise<void> {
    const reader = answer.body?.getReader();
    await reader?.read();
    reader?.releaseLock();
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
        await firstBytes(await ask(question, leaving.signal));
        leaving.abort();
      });
      expect(left.amount).toBe(stayed.amount);
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
    const small = await startTextGateway({ TEXT_LEFT_READS: '0' }, { idleSeconds: 30 });
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
    const body = JSON.stringify({ model: MODEL_OVER[upstream], input: 'Hello there' });
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
    const paid = await paidFor(async () => {
      const answer = await fetch(`${gateway.baseUrl}/v1/responses/compact`, { method: 'POST', headers, body });
      expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining('is charged')]);
    });
    gateway.vendor.script = () => undefined;
    expect(paid.amount).toBeGreaterThan(0n);
  });

  it('keeps the ledger exact throughout', async () => {
    for (const each of [patient, hasty]) {
      await each.settled();
      expect((await new ReconciliationService(each.database).run({ full: true }))?.findings).toEqual([]);
    }
  });
});
