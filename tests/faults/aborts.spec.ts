import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';
import { TEXT_LIBRARIES, type LibraryClient } from '../harness/text-vendor/text-libraries.js';

/** Long enough that a reply is still going on when its first words have been read. */
const WORD_MS = 20;

const STORY = ['Tell me a long story of many words'] as const;

/** The one left out neither aborts a whole reply nor lets an application catch what the abort of a stream throws in it. */
const LEAVING = TEXT_LIBRARIES.filter(({ name }) => name !== 'LangChain (Google, former)');

/** Their requests say which try they are: a whole reply is finished for the next one, whoever has left. */
const REPEATING = new Set([
  'openai',
  'openai (chat completions)',
  '@anthropic-ai/sdk 1.x',
  '@anthropic-ai/sdk 0.x',
  'LangChain (OpenAI)',
  'LangChain (Anthropic)',
]);

interface UsageRecord {
  readonly status: string;
  readonly upstream: string | null;
  readonly amount: bigint;
  readonly lines: readonly { readonly unit: string; readonly quantity: number; readonly source: string }[];
}

describe('A client that leaves', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway(
      { SANDBOX_WORD_MS: String(WORD_MS), DISCONNECT_DRAIN_SECONDS: '0.3' },
      { idleSeconds: 30 },
    );
  });
  afterAll(() => gateway.stop());

  /** Reads the first words, then turns away as an application does, whatever its library makes of that. */
  async function leaveAfterFirstWords(client: LibraryClient, model: string): Promise<void> {
    const leaving = new AbortController();
    try {
      for await (const piece of client.stream(model, STORY, leaving.signal)) if (piece !== '') leaving.abort();
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
    }
  }

  const abortAfter = (aborts: number): Promise<true> =>
    eventually(() => gateway.vendor.aborted === aborts + 1, { pauseMs: 5 });

  /** The record of the newest request, when everything about it is over. */
  async function settledRecord(known: ReadonlySet<string>): Promise<UsageRecord | undefined> {
    const { rows } = await gateway.database.query<UsageRecord & { id: string; held: bigint; holds: bigint }>({
      text: `select u.id, u.status, u.upstream, u.amount_micros as amount, u.lines, a.held_micros as held,
          (select count(*) from request_hold) as holds
        from usage_record u join account a on a.id = u.account_id`,
    });
    const record = rows.find(({ id }) => !known.has(id));
    if (!record || record.held !== 0n || record.holds !== 0n) return undefined;
    const { status, upstream, amount, lines } = record;
    return { status, upstream, amount, lines };
  }

  async function recordIds(): Promise<Set<string>> {
    const { rows } = await gateway.database.query<{ id: string }>({ text: 'select id from usage_record' });
    return new Set(rows.map(({ id }) => id));
  }

  describe.each(LEAVING)('a stream read with $name', (library) => {
    it.each(UPSTREAMS)(
      'is aborted at the %s upstream soon, is charged at least for the words sent, and leaves no hold',
      async (upstream) => {
        const { vendor } = gateway;
        const known = await recordIds();
        const aborted = vendor.aborted;
        vendor.gate = { at: 'middle', opened: new Promise(() => {}) };
        await leaveAfterFirstWords(library.connect(gateway, 0), MODEL_OVER[upstream]);
        if (upstream !== 'sandbox') await abortAfter(aborted);
        const record = await eventually(() => settledRecord(known));
        expect(record).toMatchObject({ status: 'cancelled', upstream });
        const output = record.lines.find(({ unit }) => unit === 'output_token');
        expect(output?.quantity).toBeGreaterThan(0);
        expect(record.amount).toBeGreaterThan(0n);
        vendor.gate = undefined;
      },
    );
  });

  /** Asks for a whole reply, and leaves when it is asked for at the upstream. */
  async function leaveBeforeReply(
    library: (typeof LEAVING)[number],
    upstream: (typeof UPSTREAMS)[number],
    words: typeof STORY | readonly [string],
  ): Promise<void> {
    const { seen } = gateway.vendor;
    const asked = seen.length;
    const leaving = new AbortController();
    const asking = library
      .connect(gateway, 0)
      .ask(MODEL_OVER[upstream], words, leaving.signal)
      .catch(() => 'left');
    await eventually(async () => {
      if (upstream !== 'sandbox') return seen.length > asked;
      const { rows } = await gateway.database.query({ text: 'select 1 from request_hold' });
      return rows.length > 0;
    });
    leaving.abort();
    expect(await asking).toBe('left');
  }

  describe.each(LEAVING.filter(({ name }) => REPEATING.has(name)))('a whole reply asked for with $name', (library) => {
    it.each(UPSTREAMS.filter((upstream) => upstream !== 'sandbox'))(
      'is finished at the %s upstream for a repeat of the library, and is charged as delivered',
      async (upstream) => {
        const { vendor } = gateway;
        const known = await recordIds();
        const { aborted } = vendor;
        let open = (): void => undefined;
        vendor.gate = { at: 'start', opened: new Promise((resolve) => (open = resolve)) };
        await leaveBeforeReply(library, upstream, STORY);
        open();
        vendor.gate = undefined;
        const record = await eventually(() => settledRecord(known));
        expect(record).toMatchObject({ status: 'completed', upstream });
        expect(record.amount).toBeGreaterThan(0n);
        expect(vendor.aborted).toBe(aborted);
      },
    );
  });

  describe.each(LEAVING.filter(({ name }) => !REPEATING.has(name)))('a whole reply asked for with $name', (library) => {
    it.each(UPSTREAMS)(
      'is aborted at the %s upstream soon and is charged the whole hold, because its usage is unknown',
      async (upstream) => {
        const { vendor } = gateway;
        const known = await recordIds();
        const { aborted } = vendor;
        vendor.gate = { at: 'start', opened: new Promise(() => {}) };
        await leaveBeforeReply(library, upstream, upstream === 'sandbox' ? ['Wait [sandbox:hang]'] : STORY);
        if (upstream !== 'sandbox') await abortAfter(aborted);
        const record = await eventually(() => settledRecord(known));
        expect(record).toMatchObject({
          status: 'cancelled',
          lines: expect.arrayContaining([expect.objectContaining({ source: 'held' })]),
        });
        vendor.gate = undefined;
      },
    );
  });
});
