import { ReconciliationService } from '#features';
import { signals } from '#platform';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway, type Upstream } from '../harness/text-vendor/text-gateway.js';
import { STYLES, textRequest, type Style } from '../harness/text-vendor/text-requests.js';

const VENDORS = ['responses', 'chat', 'messages', 'gemini'] as const satisfies readonly Upstream[];
/** The widest context window of a model. */
const CONTEXT_WINDOW = 1_048_576;
const COUNTS = /"((?:input|output|prompt|completion)_tokens|(?:prompt|candidates|thoughts)TokenCount)":\s*\d+/g;
const ABSURD = '"$1":487654321';

interface Used {
  readonly id: string;
  readonly input: bigint;
  readonly output: bigint;
  readonly amount: bigint;
  readonly sources: readonly string[];
}

describe('A vendor that reports absurdly many tokens', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
    await gateway.spareMoney();
    await gateway.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_e', 'text-embedding', 'input_token', 2000000, 1, '2026-01-01', 'test')`,
      values: [],
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => {
    gateway.vendor.rewrite = (json) => json.replaceAll(COUNTS, ABSURD);
  });

  async function records(): Promise<Used[]> {
    const { rows } = await gateway.database.query<Used>({
      text: `select id, input_tokens as input, output_tokens as output, amount_micros as amount,
        array(select l ->> 'source' from jsonb_array_elements(lines) l) as sources from usage_record`,
    });
    return rows;
  }

  async function used(run: () => Promise<Response>): Promise<Used> {
    const known = new Set((await records()).map(({ id }) => id));
    const answer = await run();
    expect(answer.status).toBe(200);
    await answer.text();
    return eventually(async () => (await records()).find(({ id }) => !known.has(id)));
  }

  function ask(style: Style, model: string, stream: boolean): Promise<Response> {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream });
    return fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  const cases = STYLES.flatMap((style) =>
    VENDORS.flatMap((upstream) => [true, false].map((stream) => ({ style, upstream, stream }))),
  );
  it.each(cases)(
    'costs no more than the model can read and write: $style over $upstream, streamed $stream',
    async ({ style, upstream, stream }) => {
      const { input, output, sources } = await used(() => ask(style, MODEL_OVER[upstream], stream));
      expect([Number(input), Number(output)]).toEqual([CONTEXT_WINDOW, CONTEXT_WINDOW]);
      expect(sources).toContain('held');
    },
  );

  it('costs no more than a model of embeddings can read', async () => {
    const { input, amount } = await used(() =>
      fetch(`${gateway.baseUrl}/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'text-embedding', input: ['Hello', 'there'] }),
      }),
    );
    expect(Number(input)).toBe(CONTEXT_WINDOW);
    expect(amount).toBe(2_000_000n * input);
  });

  it('is believed up to that: a file as long as the context window, and the longest answer', async () => {
    gateway.vendor.rewrite = (json) =>
      json
        .replaceAll(/"promptTokenCount":\s*\d+/g, '"promptTokenCount":1048576')
        .replaceAll(/"candidatesTokenCount":\s*\d+/g, '"candidatesTokenCount":65535')
        .replaceAll(/"thoughtsTokenCount":\s*\d+/g, '"thoughtsTokenCount":0');
    const body = { contents: [{ parts: [{ fileData: { fileUri: 'https://a.test/x', mimeType: 'video/mp4' } }] }] };
    const record = await used(() =>
      fetch(`${gateway.baseUrl}/v1beta/models/${MODEL_OVER.gemini}:generateContent`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
    expect(record).toMatchObject({ input: 1_048_576n, output: 65_535n });
    expect(new Set(record.sources)).toEqual(new Set(['upstream']));
  });

  it('is shown to operators by name, and leaves the books in order', async () => {
    await used(() => ask('chat', MODEL_OVER.chat, false));
    const { values } = await signals.usageBeyondBounds.get();
    expect(values.find(({ labels }) => labels.upstream === 'chat')?.value).toBeGreaterThan(0);
    await gateway.settled();
    const report = await new ReconciliationService(gateway.database).run({ full: true });
    expect(report?.findings.filter(({ check }) => check !== 'account_balances')).toEqual([]);
  });
});
