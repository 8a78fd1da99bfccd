import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Database, embeddedDatabaseUrl } from '#platform';
import { createTestDatabase, eventually, freePort, PATIENT_WITH_POSTGRES } from '#testing';
import { spawnApp, type SpawnedProcess } from '../harness/spawned-process.js';
import { FakeTextVendor } from '../harness/text-vendor/fake-text-vendor.js';

const KEY = 'sk-children-0123456789';
const ADMIN_TOKEN = 'an-admin-token-for-tests';
/** How long a stop waits for streams that go on. */
const TEXT_DRAIN_SECONDS = 600;

interface Asked {
  readonly method?: string;
  readonly body?: object;
  readonly key?: string;
  /** Default: a connection of its own. */
  readonly agent?: Agent | false;
}

/** Sends a request, and resolves when its answer begins. */
async function open(url: string, { method = 'GET', body, key = KEY, agent = false }: Asked = {}) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = request(url, { method: body ? 'POST' : method, headers, agent });
  sent.end(body && JSON.stringify(body));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
}

async function ask(url: string, asked: Asked = {}): Promise<{ status: number; body: string }> {
  const answer = await open(url, asked);
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}

/** The sum of a metric over all series that hold these labels. */
function metric(page: string, name: string, labels = ''): number {
  const lines = page.split('\n').filter((line) => line.startsWith(name) && line.includes(labels));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

interface Line {
  readonly role: string;
  readonly pid: number;
  readonly event?: string;
}

const linesOf = (process: SpawnedProcess): Line[] =>
  process
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

/** How often a process of the gateway said so. */
const timesSaid = (process: SpawnedProcess, event: string): number =>
  linesOf(process).filter((line) => line.event === event).length;

/** The children that have begun to serve requests so far, the latest of each number last. */
const startedChildren = (process: SpawnedProcess): Line[] =>
  linesOf(process).filter(({ role, event }) => role.startsWith('api-') && event === 'process.started');

describe('A gateway with API_PROCESSES=2 on its embedded database', () => {
  let folder: string;
  let vendor: FakeTextVendor;
  let gateway: SpawnedProcess;
  let baseUrl: string;
  let environment: Record<string, string>;

  async function start(): Promise<void> {
    gateway = await spawnApp('gateway', environment);
    await gateway.waitFor(/is ready, with workers/);
  }
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-children-'));
    vendor = await FakeTextVendor.start();
    const upstreams = join(folder, 'upstreams.yaml');
    await writeFile(
      upstreams,
      `upstreams: [{ id: chat, protocol: chat, base_url: "${vendor.baseUrl}", key: k, models: { vendor-5: vendor-chat } }]`,
    );
    const port = await freePort();
    baseUrl = `http://127.0.0.1:${port}`;
    environment = {
      ...PATIENT_WITH_POSTGRES,
      API_PROCESSES: '2',
      PORT: String(port),
      DATA_DIR: join(folder, 'data'),
      GATEWAY_API_KEY: KEY,
      ADMIN_TOKEN,
      SANDBOX_BILLING_ENABLED: 'true',
      UPSTREAMS_FILE: upstreams,
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
      TEXT_DRAIN_SECONDS: String(TEXT_DRAIN_SECONDS),
      // What a busy machine does not count in time would pass uncounted.
      RATE_LIMIT_ON_STORE_FAILURE: 'refuse',
    };
    await start();
  });
  afterAll(async () => {
    if (gateway.child.exitCode === null) await gateway.end('SIGTERM');
    await vendor.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    vendor.gate = undefined;
  });

  const metrics = async (): Promise<string> => (await ask(`${baseUrl}/metrics`, { key: ADMIN_TOKEN })).body;
  const stream = (agent?: Agent): Promise<IncomingMessage> =>
    open(`${baseUrl}/v1/chat/completions`, {
      body: { model: 'vendor-5', stream: true, messages: [{ role: 'user', content: 'Hello' }] },
      ...(agent && { agent }),
    });
  /** A stream that waits in its middle until it is let go on. */
  async function heldStream(): Promise<{ answer: IncomingMessage; letGoOn: () => void }> {
    let letGoOn = (): void => undefined;
    const opened = new Promise<void>((resolve) => (letGoOn = resolve));
    const reached = new Promise<void>((resolve) => (vendor.gate = { at: 'middle', opened, onReached: resolve }));
    const answer = await stream();
    await reached;
    return { answer, letGoOn };
  }

  it('answers from both children, whose lines name them, and sums what they have counted on one page', async () => {
    for (let turn = 0; turn < 20; turn += 1) expect((await ask(`${baseUrl}/v1/balance`)).status).toBe(200);
    const page = await metrics();
    expect(metric(page, 'gateway_http_requests_total', 'route="/v1/balance"')).toBe(20);
    expect(metric(page, 'gateway_http_request_duration_seconds_count', 'route="/v1/balance"')).toBe(20);
    expect(metric(page, 'gateway_build_info')).toBe(1);
    expect(metric(page, 'gateway_api_processes ')).toBe(2);
    await eventually(() => linesOf(gateway).filter((line) => line.event === 'request.completed').length >= 20);
    const roles = linesOf(gateway).flatMap(({ role, event }) => (event === 'request.completed' ? [role] : []));
    expect(new Set(roles)).toEqual(new Set(['api-1', 'api-2']));
  });

  it('says on one page how the whole stands', async () => {
    const { status, body } = await ask(`${baseUrl}/readyz`);
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ parts: { api_processes: { ok: true }, database: { ok: true } } });
  });

  it('holds the rate limit of a key over both children together', async () => {
    const admin = async (path: string, body: object): Promise<Record<string, string>> => {
      const answer = await ask(`${baseUrl}/admin/v1${path}`, { body, key: ADMIN_TOKEN });
      return (JSON.parse(answer.body) as { data: Record<string, string> }).data;
    };
    const account = await admin('/accounts', { name: 'limited' });
    const { key = '' } = await admin(`/accounts/${account['id']}/keys`, { name: 'slow', requests_per_minute: 5 });
    const statuses: number[] = [];
    const body = { model: 'eta-image-2.0', prompt: 'a lighthouse' };
    // One that is refused because its count comes late may be counted all the same.
    let late = 0;
    const counted = async (): Promise<number | false> => {
      const { status } = await ask(`${baseUrl}/v1/quote`, { key, body });
      if (status === 503) late += 1;
      return status !== 503 && status;
    };
    for (let turn = 0; turn < 9; turn += 1) statuses.push(await eventually(counted));
    expect(statuses.filter((status) => status !== 429 && status !== 200)).toEqual([]);
    const allowed = statuses.filter((status) => status === 200).length;
    expect(allowed).toBeLessThanOrEqual(5);
    expect(allowed).toBeGreaterThanOrEqual(5 - late);
  });

  it('serves on when a child is killed, starts another in its place and frees what the dead one held', async () => {
    const database = new Database(embeddedDatabaseUrl(environment['DATA_DIR'] ?? '') ?? '');
    const holds = async (): Promise<number> =>
      (await database.query<{ n: number }>({ text: 'select count(*)::integer as n from request_hold' })).rows[0]?.n ??
      -1;
    try {
      const before = metric(await metrics(), 'gateway_http_requests_total', 'route="/v1/balance"');
      const held = [await heldStream(), await heldStream()];
      expect(await holds()).toBeGreaterThan(0);
      const [victim] = startedChildren(gateway);
      process.kill(victim?.pid ?? 0, 'SIGKILL');
      const ends = held.map(({ answer }) => text(answer).catch(() => 'cut'));
      // One of two; the other child has its stream still.
      expect(await Promise.race(ends)).toBe('cut');
      for (let turn = 0; turn < 10; turn += 1) expect((await ask(`${baseUrl}/v1/balance`)).status).toBe(200);
      for (const { letGoOn } of held) letGoOn();
      expect((await Promise.all(ends)).filter((end) => end.includes('[DONE]'))).toHaveLength(1);
      await eventually(() => startedChildren(gateway).filter(({ role }) => role === victim?.role).length === 2);
      await eventually(async () => (await holds()) === 0);
      await eventually(async () => metric(await metrics(), 'gateway_api_processes ') === 2);
      const page = await metrics();
      expect(metric(page, 'gateway_api_processes_lost_total')).toBe(1);
      expect(metric(page, 'gateway_http_requests_total', 'route="/v1/balance"')).toBe(before + 10);
    } finally {
      await database.close();
    }
  });

  it('ends a child that stands still, and has another answer what it was given and had not taken', async () => {
    const killed = timesSaid(gateway, 'process.child_killed');
    const children = startedChildren(gateway);
    const victim = children.findLast(({ role }) => role === 'api-1');
    process.kill(victim?.pid ?? 0, 'SIGSTOP');
    // Node deals them in turn, so that each child is given two.
    const asked = [1, 2, 3, 4].map(() => ask(`${baseUrl}/v1/balance`));
    await gateway.waitFor(/it was silent for 30 s/);
    for (const answer of asked) expect((await answer).status).toBe(200);
    expect(timesSaid(gateway, 'process.child_killed')).toBe(killed + 1);
    // The line and the metric come on ways of their own, either one first.
    await eventually(() => startedChildren(gateway).length === children.length + 1);
    await eventually(async () => metric(await metrics(), 'gateway_api_processes ') === 2);
  }, 90_000);

  it('starts its children anew at SIGUSR2 under load without a failed request, and loses nothing that was counted', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 2 });
    const children = startedChildren(gateway).length;
    const before = metric(await metrics(), 'gateway_http_requests_total', 'route="/v1/balance"');
    const over = new AbortController();
    const statuses: number[] = [];
    const load = async (): Promise<void> => {
      while (!over.signal.aborted) statuses.push((await ask(`${baseUrl}/v1/balance`, { agent })).status);
    };
    const loads = [load(), load()];
    gateway.child.kill('SIGUSR2');
    await gateway.waitFor(/"event":"process.renewed"/);
    over.abort();
    await Promise.all(loads);
    agent.destroy();
    await eventually(() => startedChildren(gateway).length === children + 2);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    const after = metric(await metrics(), 'gateway_http_requests_total', 'route="/v1/balance"');
    expect(after - before).toBe(statuses.length);
  });

  it('lets streams of both children come to their end at SIGTERM', async () => {
    const held = [await heldStream(), await heldStream()];
    const before = [timesSaid(gateway, 'process.stopping'), timesSaid(gateway, 'process.stopped')];
    const ended = gateway.end('SIGTERM');
    await eventually(() => timesSaid(gateway, 'process.stopping') === (before[0] ?? 0) + 3);
    for (const { letGoOn } of held) letGoOn();
    for (const { answer } of held) expect(await text(answer)).toContain('[DONE]');
    expect(await ended).toBe(0);
    expect(timesSaid(gateway, 'process.stopped')).toBe((before[1] ?? 0) + 3);
  });

  it('takes no new requests at SIGTERM, and ends at once, children and all, at a second signal', async () => {
    await start();
    const { answer } = await heldStream();
    const cut = text(answer).catch(() => 'cut');
    const children = startedChildren(gateway);
    gateway.child.kill('SIGTERM');
    await eventually(() => timesSaid(gateway, 'process.stopping') === 3);
    // The stream goes on meanwhile, and nobody else is let in.
    await eventually(() =>
      ask(`${baseUrl}/v1/balance`).then(
        () => false,
        ({ code }: { code?: string }) => code === 'ECONNREFUSED',
      ),
    );
    const signalledMs = performance.now();
    expect(await gateway.end('SIGTERM')).toBe(130);
    // The stream would be waited for.
    expect(performance.now() - signalledMs).toBeLessThan((TEXT_DRAIN_SECONDS * 1_000) / 2);
    expect(await cut).toBe('cut');
    for (const { pid } of children) await eventually(() => !isAlive(pid));
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('The API alone with several processes', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'api-children-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ['0', 'Configuration: API_PROCESSES must be a whole number from 1 to 64, or auto, not "0"'],
    ['many', 'Configuration: API_PROCESSES must be a whole number from 1 to 64, or auto, not "many"'],
    ['2', 'Configuration: API_PROCESSES must be 1 in the API without DATABASE_URL, not 2'],
  ])('refuses API_PROCESSES=%s where it cannot be had, in one line', async (value, problem) => {
    const api = await spawnApp('api', { API_PROCESSES: value, DATA_DIR: folder, PORT: '0' });
    expect(await api.exited()).toBe(1);
    expect(api.output().trim().split('\n')).toHaveLength(1);
    expect(api.output()).toContain(problem.replaceAll('"', String.raw`\"`));
  });

  it('exits when a child cannot start, which says why', async () => {
    const nowhere = `postgresql://gateway:secret-password@127.0.0.1:${await freePort()}/gateway`;
    const api = await spawnApp('api', {
      API_PROCESSES: '2',
      DATABASE_URL: nowhere,
      START_WAIT_SECONDS: '1',
      DATA_DIR: folder,
      PORT: '0',
      KEY_PEPPER: 'x'.repeat(16),
    });
    expect(await api.exited()).toBe(1);
    expect(api.output()).toContain('Postgres (DATABASE_URL) did not answer within START_WAIT_SECONDS=1');
    expect(api.output()).toMatch(/API process \d ended before it served requests/);
  });

  it('serves health and metrics of the whole on OPS_PORT, from a process that opens no database', async () => {
    const test = await createTestDatabase();
    const opsPort = await freePort();
    const api = await spawnApp('api', {
      ...test.environment,
      API_PROCESSES: 'auto',
      DATABASE_POOL_SIZE: '3',
      KEY_PEPPER: 'a-pepper-for-tests-only',
      GATEWAY_API_KEY: KEY,
      DATA_DIR: folder,
      PORT: '0',
      OPS_PORT: String(opsPort),
    });
    try {
      const [, url = ''] = await api.waitFor(/API on (http:\S+) is ready/);
      const count = availableParallelism();
      for (let turn = 0; turn < 6; turn += 1) expect((await ask(`${url}/v1/balance`)).status).toBe(200);
      const ops = `http://127.0.0.1:${opsPort}`;
      const page = (await ask(`${ops}/metrics`)).body;
      expect(metric(page, 'gateway_http_requests_total', 'route="/v1/balance"')).toBe(6);
      expect(metric(page, 'gateway_api_processes ')).toBe(count > 1 ? count : 0);
      expect(metric(page, 'gateway_database_pool_limit')).toBe(3 * count);
      expect(JSON.parse((await ask(`${ops}/readyz`)).body)).toMatchObject({ parts: { database: { ok: true } } });
      expect(await api.end('SIGTERM')).toBe(0);
    } finally {
      if (api.child.exitCode === null) await api.end('SIGKILL');
      await test.remove();
    }
  });
});
