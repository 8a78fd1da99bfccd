import { createTestDatabase, describeWithRedis, eventually, type TestDatabase, uniqueRedisPrefix } from '#testing';
import { spawnApp, type SpawnedProcess } from '../harness/spawned-process.js';
import { FakeTextVendor } from '../harness/text-vendor/fake-text-vendor.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const KEY = 'sk-test-0123456789abcdef';
/** How long the failing upstream asks to be left alone. */
const REST_MS = 15_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describeWithRedis('The text upstreams of two API processes', (redisUrl) => {
  let test: TestDatabase;
  let first: FakeTextVendor;
  let second: FakeTextVendor;
  let replicas: SpawnedProcess[];
  let urls: readonly [string, string];

  beforeAll(async () => {
    test = await createTestDatabase();
    [first, second] = await Promise.all([FakeTextVendor.start(), FakeTextVendor.start()]);
    const environment = {
      ...test.environment,
      SANDBOX_BILLING_ENABLED: 'true',
      DATABASE_POOL_SIZE: '3',
      REDIS_URL: redisUrl,
      QUEUE_PREFIX: uniqueRedisPrefix(),
      KEY_PEPPER: 'a-pepper-for-tests-only',
      GATEWAY_API_KEY: KEY,
      TEXT_RETRY_SECONDS: '0',
      ADMIN_TOKEN,
      PORT: '0',
    };
    replicas = await Promise.all([1, 2].map(() => spawnApp('api', environment)));
    const started = await Promise.all(replicas.map((replica) => replica.waitFor(/API on (http:[^\s"]+)/)));
    urls = [started[0]?.[1] ?? '', started[1]?.[1] ?? ''];
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
    await Promise.all([first.stop(), second.stop()]);
    await test.remove();
  });

  async function admin(method: string, path: string, body?: object, url = urls[0]): Promise<void> {
    const answer = await fetch(`${url}/admin/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_TOKEN}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  const ask = async (url: string, input = 'Hello', stream = false): Promise<string> =>
    (
      await fetch(`${url}/v1/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
        body: JSON.stringify({ model: 'vendor-5', input, stream }),
      })
    ).text();

  /** Whether a replica knows that an upstream cools down. */
  const leavesAlone = async (url: string, id: string): Promise<boolean> => {
    const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    return (await answer.text()).includes(`gateway_upstream_cooling_down{upstream="${id}"} 1`);
  };

  /** Asks both replicas until the vendor has heard from each. */
  const heardFromBoth = async (vendor: FakeTextVendor): Promise<void> => {
    const before = vendor.seen.length;
    const hears = async (url: string): Promise<void> => {
      const word = `through ${url} after ${before}`;
      await eventually(async () => {
        await ask(url, word);
        return vendor.seen.some(({ text }) => text.includes(word));
      });
    };
    await Promise.all(urls.map(hears));
  };

  const upstream = (id: string, vendor: FakeTextVendor, priority: number) => ({
    id,
    protocol: 'chat',
    base_url: vendor.baseUrl,
    models: { 'vendor-5': 'theirs' },
    priority,
  });

  it('change at both without a restart, while a stream on the old one runs to its end', async () => {
    await admin('POST', '/upstreams', upstream('first', first, 0));
    await heardFromBoth(first);

    first.pauseMs = 400;
    const running = ask(urls[1], 'Hello', true);
    await eventually(() => first.seen.some(({ body }) => body['stream'] === true));
    await admin('PATCH', '/upstreams/first', { base_url: second.baseUrl });
    await heardFromBoth(second);
    expect(await running).toContain('response.completed');
    expect(first.aborted).toBe(0);
    first.pauseMs = 0;
    await admin('PATCH', '/upstreams/first', { base_url: first.baseUrl });
    await heardFromBoth(first);
  });

  it('cool down at both when one fails, are probed by one request, and recover for both', async () => {
    await admin('POST', '/upstreams', upstream('second', second, 1));
    // A replica that lists them has them in service.
    await admin('GET', '/upstreams', undefined, urls[1]);
    first.fault = 'refusal';
    first.refusal = { status: 429, headers: { 'retry-after-ms': String(REST_MS) } };
    const seenBefore = first.seen.length;
    await ask(urls[0]);
    const coolingAtMs = performance.now();
    await eventually(() => leavesAlone(urls[1], 'first'));
    for (const url of urls) expect(await ask(url)).toContain('completed');
    expect(first.seen.length - seenBefore).toBe(1);

    first.fault = 'none';
    let open = (): void => undefined;
    first.gate = { at: 'start', opened: new Promise((resolve) => (open = resolve)) };
    await pause(REST_MS + 200 - (performance.now() - coolingAtMs));
    const whileCooling = first.seen.length;
    const requests = Array.from({ length: 10 }, (_, index) => ask(urls[index % 2 ? 1 : 0]));
    let answered = 0;
    for (const request of requests) void request.then(() => (answered += 1));
    await eventually(() => answered >= requests.length - 1);
    expect(first.seen.length - whileCooling).toBe(1);
    open();
    for (const answer of await Promise.all(requests)) expect(answer).toContain('completed');
    await heardFromBoth(first);
  });
});
