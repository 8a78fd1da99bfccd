import { mkdtemp, rm } from 'node:fs/promises';
import type { Server, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { JsonObject, MediaUpstream, TaskView } from '#contracts';
import { createMediaWorker, keepBalanceUnit, FIRST_ACCOUNT_ID, MediaUpstreamRegistry, MediaUpstreams } from '#features';
import { type Database, loadConfig, type Environment } from '#platform';
import { openMediaUpstreams, type OpenMediaUpstreams, openTextUpstreams, SandboxConfig, TextConfig } from '#providers';
import { openPlatform, type Platform, readProcessConfig, type Worker } from '#runtime';
import { createTestDatabase, eventually, PATIENT_WITH_POSTGRES, uniqueRedisPrefix } from '#testing';
import { createApi } from '../../apps/api/src/create-api.js';
import { BodyBudget } from '../../apps/api/src/http/body-budget.js';
import { ExpressServer } from '../../apps/api/src/express-server.js';
import { applyPrices, seed } from '../../apps/api/src/seed.js';
import { serve } from '../../apps/api/src/serve.js';
import { watchSales } from '../../apps/api/src/watch-sales.js';
import { createMaintenanceWorker } from '../../apps/maintenance-worker/src/create-maintenance-worker.js';

/** The key of the first account in every test gateway. */
export const TEST_KEY = 'sk-test-0123456789abcdef';

/** What a test may ask for beyond a whole gateway on its own database. */
export interface TestGatewayOptions {
  /** Queues on this Redis instead of Postgres. */
  readonly redisUrl?: string;
  /** What the gateway reaches its database by, instead of its address; for faults of the network in between. */
  readonly databaseBehind?: (databaseUrl: string) => Promise<string>;
  /** A vendor that stands in for the sandbox. */
  readonly vendor?: MediaUpstream;
  /** Whether tasks are worked on, and webhooks sent. Default true. */
  readonly workers?: boolean;
  /** Further environment variables, as an operator would set them. */
  readonly environment?: Environment;
  /** Where its database and files lie; it is left as it is when the gateway stops. Default: a place of its own. */
  readonly place?: GatewayPlace;
}

/** A database and a data folder, which outlive the gateways that are started on them. */
export interface GatewayPlace {
  readonly databaseUrl: string;
  readonly dataDirectory: string;
  remove(): Promise<void>;
}

/** Makes one. Call `remove` in `afterAll`. */
export async function createGatewayPlace(): Promise<GatewayPlace> {
  const testDatabase = await createTestDatabase();
  const dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-data-'));
  return {
    databaseUrl: testDatabase.url,
    dataDirectory,
    remove: async () => {
      await testDatabase.remove();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** An answer, its body parsed. */
export interface TestAnswer<Body = JsonObject> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** A whole gateway in this process, on real services: HTTP on a free port, a database and a data folder of its own. */
export interface TestGateway {
  readonly baseUrl: string;
  readonly accountId: string;
  readonly platform: Platform;
  readonly database: Database;
  /** Sends a request with the first account's key unless `headers` say otherwise. */
  send<Body = JsonObject>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<TestAnswer<Body>>;
  /** Submits a task that must be accepted, and answers its id. */
  submit(path: string, body: unknown): Promise<string>;
  /** Polls until the task is final. @throws Error after `limitMs`, 240 s unless given. */
  waitForTask(taskId: string, limitMs?: number): Promise<TaskView>;
  /** Waits until a request has come that is not answered. */
  untilAsked(): Promise<void>;
  /** Waits until every request is answered, or the gateway has seen that the client has left. */
  untilAnswered(): Promise<void>;
  /** What request bodies, and what counts as they do, hold of their budget now, in bytes. */
  heldBytes(): number;
  /** Every route of the running server: method and path. */
  routes(): (readonly [method: string, path: string])[];
  /** Gives running requests up to `graceMs`, 1 s unless given, then cuts what is left. */
  stop(graceMs?: number): Promise<void>;
}

/** The sandbox answers at once in tests, unless a prompt asks for a delay. */
const FAST_SANDBOX = Object.assign(new SandboxConfig(), { SANDBOX_VIDEO_MS: 20, SANDBOX_IMAGE_MS: 10 });

/** Starts a gateway on a copy of the migrated template database. Call `stop` in `afterAll`. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const place = options.place ?? (await createGatewayPlace());
  const { databaseUrl, dataDirectory } = place;
  const platform = await openPlatform(
    readProcessConfig({
      DATABASE_URL: (await options.databaseBehind?.(databaseUrl)) ?? databaseUrl,
      ...(!options.databaseBehind && PATIENT_WITH_POSTGRES),
      DATABASE_POOL_SIZE: '6',
      KEY_PEPPER: 'a-pepper-for-tests-only',
      GATEWAY_API_KEY: TEST_KEY,
      SANDBOX_BILLING_ENABLED: 'true',
      DATA_DIR: dataDirectory,
      PORT: '0',
      QUEUE_PREFIX: uniqueRedisPrefix(),
      ...(options.redisUrl && { REDIS_URL: options.redisUrl }),
      ...options.environment,
    }),
  );
  const environment = { SANDBOX_WORD_MS: '0', ...options.environment };
  const text = loadConfig(TextConfig, environment);
  const media = openMediaUpstreams({ text, sandbox: FAST_SANDBOX }, environment);
  const api = await createApi(platform, openTextUpstreams(text, environment), media);
  await prepare(api, platform);
  const { registry, workers } = await createWorkers(platform, media, options);
  const server = await serve(api, platform);
  const requests = countRequests(api.getHttpServer());
  for (const worker of workers) worker.start();
  const client = createClient(`http://127.0.0.1:${server.port}`);
  return {
    ...client,
    accountId: FIRST_ACCOUNT_ID,
    platform,
    database: platform.database,
    untilAsked: async () => void (await eventually(() => requests.inHand > 0)),
    untilAnswered: async () => void (await eventually(() => requests.inHand === 0)),
    heldBytes: () => api.get(BodyBudget, { strict: false }).heldBytes,
    routes: () => routesOf(api),
    stop: async (graceMs = 1_000) => {
      await server.stop(graceMs);
      await Promise.all(workers.map((worker) => worker.stop(2_000)));
      await registry.close();
      await media.close();
      await platform.close(1_000);
      if (!options.place) await place.remove();
    },
  };
}

/** The workers of a gateway over the upstreams that it has, none where the options say so. */
async function createWorkers(platform: Platform, media: OpenMediaUpstreams, { vendor, workers }: TestGatewayOptions) {
  const registry = new MediaUpstreamRegistry(platform.database, platform.sealer, media);
  await registry.start();
  const upstreams = vendor ? MediaUpstreams.of(vendor) : registry.upstreams;
  const created: readonly Worker[] =
    workers === false
      ? []
      : [
          await createMediaWorker('video', platform, upstreams),
          await createMediaWorker('image', platform, upstreams),
          await createMaintenanceWorker(platform),
        ];
  return { registry, workers: created };
}

/** What a gateway does before it listens. */
async function prepare(api: NestExpressApplication, platform: Platform): Promise<void> {
  await keepBalanceUnit(platform.database, platform.config.server.BALANCE_UNIT);
  await applyPrices(platform);
  await seed(api, platform);
  await watchSales(api, platform);
}

/** How many requests the server has that are neither answered nor left. */
function countRequests(server: Server): { readonly inHand: number } {
  const requests = { inHand: 0 };
  server.on('request', (_request, response: ServerResponse) => {
    requests.inHand += 1;
    response.once('close', () => (requests.inHand -= 1));
  });
  return requests;
}

function routesOf(api: NestExpressApplication): ReturnType<TestGateway['routes']> {
  const server: unknown = api.getHttpAdapter();
  if (!(server instanceof ExpressServer)) throw new Error('Only the server of the API can tell its routes');
  return server.routes();
}

function createClient(baseUrl: string): Pick<TestGateway, 'baseUrl' | 'send' | 'submit' | 'waitForTask'> {
  const send = async <Body = JsonObject>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<TestAnswer<Body>> => {
    const answer = await fetch(baseUrl + path, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(headers ?? { authorization: `Bearer ${TEST_KEY}` }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: (text ? JSON.parse(text) : null) as Body };
  };
  return {
    baseUrl,
    send,
    submit: async (path, body) => {
      const { status, body: answer } = await send<{ data: { task_id: string }[] }>('POST', path, body);
      const taskId = answer.data?.[0]?.task_id;
      if (status !== 200 || !taskId) throw new Error(`${path} answered ${status}: ${JSON.stringify(answer)}`);
      return taskId;
    },
    waitForTask: (taskId, limitMs = 240_000) =>
      eventually(
        async () => {
          const { body } = await send<{ data: TaskView }>('GET', `/v1/tasks/${taskId}`);
          return body.data.usage.final ? body.data : null;
        },
        { limitMs, pauseMs: 25, shows: () => taskId },
      ),
  };
}
