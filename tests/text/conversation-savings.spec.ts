import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import { FakeTextVendor } from '../harness/text-vendor/fake-text-vendor.js';
import { MODEL_OVER } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest } from '../harness/text-vendor/text-requests.js';
import { startTestGateway, TEST_KEY, type TestGateway } from '../harness/test-gateway.js';

const TURNS = 10;
const CHARACTERS_PER_TOKEN = 4;

const commonLength = (one: string, other: string): number => {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
};

/** A vendor account that bills what it has read before as cached: the longest beginning that an earlier request had in common. */
async function startCachingVendor(): Promise<FakeTextVendor> {
  const vendor = await FakeTextVendor.start();
  vendor.rewrite = (json) => {
    const { text } = vendor.last;
    const known = Math.max(0, ...vendor.seen.slice(0, -1).map((earlier) => commonLength(text, earlier.text)));
    const [input, cached] = [text.length, known].map((length) => Math.floor(length / CHARACTERS_PER_TOKEN)) as [
      number,
      number,
    ];
    return json
      .replace(/"(prompt_tokens|promptTokenCount)":\d+/, `"$1":${input}`)
      .replace(/"(cached_tokens|cachedContentTokenCount|cache_read_input_tokens)":\d+/, `"$1":${cached}`)
      .replace(
        /"input_tokens":\d+/,
        `"input_tokens":${json.includes('cache_read_input_tokens') ? input - cached : input}`,
      );
  };
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

  /** Which vendor answered each turn. */
  async function run(
    minutes: string,
    [style, protocol]: readonly [Style, Style],
    session: string,
    dies: boolean,
  ): Promise<number[]> {
    const gateway = gateways[minutes]!;
    const model = MODEL_OVER[protocol];
    const history: JsonObject[] = [];
    const answeredBy: number[] = [];
    for (const vendor of vendors) vendor.spoiled.clear();
    for (let turn = 0; turn < TURNS; turn += 1) {
      const said = `${session} ${turn} ${'many words '.repeat(200)}`;
      if (dies && turn === TURNS / 2) vendors[answeredBy[turn - 1]!]!.spoiled.set(session, { status: 503, body: {} });
      const { path, headers, body } = textRequest(style, { key: TEST_KEY, model, stream: false });
      const sent = { ...body, [LISTS[style]]: [...history, ...turnsOf(style, said)] };
      const answer = await gateway.send('POST', path, sent, { ...headers, 'x-session-id': session });
      expect(answer.status).toBe(200);
      history.push(...turnsOf(style, said, 'Yes.'));
      const latest = vendors.map(({ seen }) => seen.at(-1)?.text.includes(`${session} ${turn} `) === true);
      const [dead] = vendors.flatMap(({ spoiled }, index) => (spoiled.size > 0 ? [index] : []));
      answeredBy.push(latest.findIndex((isAsked, index) => isAsked && index !== dead));
    }
    return answeredBy;
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

  const pairs = STYLES.flatMap((style) => {
    const other = STYLES.find((protocol) => protocol !== style)!;
    return [[style, style] as const, [style, other] as const];
  });

  it.each(pairs)(
    'stay at one account until it dies, and then at the other, none of them lost: the %s style over %s',
    async (style, protocol) => {
      for (const place of [1, 2, 3]) {
        const answeredBy = await run('60', [style, protocol], `dying-${style}-${protocol}-${place}`, true);
        const [first, last] = [answeredBy[0], answeredBy.at(-1)];
        expect(answeredBy).toEqual([...Array<unknown>(TURNS / 2).fill(first), ...Array<unknown>(TURNS / 2).fill(last)]);
        expect(last).not.toBe(first);
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
