import { KEY_CACHE_MS } from '#features';
import { createTestDatabase, eventually, type TestDatabase } from '#testing';
import { spawnApp, type SpawnedProcess } from '../harness/spawned-process.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
/** The longest a revoked key may keep working anywhere. */
const REVOKED_WITHIN_MS = 5_000;

describe('Revoking a key', () => {
  let test: TestDatabase;
  let replicas: SpawnedProcess[];
  let urls: string[];

  beforeAll(async () => {
    test = await createTestDatabase();
    const environment = {
      ...test.environment,
      SANDBOX_BILLING_ENABLED: 'true',
      DATABASE_POOL_SIZE: '3',
      KEY_PEPPER: 'a-pepper-for-tests-only',
      ADMIN_TOKEN,
      PORT: '0',
    };
    replicas = await Promise.all([1, 2].map(() => spawnApp('api', environment)));
    const started = await Promise.all(replicas.map((replica) => replica.waitFor(/API on (http:[^\s"]+)/)));
    urls = started.map(([, url]) => url ?? '');
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
    await test.remove();
  });

  async function admin(path: string, body: object): Promise<Record<string, string>> {
    const answer = await fetch(`${urls[0]}/admin/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_TOKEN}` },
      body: JSON.stringify(body),
    });
    return ((await answer.json()) as { data: Record<string, string> }).data;
  }

  it('takes effect within 5 seconds on both of two API processes, though both were using the key', async () => {
    const account = await admin('/accounts', { name: 'two replicas' });
    const { id, key } = await admin(`/accounts/${account['id']}/keys`, { name: 'busy' });
    const statusAt = async (url: string): Promise<number> =>
      (await fetch(`${url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } })).status;
    for (const url of urls) expect(await statusAt(url)).toBe(200);

    expect(KEY_CACHE_MS).toBeLessThan(REVOKED_WITHIN_MS);
    await admin(`/keys/${id}/revoke`, {});
    // Asked all the time, so that a cache which lives on by being used would be caught.
    await Promise.all(urls.map((url) => eventually(async () => (await statusAt(url)) !== 200, { pauseMs: 50 })));
    for (const url of urls) expect(await statusAt(url)).toBe(401);
  });
});
