import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import { startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { STYLES, type Style, textRequest } from '../harness/text-vendor/text-requests.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const FIGURES = '{ input_token: 30, cached_input_token: 3, output_token: 70 }';
/** Of the vendor's 11 tokens of input, 3 from a cache, and 7 of output. */
const COST = '0.000739';

const upstream = (protocol: Style, more = ''): string => `
  - id: paid-${protocol}
    protocol: ${protocol}
    base_url: "VENDOR_URL"
    key: sk-vendor
    models: { paid-${protocol}: vendor-${protocol} }
    ${protocol === 'chat' ? 'embedding_models: { paid-embedding: vendor-embedding }' : ''}
    reports_cost: openrouter
    costs:
      unit: CNY
      per_quantity: 1000000
      rates: { CNY: 0.5, USD: 1 }
      paid-${protocol}: ${FIGURES}
      ${protocol === 'chat' ? 'paid-embedding: { input_token: 500 }' : ''}
${more}`;

interface Costed extends JsonObject {
  readonly id: string;
  readonly model: string;
  readonly request_id: string;
  readonly upstream: string | null;
  readonly amount: string;
  readonly cost: string | null;
  readonly cost_currency: string | null;
  readonly cost_source: string | null;
  readonly cost_worth: string | null;
}

/** What vendors and gateways say of money, in the usage of a reply. */
const reporting =
  (charge: object) =>
  (sent: string): string =>
    sent.replace(/\{.*\}/, (json) => {
      const within = (value: unknown): unknown => {
        if (Array.isArray(value)) return value.map(within);
        if (typeof value !== 'object' || value === null) return value;
        return Object.fromEntries(
          Object.entries(value).map(([name, inner]) => [
            name,
            name === 'usage' && typeof inner === 'object' && inner !== null ? { ...inner, ...charge } : within(inner),
          ]),
        );
      };
      return JSON.stringify(within(JSON.parse(json)));
    });

const CASES = STYLES.flatMap((style) =>
  STYLES.flatMap((over) => [false, true].map((stream) => [style, over, stream] as const)),
);

describe('What a text request cost the operator', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    const more = [
      ...STYLES.map((protocol) => upstream(protocol)),
      `  - { id: unknown-cost, protocol: chat, base_url: "VENDOR_URL", key: k, models: { paid-unknown: vendor-chat } }`,
    ].join('\n');
    gateway = await startTextGateway({ ADMIN_TOKEN }, { more });
    await gateway.spareMoney();
    const models = [...STYLES.map((style) => `paid-${style}`), 'paid-unknown', 'paid-embedding'];
    const prices = models.flatMap((model) =>
      ['input_token', 'output_token'].map((unit) => ({ model, unit, amount: '0', per_quantity: 1_000_000 })),
    );
    await admin('POST', '/prices/import', { effective_from: '2026-01-01', prices });
  });
  afterAll(() => gateway.stop());
  afterEach(() => {
    gateway.vendor.rewrite = (json) => json;
    gateway.vendor.fault = 'none';
  });

  const admin = (method: string, path: string, body?: unknown) =>
    gateway.send<{ readonly data: unknown }>(method, `/admin/v1${path}`, body, {
      authorization: `Bearer ${ADMIN_TOKEN}`,
    });

  const records = async (): Promise<readonly Costed[]> =>
    (await admin('GET', '/usage/records?limit=1000')).body.data as readonly Costed[];

  /** The record of the request that `run` makes. */
  async function recordOf(run: () => Promise<Response>): Promise<Costed> {
    const known = new Set((await records()).map(({ id }) => id));
    const answer = await run();
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

  it.each(CASES)(
    'stands beside the price on the record of %s over %s, streamed: %p, by the figures of the entry, also where it is free',
    async (style, over, stream) => {
      expect(await recordOf(() => ask(style, `paid-${over}`, stream))).toMatchObject({
        upstream: `paid-${over}`,
        amount: '0.000000',
        cost: COST,
        cost_currency: 'CNY',
        cost_source: 'configured',
        cost_worth: '0.000370',
      });
    },
  );

  it.each(CASES.filter(([, over]) => over !== 'gemini'))(
    'is what the vendor reports of %s over %s, streamed: %p, where the entry says that it does',
    async (style, over, stream) => {
      gateway.vendor.rewrite = reporting({ cost: 0.004_210_4, is_byok: false });
      expect(await recordOf(() => ask(style, `paid-${over}`, stream))).toMatchObject({
        cost: '0.004210',
        cost_currency: 'USD',
        cost_source: 'reported',
        cost_worth: '0.004210',
      });
    },
  );

  it('is null where nothing is known of it', async () => {
    gateway.vendor.rewrite = reporting({ cost: 5, cost_in_usd_ticks: 5 });
    expect(await recordOf(() => ask('chat', 'paid-unknown', false))).toMatchObject({
      upstream: 'unknown-cost',
      cost: null,
      cost_currency: null,
      cost_source: null,
      cost_worth: null,
    });
  });

  it('is that of the input for embeddings', async () => {
    const embed = () =>
      fetch(`${gateway.baseUrl}/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'paid-embedding', input: ['one', 'two'] }),
      });
    expect(await recordOf(embed)).toMatchObject({ cost: '0.004000', cost_currency: 'CNY', cost_source: 'configured' });
  });

  it('is written once for requests that share a statement, each with its own', async () => {
    const known = new Set((await records()).map(({ id }) => id));
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        await (await ask('chat', index % 2 === 0 ? 'paid-chat' : 'paid-unknown', index % 3 === 0)).text();
      }),
    );
    const made = await eventually(async () => {
      const written = (await records()).filter(({ id }) => !known.has(id));
      return written.length === 20 && written;
    });
    for (const { model, cost } of made) expect(cost).toBe(model === 'paid-chat' ? COST : null);
  });

  it('counts tries that failed over, which may be billed all the same', async () => {
    gateway.vendor.fault = 'error-500';
    await (await ask('chat', 'paid-chat', false)).text();
    const metrics = await (await fetch(`${gateway.baseUrl}/metrics`)).text();
    expect(metrics).toMatch(/^gateway_text_failed_over_total\{upstream="paid-chat",model="paid-chat"\} [1-9]/m);
  });

  it('is shown to no customer', async () => {
    for (const path of ['/v1/usage/records?limit=1000', '/v1/usage', '/v1/usage/records?format=csv', '/v1/ledger']) {
      const answer = await fetch(gateway.baseUrl + path, { headers: { authorization: `Bearer ${gateway.key}` } });
      expect(answer.status).toBe(200);
      expect(await answer.text()).not.toMatch(/cost|"upstream":|(?:^|,)upstream(?:,|$)|0\.000739|0\.004210/m);
    }
  });
});
