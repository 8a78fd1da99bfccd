import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#contracts';
import { ConversationReport } from '#features';
import { describeWithRedis, eventually, uniqueRedisPrefix } from '#testing';
import { type AdminGateway, startAdminGateway } from '../harness/admin-gateway.js';
import { billCached } from '../harness/text-vendor/caching-vendor.js';
import { FakeTextVendor } from '../harness/text-vendor/fake-text-vendor.js';
import { MODEL_OVER } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest } from '../harness/text-vendor/text-requests.js';
import {
  createGatewayPlace,
  type GatewayPlace,
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from '../harness/test-gateway.js';

const TURNS = 10;
async function startCachingVendor(): Promise<FakeTextVendor> {
  const vendor = await FakeTextVendor.start();
  billCached(vendor);
  vendor.script = ({ text }) => ({ reasoning: undefined, text: `heard ${text.slice(0, 20)}`, call: undefined });
  return vendor;
}

const LISTS: Readonly<Record<Style, string>> = {
  responses: 'input',
  messages: 'messages',
  gemini: 'contents',
  chat: 'messages',
};

/** One turn of the user, and of the model, as the style has them in its history. */
const turnsOf = (style: Style, said: string, answered?: string): JsonObject[] => {
  if (style === 'gemini')
    return [
      { role: 'user', parts: [{ text: said }] },
      ...(answered === undefined ? [] : [{ role: 'model', parts: [{ text: answered }] }]),
    ];
  return [
    { role: 'user', content: said },
    ...(answered === undefined ? [] : [{ role: 'assistant', content: answered }]),
  ];
};

/** Each style over its own protocol, and translated. */
const PAIRS = STYLES.flatMap((style) => {
  const other = STYLES.find((protocol) => protocol !== style)!;
  return [[style, style] as const, [style, other] as const];
});

interface Course {
  readonly gatewayOf: (turn: number) => Pick<TestGateway, 'send'>;
  /** What happens before the sixth turn, and at which vendor the fifth was answered. */
  readonly inTheMiddle: (place: number) => unknown;
}

/** Which vendor answered each turn. @throws where one is not answered well. */
async function tenTurns(
  vendors: readonly FakeTextVendor[],
  [style, model]: readonly [Style, string],
  session: string,
  { gatewayOf, inTheMiddle }: Course,
): Promise<number[]> {
  const history: JsonObject[] = [];
  const answeredBy: number[] = [];
  for (const vendor of vendors) vendor.spoiled.clear();
  for (let turn = 0; turn < TURNS; turn += 1) {
    const said = `${session} ${turn} ${'many words '.repeat(200)}`;
    if (turn === TURNS / 2) await inTheMiddle(answeredBy[turn - 1]!);
    const { path, headers, body } = textRequest(style, { key: TEST_KEY, model, stream: false });
    const sent = { ...body, [LISTS[style]]: [...history, ...turnsOf(style, said)] };
    const answer = await gatewayOf(turn).send('POST', path, sent, { ...headers, 'x-session-id': session });
    expect([answer.status, turn]).toEqual([200, turn]);
    history.push(...turnsOf(style, said, 'Yes.'));
    const latest = vendors.map(({ seen }) => seen.at(-1)?.text.includes(`${session} ${turn} `) === true);
    const [dead] = vendors.flatMap(({ spoiled }, index) => (spoiled.size > 0 ? [index] : []));
    answeredBy.push(latest.findIndex((isAsked, index) => isAsked && index !== dead));
  }
  return answeredBy;
}

const isOneMove = (answeredBy: readonly number[]): boolean =>
  new Set(answeredBy.slice(0, TURNS / 2)).size === 1 &&
  answeredBy.slice(TURNS / 2).every((place) => place === 1 - answeredBy[0]!);

describe('Ten turns of an agent over two vendor accounts, of which one dies in the middle', () => {
  let folder: string;
  let vendors: FakeTextVendor[];
  const gateways: Record<string, TestGateway> = {};

  beforeAll(async () => {
    vendors = [await startCachingVendor(), await startCachingVendor()];
    folder = await mkdtemp(join(tmpdir(), 'savings-'));
    const file = join(folder, 'upstreams.yaml');
    const entries = vendors.flatMap(({ baseUrl }, index) =>
      STYLES.map(
        (protocol) =>
          `  - { id: ${protocol}-${index}, protocol: ${protocol}, base_url: "${baseUrl}", models: { ${MODEL_OVER[protocol]}: m } }\n`,
      ),
    );
    await writeFile(file, `upstreams:\n${entries.join('')}`);
    for (const minutes of ['60', '0']) {
      const environment = { UPSTREAMS_FILE: file, TEXT_RETRY_SECONDS: '0', CONVERSATION_MINUTES: minutes };
      gateways[minutes] = await startTestGateway({ workers: false, environment });
    }
  });
  afterAll(async () => {
    for (const gateway of Object.values(gateways)) await gateway.stop();
    for (const vendor of vendors) await vendor.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(
    minutes: string,
    [style, protocol]: readonly [Style, Style],
    session: string,
    dies: boolean,
  ): Promise<number[]> {
    return tenTurns(vendors, [style, MODEL_OVER[protocol]], session, {
      gatewayOf: () => gateways[minutes]!,
      inTheMiddle: (place) => dies && vendors[place]!.spoiled.set(session, { status: 503, body: {} }),
    });
  }

  /** The share of all input tokens that was billed as cached, as the usage records of so many latest requests have it. */
  async function cachedShare(minutes: string, model: string, since: string, requests: number): Promise<number> {
    const { database } = gateways[minutes]!;
    const text = `select sum(cached_input_tokens)::float8 / sum(input_tokens)::float8 as share from usage_record
      where model = $1 and created_at >= $2 having count(*) = $3`;
    const values = [model, since, requests];
    return eventually(async () => (await database.query<{ share: number }>({ text, values })).rows[0]?.share);
  }

  /** When all that was asked before is settled: what is settled later would be counted with what follows. */
  const timeAt = ({ database }: TestGateway): Promise<string> => {
    const text = `select clock_timestamp()::text as at where not exists (select 1 from account where held_micros <> 0)`;
    return eventually(async () => (await database.query<{ at: string }>({ text, values: [] })).rows[0]?.at);
  };

  it.each(PAIRS)(
    'stay at one account until it dies, and then at the other, none of them lost: the %s style over %s',
    async (style, protocol) => {
      for (const place of [1, 2, 3]) {
        const answeredBy = await run('60', [style, protocol], `dying-${style}-${protocol}-${place}`, true);
        expect([isOneMove(answeredBy), answeredBy]).toEqual([true, answeredBy]);
      }
    },
  );

  it('take more of their input from the cache than by chance while both live', async () => {
    const since = await timeAt(gateways['60']!);
    for (const minutes of ['60', '0'])
      for (const style of STYLES)
        for (const place of [1, 2, 3]) await run(minutes, [style, style], `living-${minutes}-${style}-${place}`, false);
    const shares: number[] = [];
    for (const minutes of ['60', '0']) {
      const ofStyles: number[] = [];
      for (const style of STYLES) ofStyles.push(await cachedShare(minutes, MODEL_OVER[style], since, 3 * TURNS));
      shares.push(ofStyles.reduce((sum, share) => sum + share, 0) / STYLES.length);
    }
    const [kept = 0, chance = 0] = shares;
    expect(kept).toBeGreaterThan(0.75);
    expect(kept - chance).toBeGreaterThan(0.05);
  });
});

describeWithRedis('Ten turns of an agent at two API processes, whose vendor account in the middle', (redisUrl) => {
  let place: GatewayPlace;
  let vendors: FakeTextVendor[];
  let processes: AdminGateway[];
  let sessions = 0;

  beforeAll(async () => {
    place = await createGatewayPlace();
    vendors = [await startCachingVendor(), await startCachingVendor()];
    const environment = { TEXT_RETRY_SECONDS: '0', SANDBOX_BILLING_ENABLED: 'true', QUEUE_PREFIX: uniqueRedisPrefix() };
    const options = { place, workers: false, redisUrl };
    processes = [await startAdminGateway(environment, options), await startAdminGateway(environment, options)];
  });
  afterAll(async () => {
    for (const { gateway } of processes) await gateway.stop();
    for (const vendor of vendors) await vendor.stop();
    await place.remove();
  });

  /** Changes an upstream by one process; then the other has the change too. */
  async function admin(method: string, path: string, body?: object): Promise<void> {
    const { status, body: answer } = await processes[0]!.admin(method, `/upstreams${path}`, body);
    if (status !== 200) throw new Error(JSON.stringify(answer));
    await processes[1]!.admin('GET', '/upstreams');
  }

  type End = (id: string, vendor: FakeTextVendor, session: string, model: string) => unknown;
  const ENDS: Readonly<Record<string, End>> = {
    dies: (_id, vendor, session) => vendor.spoiled.set(session, { status: 503, body: {} }),
    'is limited': (_id, vendor, session) =>
      vendor.spoiled.set(session, { status: 429, body: {}, headers: { 'retry-after': '60' } }),
    'has no weight any more': (id) => admin('PATCH', `/${id}`, { weight: 0 }),
    'is switched off': (id) => admin('PATCH', `/${id}`, { enabled: false }),
    'is removed': (id) => admin('DELETE', `/${id}`),
    'has another key': (id) => admin('PATCH', `/${id}`, { key: 'sk-another' }),
    'no longer names the model': (id, _vendor, _session, model) =>
      admin('PATCH', `/${id}`, { models: { [model]: null, 'vendor-4-vision': 'm' } }),
  };
  const cases = Object.entries(ENDS).flatMap(([what, end]) =>
    PAIRS.map(([style, protocol]) => [what, style, protocol, end] as const),
  );

  it.each(cases)(
    '%s, stay at it until then, and at the other one after: the %s style over %s',
    async (_what, style, protocol, end) => {
      const session = `session-${(sessions += 1)}`;
      const ids = vendors.map((_vendor, index) => `${session}-${index}`);
      const model = MODEL_OVER[protocol];
      for (const [index, { baseUrl }] of vendors.entries())
        await admin('POST', '', {
          id: ids[index]!,
          protocol,
          base_url: baseUrl,
          key: 'sk-vendor',
          models: { [model]: 'm' },
        });
      const answeredBy = await tenTurns(vendors, [style, model], session, {
        gatewayOf: (turn) => processes[turn % 2]!.gateway,
        inTheMiddle: (index) => end(ids[index]!, vendors[index]!, session, model),
      });
      for (const { id } of (await processes[0]!.admin<{ id: string }[]>('GET', '/upstreams')).body.data)
        if (ids.includes(id)) await admin('DELETE', `/${id}`);
      expect([isOneMove(answeredBy), answeredBy]).toEqual([true, answeredBy]);
    },
  );

  it('have most of their input from the cache all the same, as the report of the console says', async () => {
    const { database } = processes[0]!.gateway;
    const { upstreams } = await new ConversationReport(database).read();
    const sum = (field: 'input_tokens' | 'cached_input_tokens'): number =>
      upstreams.reduce((all, upstream) => all + Number(upstream[field]), 0);
    expect(sum('input_tokens')).toBeGreaterThan(0);
    expect(sum('cached_input_tokens') / sum('input_tokens')).toBeGreaterThan(0.7);
  });
});
