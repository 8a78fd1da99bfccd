import { ReconciliationService } from '#features';
import { Database } from '#platform';
import { createTestDatabase, describeWithRedis, eventually, type TestDatabase, uniqueRedisPrefix } from '#testing';
import { spawnApp, type SpawnedProcess } from '../harness/spawned-process.js';
import { FakeTextVendor } from '../harness/text-vendor/fake-text-vendor.js';
import { STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const MODEL = 'vendor-5';
const PROTOCOLS = ['responses', 'chat', 'messages', 'gemini'] as const;
const WORDS = 'one two three four five six seven eight nine ten';
const REQUESTS = 48;
/** How long nothing may stay held when the last answer is over, in milliseconds. */
const SETTLED_WITHIN_MS = 15_000;

interface Made {
  readonly id: string;
  readonly key: string;
}

interface Told {
  readonly id: string;
  readonly status: number;
  readonly text: string;
}

describeWithRedis('Text of two API processes, while operators act', (redisUrl) => {
  let test: TestDatabase;
  let database: Database;
  let vendor: FakeTextVendor;
  let replicas: SpawnedProcess[];
  let urls: readonly string[];
  let accountId: string;

  beforeAll(async () => {
    test = await createTestDatabase();
    database = test.database;
    vendor = await FakeTextVendor.start();
    vendor.script = () => ({ reasoning: undefined, text: WORDS, call: undefined });
    vendor.pauseMs = 15;
    const environment = {
      ...test.environment,
      SANDBOX_BILLING_ENABLED: 'true',
      REDIS_URL: redisUrl,
      QUEUE_PREFIX: uniqueRedisPrefix(),
      KEY_PEPPER: 'a-pepper-for-tests-only',
      ADMIN_TOKEN,
      PORT: '0',
    };
    replicas = await Promise.all([1, 2].map(() => spawnApp('api', environment)));
    const started = await Promise.all(replicas.map((replica) => replica.waitFor(/API on (http:[^\s"]+)/)));
    urls = started.map(([, url]) => url ?? '');
    for (const protocol of PROTOCOLS) await operate('POST', '/upstreams', upstream(protocol));
    ({ id: accountId } = await operate<{ id: string }>('POST', '/accounts', { name: 'busy' }));
    await operate('POST', `/accounts/${accountId}/top-ups`, { amount: '100', reference: 'first' });
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
    await vendor.stop();
    await test.remove();
  });

  let turn = 0;
  /** Through the one process and the other in turn. */
  const next = (): string => urls[(turn += 1) % urls.length] ?? '';

  async function operate<Data>(method: string, path: string, body?: object): Promise<Data> {
    const answer = await fetch(`${next()}/admin/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_TOKEN}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
    return (text === '' ? {} : (JSON.parse(text) as { data: unknown }).data) as Data;
  }

  const upstream = (protocol: (typeof PROTOCOLS)[number]) => ({
    id: protocol,
    protocol,
    base_url: vendor.baseUrl,
    models: { [MODEL]: 'theirs' },
  });
  const newKey = (): Promise<Made> => operate<Made>('POST', `/accounts/${accountId}/keys`, { name: 'key' });

  async function ask({ key }: Made, nth: number): Promise<Told> {
    const style = STYLES[nth % STYLES.length] ?? 'chat';
    const stream = nth % 3 > 0;
    const { path, headers, body } = textRequest(style, { key, model: MODEL, stream, text: `Question ${nth}` });
    const answer = await fetch(next() + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { id: answer.headers.get('x-request-id') ?? '', status: answer.status, text: await answer.text() };
  }

  const ACTIONS: Readonly<Record<string, (made: Made) => Promise<unknown>>> = {
    'disable the account and enable it again': async () => {
      await operate('PATCH', `/accounts/${accountId}`, { disabled: true });
      await operate('PATCH', `/accounts/${accountId}`, { disabled: false });
    },
    'rotate the key without overlap': ({ id }) => operate('POST', `/keys/${id}/rotate`, { overlap_seconds: 0 }),
    'revoke the key': ({ id }) => operate('POST', `/keys/${id}/revoke`, {}),
    'limit the key to less than it holds': ({ id }) => operate('PATCH', `/keys/${id}`, { daily_limit: '0.000001' }),
    'remove all upstreams and add them again': async () => {
      for (const protocol of PROTOCOLS) await operate('DELETE', `/upstreams/${protocol}`);
      for (const protocol of PROTOCOLS) await operate('POST', '/upstreams', upstream(protocol));
    },
    'switch all upstreams off and on': async () => {
      for (const enabled of [false, true])
        for (const protocol of PROTOCOLS) await operate('PATCH', `/upstreams/${protocol}`, { enabled });
    },
    'take most of the balance away and give it back': async () => {
      const { available } = await operate<{ available: string }>('GET', `/accounts/${accountId}`);
      const amount = String(Math.floor(Number(available) / 2));
      const less = { amount: `-${amount}`, reference: `less-${turn}`, note: 'for a moment' };
      await operate('POST', `/accounts/${accountId}/adjustments`, less);
      await operate('POST', `/accounts/${accountId}/top-ups`, { amount, reference: `back-${turn}` });
    },
  };

  it.each(Object.keys(ACTIONS).flatMap((name) => [1, 30].map((heard) => [name, heard] as const)))(
    'is charged once for what was delivered, holds nothing afterwards, and balances: %s, when the vendor has heard %i requests',
    async (name, heard) => {
      const made = await newKey();
      const before = vendor.seen.length;
      const asking = Promise.all(Array.from({ length: REQUESTS }, (_, nth) => ask(made, nth)));
      await eventually(() => vendor.seen.length >= before + heard, { pauseMs: 5 });
      await ACTIONS[name]?.(made);
      const told = await asking;
      await eventually(
        async () => {
          const { rows } = await database.query({
            text: `select from account where held_micros <> 0 union all select from request_hold where not is_reservation`,
          });
          return rows.length === 0;
        },
        { limitMs: SETTLED_WITHIN_MS },
      );
      const { rows } = await database.query<{ id: string; amount: bigint; output: bigint }>({
        text: `select request_id as id, amount_micros as amount, output_tokens as output from usage_record where api_key_id = $1`,
        values: [made.id],
      });
      const found = told.map(({ id, status, text }) => {
        const charged = rows.filter((row) => row.id === id).map(({ output, amount }) => output > 0n && amount > 0n);
        const isAllowed = status < 500 || status === 503 || status === 529;
        const isDue = status === 200 && text.includes('one');
        const isRight = isAllowed && charged.length <= 1 && (!isDue || charged[0] === true);
        return isRight ? 'right' : `${id}: ${status} ${text.slice(-300)}: ${JSON.stringify(charged)}`;
      });
      expect(found.filter((each) => each !== 'right')).toEqual([]);
      expect((await new ReconciliationService(database).run())?.findings).toEqual([]);
    },
  );
});
