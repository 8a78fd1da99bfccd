import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { abortAfter } from '#platform';
import {
  createTestDatabase,
  describeWithRedis,
  eventually,
  type S3Server,
  startS3Server,
  type TestDatabase,
  uniqueRedisPrefix,
} from '#testing';
import { type SpawnedProcess, spawnApp } from '../harness/spawned-process.js';
import { TEST_KEY } from '../harness/test-gateway.js';

type App = 'api' | 'video-worker' | 'image-worker' | 'maintenance-worker';

/** The fleet of the test: as many of each as production has at least. */
const FLEET: Readonly<Record<App, number>> = { api: 3, 'video-worker': 2, 'image-worker': 2, 'maintenance-worker': 1 };

const READY: Readonly<Record<App, RegExp>> = {
  api: /API on (http:[^\s"]+)/,
  'video-worker': /waiting for video tasks/,
  'image-worker': /waiting for image tasks/,
  'maintenance-worker': /doing maintenance/,
};

interface Member {
  readonly app: App;
  readonly process: SpawnedProcess;
  /** Where the API answers; empty for workers. */
  readonly url: string;
}

/** A load balancer in miniature: requests go round the replicas that say that they are ready. */
class Balancer {
  readonly members = new Set<Member>();
  private ready: string[] = [];
  private turn = 0;
  private readonly stopped = new AbortController();

  start(): void {
    void this.watch();
  }

  stop(): void {
    this.stopped.abort();
  }

  /** The next replica. */
  next(): string {
    this.turn += 1;
    return this.ready[this.turn % this.ready.length] ?? '';
  }

  /** Asks one no more that refused a connection, until it says again that it is ready. */
  leaveOut(url: string): void {
    const others = this.ready.filter((one) => one !== url);
    if (others.length > 0) this.ready = others;
  }

  /** Asks every replica repeatedly, as a real one does, so that its image is always a little old. */
  private async watch(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const urls = [...this.members].map(({ url }) => url).filter(Boolean);
      const asked = await Promise.all(urls.map(async (url) => ((await isReady(url)) ? [url] : [])));
      if (asked.flat().length > 0) this.ready = asked.flat();
      await sleep(250);
    }
  }
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`, { signal: abortAfter(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

/** What the load met. */
interface Outcome {
  readonly taskIds: string[];
  readonly failures: string[];
  requests: number;
  closedConnections: number;
}

const codeOf = (error: unknown): string | undefined => ((error as Error).cause as { code?: string } | undefined)?.code;

/** The replica is gone and took nothing: every load balancer asks the next one. */
const isRefused = (error: unknown): boolean => codeOf(error) === 'ECONNREFUSED';

/** A keep-alive connection that the server closed in the moment in which it was used again. */
const isClosedConnection = (error: unknown): boolean =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '');

/** Sends a request; repeats it when its kept connection was closed, which its Idempotency-Key makes safe. */
async function send(
  balancer: Balancer,
  outcome: Outcome,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${TEST_KEY}`,
    ...(body && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
  };
  for (const _attempt of [1, 2, 3]) {
    const replica = balancer.next();
    try {
      outcome.requests += 1;
      const answer = await fetch(replica + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (answer.ok) return JSON.parse(text) as unknown;
      outcome.failures.push(`${method} ${path}: ${answer.status} ${text}`);
      return undefined;
    } catch (error) {
      if (isClosedConnection(error)) outcome.closedConnections += 1;
      else if (isRefused(error)) balancer.leaveOut(replica);
      else outcome.failures.push(`${method} ${path}: ${String((error as Error).cause ?? error)}`);
    }
  }
  outcome.failures.push(`${method} ${path}: no replica took it`);
  return undefined;
}

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse' };
const VIDEO = { model: 'beta-2.5-preview', prompt: 'waves', resolution: '480p', size: '16:9', duration: 5 };

/** Customers that send images, videos, text and reads until stopped. */
async function mixedLoad(balancer: Balancer, outcome: Outcome, stop: AbortSignal): Promise<void> {
  const submit = async (path: string, body: object): Promise<void> => {
    const answer = (await send(balancer, outcome, 'POST', path, body)) as { data: { task_id: string }[] } | undefined;
    const taskId = answer?.data[0]?.task_id;
    if (taskId) outcome.taskIds.push(taskId);
  };
  const customers: readonly (readonly [number, () => Promise<unknown>])[] = [
    [700, () => submit('/v1/images/generations', IMAGE)],
    [900, () => submit('/v1/images/generations', IMAGE)],
    [4_000, () => submit('/v1/videos/generations', VIDEO)],
    [400, () => send(balancer, outcome, 'POST', '/v1/responses', { model: 'vendor-5', input: 'Say hello.' })],
    [250, () => send(balancer, outcome, 'GET', `/v1/tasks/${outcome.taskIds.at(-1) ?? ''}`)],
    [500, () => send(balancer, outcome, 'GET', '/v1/user/balance')],
  ];
  await Promise.all(
    customers.map(async ([pauseMs, act]) => {
      while (!stop.aborted) {
        await act();
        await sleep(pauseMs);
      }
    }),
  );
}

describeWithRedis('A fleet of replicas over one Redis and one Postgres', (redisUrl) => {
  let database: TestDatabase;
  let store: S3Server;
  let environment: Record<string, string>;
  const balancer = new Balancer();
  const stopLoad = new AbortController();
  const started: SpawnedProcess[] = [];

  beforeAll(async () => {
    [database, store] = await Promise.all([createTestDatabase(), startS3Server()]);
    // Every announced call to a vendor leaves a row, so that none can be made twice unnoticed.
    await database.database.query({ text: 'create table vendor_start (task_id text)' });
    await database.database.query({
      text: `create function note_start() returns trigger language plpgsql as $$
        begin insert into vendor_start values (new.id); return new; end $$`,
    });
    await database.database.query({
      text: `create trigger note_start after update of start_intent_at on task for each row
        when (new.start_intent_at is not null and new.start_intent_at is distinct from old.start_intent_at)
        execute function note_start()`,
    });
    environment = {
      ...database.environment,
      SANDBOX_BILLING_ENABLED: 'true',
      DATABASE_POOL_SIZE: '4',
      REDIS_URL: redisUrl,
      QUEUE_PREFIX: uniqueRedisPrefix(),
      KEY_PEPPER: 'a-pepper-for-tests-only',
      GATEWAY_API_KEY: TEST_KEY,
      MEDIA_S3_ENDPOINT: store.endpoint,
      MEDIA_S3_BUCKET: store.bucket,
      MEDIA_S3_ACCESS_KEY_ID: store.accessKeyId,
      MEDIA_S3_SECRET_ACCESS_KEY: store.secretAccessKey,
      PORT: '0',
      LOG_LEVEL: 'warn',
      SHUTDOWN_GRACE_SECONDS: '15',
      SANDBOX_IMAGE_MS: '200',
      SANDBOX_VIDEO_MS: '800',
    };
  });
  afterAll(async () => {
    stopLoad.abort();
    balancer.stop();
    for (const process of started) process.child.kill('SIGKILL');
    await store.close();
    await database.remove();
  });

  async function start(app: App): Promise<Member> {
    // Only the API has a load balancer that has to notice.
    const process = await spawnApp(app, { ...environment, DRAIN_SECONDS: app === 'api' ? '2' : '0' });
    started.push(process);
    const [, url = ''] = await process.waitFor(READY[app]);
    const member = { app, process, url };
    balancer.members.add(member);
    return member;
  }

  /** Ends a member as an orchestrator does, with its successor starting meanwhile. */
  async function roll(member: Member): Promise<void> {
    const ended = member.process.end('SIGTERM');
    await start(member.app);
    expect([member.app, await ended, member.process.output()]).toEqual([member.app, 0, expect.anything()]);
    balancer.members.delete(member);
  }

  const count = async (text: string): Promise<number> =>
    Number((await database.database.query<{ count: bigint }>({ text })).rows[0]?.count);

  it('survives a rolling restart under load: nothing fails, nothing is lost, nothing is made or charged twice', async () => {
    const apps = Object.entries(FLEET).flatMap(([app, replicas]) => Array.from({ length: replicas }, () => app as App));
    const fleet: Member[] = [];
    // Two at a time, because every start needs a processor for a second.
    for (let index = 0; index < apps.length; index += 2) {
      fleet.push(...(await Promise.all(apps.slice(index, index + 2).map(start))));
    }
    balancer.start();
    await eventually(() => balancer.next() !== '');

    const outcome: Outcome = { taskIds: [], failures: [], requests: 0, closedConnections: 0 };
    const load = mixedLoad(balancer, outcome, stopLoad.signal);
    for (const member of fleet) await roll(member);
    stopLoad.abort();
    await load;

    const open = 'select count(*) from task where finished_at is null';
    await eventually(async () => (await count(open)) === 0, { pauseMs: 200 });

    expect(outcome.failures).toEqual([]);
    expect(outcome.closedConnections).toBeLessThanOrEqual(FLEET.api * 2);
    expect(outcome.taskIds.length).toBeGreaterThan(20);
    const accepted = outcome.taskIds.length;
    expect(await count('select count(*) from task')).toBe(accepted);
    expect(await count(`select count(*) from task where state = 'completed'`)).toBe(accepted);
    expect(await count('select count(*) from vendor_start')).toBe(accepted);
    expect(await count('select count(distinct task_id) from vendor_start')).toBe(accepted);
    expect(await count(`select count(*) from ledger_entry where kind = 'capture' and task_id is not null`)).toBe(
      accepted,
    );
    expect(await count('select sum(held_micros) as count from account')).toBe(0);
  }, 600_000);
});
