import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskView } from '#contracts';
import { createTestDatabase, describeWithRedis, eventually, startSentinelOverTls, type TestDatabase } from '#testing';
import { spawnApp, type SpawnedProcess } from '../harness/spawned-process.js';

const KEY = 'sk-redis-over-tls-0123456789';
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };

interface Readiness {
  readonly status: string;
  readonly parts: Readonly<Record<string, { readonly ok: boolean }>>;
}

describeWithRedis(
  'A gateway whose Redis and Sentinels speak nothing but TLS, signed by an authority of their own',
  () => {
    let sentinel: Awaited<ReturnType<typeof startSentinelOverTls>>;
    let database: TestDatabase;
    let folder: string;
    const started: SpawnedProcess[] = [];

    beforeAll(async () => {
      [database, sentinel, folder] = await Promise.all([
        createTestDatabase(),
        startSentinelOverTls(),
        mkdtemp(join(tmpdir(), 'gateway-tls-')),
      ]);
    });
    afterAll(async () => {
      await Promise.all(started.map((process) => process.end('SIGKILL')));
      await sentinel?.stop();
      await database.remove();
      await rm(folder, { recursive: true, force: true });
    });

    async function start(more: Record<string, string>): Promise<string> {
      if (!sentinel) throw new Error('redis-server with TLS and openssl are needed');
      const process = await spawnApp('gateway', {
        ...database.environment,
        ...more,
        REDIS_URL: sentinel.url,
        SANDBOX_BILLING_ENABLED: 'true',
        SANDBOX_IMAGE_MS: '50',
        KEY_PEPPER: 'a-pepper-for-tests-only',
        GATEWAY_API_KEY: KEY,
        DATA_DIR: folder,
        PORT: '0',
      });
      started.push(process);
      const [, url = ''] = await process.waitFor(/(http:\/\/(?:127\.0\.0\.1|localhost):\d+)/);
      return url;
    }

    const readiness = async (url: string): Promise<Readiness> =>
      (await (await fetch(`${url}/readyz`)).json()) as Readiness;

    async function make(url: string): Promise<TaskView> {
      const ask = async <Body>(path: string, body?: object): Promise<Body> => {
        const answer = await fetch(url + path, {
          method: body ? 'POST' : 'GET',
          headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        });
        return (await answer.json()) as Body;
      };
      const { data } = await ask<{ data: [{ task_id: string }] }>('/v1/images/generations', IMAGE);
      return eventually(
        async () => {
          const { data: task } = await ask<{ data: TaskView }>(`/v1/tasks/${data[0].task_id}`);
          return task.usage.final ? task : null;
        },
        { pauseMs: 50 },
      );
    }

    it('works with both once it trusts the authority', async () => {
      const url = await start({ NODE_EXTRA_CA_CERTS: sentinel?.authorityFile ?? '' });
      await eventually(async () => (await readiness(url)).parts['queue']?.ok === true, { pauseMs: 200 });
      expect((await make(url)).status).toBe('completed');
      expect(started[0]?.output()).not.toMatch(/wakeup\.failed|wakeup\.dropped/);
    });

    it('sends them nothing while it does not, says so, and serves without them', async () => {
      const url = await start({});
      await eventually(async () => (await readiness(url)).parts['queue']?.ok === false, { pauseMs: 200 });
      expect((await readiness(url)).status).toBe('degraded');
      await started.at(-1)?.waitFor(/certificate.*redis\.unusable/);
      expect((await make(url)).status).toBe('completed');
    });
  },
);
