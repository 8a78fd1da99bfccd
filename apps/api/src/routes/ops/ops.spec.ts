import { eventually } from '#testing';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../../tests/harness/test-gateway.js';

/** How many requests a page of metrics counts under these labels; the counters are the process's, not the gateway's. */
function requestsOn(page: string, labels: string): number {
  const series = `gateway_http_requests_total{${labels}} `;
  const line = page.split('\n').find((candidate) => candidate.startsWith(series));
  return Number(line?.slice(series.length) ?? 0);
}

describe('Health and metrics of the API', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      workers: false,
      environment: { ADMIN_TOKEN: 'admin-token-for-tests', OPS_VIEWER_TOKEN: 'viewer-token-for-tests' },
    });
  });
  afterAll(() => gateway.stop());

  const metrics = async (): Promise<string> => (await fetch(`${gateway.baseUrl}/metrics`)).text();

  it('is alive and ready without a key, and names every part', async () => {
    expect(await gateway.send('GET', '/healthz', undefined, {})).toMatchObject({
      status: 200,
      body: { status: 'alive' },
    });
    expect(await gateway.send('GET', '/readyz', undefined, {})).toMatchObject({
      status: 200,
      body: {
        // That the sandbox sells is all there is to tell.
        status: 'degraded',
        reasons: [expect.stringMatching(/^sandbox: /)],
        parts: {
          database: { ok: true },
          migrations: { ok: true },
          queue: { ok: true },
          store: { ok: true },
          process: { ok: true },
        },
      },
    });
  });

  it('is not ready on a database that lacks a migration, and says how many', async () => {
    await gateway.database.query({
      text: 'update _prisma_migrations set rolled_back_at = now() where migration_name = (select max(migration_name) from _prisma_migrations)',
    });
    const { status, body } = await eventually(async () => {
      const answer = await gateway.send('GET', '/readyz', undefined, {});
      return answer.status === 503 && answer;
    });
    await gateway.database.query({ text: 'update _prisma_migrations set rolled_back_at = null' });
    expect([status, body]).toMatchObject([
      503,
      { parts: { migrations: { ok: false, reason: 'the database lacks 1 migration(s) of this version' } } },
    ]);
  });

  it('counts requests by route pattern and catalogue model, never by a made-up value', async () => {
    const before = await metrics();
    await gateway.send('GET', '/v1/tasks/task_made_up_by_a_caller');
    await gateway.send('POST', '/v1/images/generations', { model: 'a-model-made-up-by-a-caller', prompt: 'x' });
    await gateway.submit('/v1/images/generations', { model: 'eta-image-2.0', prompt: 'x' });
    await gateway.send('GET', '/made-up-path');
    const page = await metrics();
    for (const labels of [
      'route="/v1/images/generations",style="image",model="eta-image-2.0",code="200"',
      'route="/v1/images/generations",style="image",model="other",code="404"',
      'route="/v1/tasks/:task_id",style="tasks",model="none",code="404"',
    ]) {
      expect(requestsOn(page, labels) - requestsOn(before, labels)).toBe(1);
    }
    expect(page).not.toMatch(/made.up/);
  });

  it('shows queues, pool and readiness', async () => {
    const page = await metrics();
    expect(page).toMatch(/^gateway_queue_jobs\{queue="image",state="waiting"\} \d+$/m);
    expect(page).toMatch(/^gateway_queue_oldest_seconds\{queue="video"\} 0$/m);
    expect(page).toMatch(/^gateway_database_pool_limit 6$/m);
    expect(page).toMatch(/^gateway_ready\{part="database"\} 1$/m);
    expect(page).toMatch(/^gateway_build_info\{version="[^"]+"\} 1$/m);
  });

  it.each([
    ['a program on the same machine', {}, 200],
    ['an admin', { authorization: 'Bearer admin-token-for-tests' }, 200],
    [
      'a viewer through a proxy',
      { authorization: 'Bearer viewer-token-for-tests', 'x-forwarded-for': '192.0.2.1' },
      200,
    ],
    ['a stranger through a proxy', { 'x-forwarded-for': '192.0.2.1' }, 401],
    ['the key of a customer', { authorization: `Bearer ${TEST_KEY}` }, 401],
  ])('answers %s on /metrics as it should', async (_who, headers: Record<string, string>, status) => {
    expect((await fetch(`${gateway.baseUrl}/metrics`, { headers })).status).toBe(status);
  });

  it.each([
    ['listens to other machines', { HOST: '0.0.0.0' }],
    ['has a public address', { PUBLIC_BASE_URL: 'https://gateway.example' }],
    ['stands behind proxies', { TRUSTED_PROXIES: '10.0.0.0/8' }],
  ])('requires a token also from the same machine when the gateway %s', async (_case, environment) => {
    const published = await startTestGateway({
      workers: false,
      environment: { ...environment, OPS_VIEWER_TOKEN: 'viewer-token-for-tests' },
    });
    const { port } = new URL(published.baseUrl);
    const statusWith = async (headers: Record<string, string>) =>
      (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).status;
    expect(await statusWith({})).toBe(401);
    expect(await statusWith({ authorization: 'Bearer viewer-token-for-tests' })).toBe(200);
    await published.stop();
  });

  it('tells browsers to run and frame nothing', async () => {
    const { headers } = await fetch(`${gateway.baseUrl}/healthz`);
    expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-powered-by')).toBeNull();
  });
});
