import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SafeFetcher } from '#platform';
import { createWorker, type Platform } from '#runtime';
import { eventually, pngSample } from '#testing';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { TaskTransitions } from '../task-transitions.js';
import { MediaWorker } from '../run/media-worker.js';
import { MediaWorkerModule } from '../run/media-worker.module.js';
import { TaskWorker } from '../run/task-worker.js';
import { createTaskSteps } from '../run/testing/create-task-steps.js';
import { ScriptedUpstream } from '../run/testing/scripted-upstream.js';
import { openTaskBench, type TaskBench } from '../run/testing/task-bench.js';

const SLOTS = 2;
const SILENT = '/silent.png';

describe('Referenced files', () => {
  const vendor = new ScriptedUpstream('vendor');
  const upstreams = new MediaUpstreams();
  upstreams.exchange([vendor.routed()]);
  /** The answers that are waited for, and how many were given up. */
  const waiting = new Set<ServerResponse>();
  let givenUp = 0;
  const host = createServer((request, response) => {
    if (request.url !== SILENT) {
      response.end(pngSample({ width: 640, height: 480 }));
      return;
    }
    waiting.add(response);
    response.once('close', () => {
      waiting.delete(response);
      givenUp += 1;
    });
  });
  let hostUrl: string;
  let fetcher: SafeFetcher;
  let bench: TaskBench;
  let worker: MediaWorker | undefined;
  beforeAll(async () => {
    bench = await openTaskBench(upstreams);
    await once(host.listen(0, '127.0.0.1'), 'listening');
    const address = `127.0.0.1:${(host.address() as AddressInfo).port}`;
    hostUrl = `http://${address}`;
    fetcher = new SafeFetcher({ allow: [address], silenceTimeoutMs: 60_000 });
    await bench.database.query({
      text: `with other as (insert into account (id, name, available_micros) values ('acct_victim', 'victim', 1000000000))
        insert into api_key (id, account_id, name, prefix, key_hash) values ('key_victim', 'acct_victim', 'k', 'sk', 'v')`,
    });
  });
  beforeEach(() => {
    givenUp = 0;
    vendor.taken.splice(0);
  });
  afterEach(async () => {
    await worker?.stop(200);
    worker = undefined;
    await bench.database.query({ text: 'truncate task cascade' });
  });
  afterAll(async () => {
    await fetcher.close();
    host.close();
    host.closeAllConnections();
    await bench.close();
  });

  async function startWorker(inspectSeconds: number, platform: Platform = { ...bench.platform, fetcher }) {
    const { media } = platform.config;
    const settings = Object.assign(Object.create(media) as typeof media, {
      MEDIA_INSPECT_TIMEOUT_SECONDS: inspectSeconds,
    });
    const module = MediaWorkerModule.register(
      'image',
      SLOTS,
      { ...platform, config: { ...platform.config, media: settings } },
      upstreams,
    );
    worker = await createWorker(module, MediaWorker);
    worker.start();
  }
  const submit = (urls: readonly string[], accountId = 'acct_bench'): Promise<string> =>
    bench.submit({
      accountId,
      apiKeyId: accountId.replace('acct', 'key'),
      parameters: {
        model: 'eta-image-2.0',
        prompt: 'a lighthouse',
        size: '1:1',
        resolution: '1K',
        n: 1,
        ...(urls.length > 0 && { image_urls: [...urls] }),
      },
      mode: urls.length > 0 ? 'image-to-image' : 'text-to-image',
    });
  const submitSilent = (count: number, files = 1): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, () => submit(Array.from({ length: files }, () => hostUrl + SILENT))));

  it('of one account at silent hosts delay no task of another, with such files or without', async () => {
    await submitSilent(40);
    await startWorker(60);
    await eventually(() => waiting.size >= SLOTS);
    const others = [await submit([], 'acct_victim'), await submit([`${hostUrl}/good.png`], 'acct_victim')];
    await eventually(() => others.every((taskId) => vendor.taken.includes(taskId)));
    expect(givenUp).toBe(0);
    // A further claim passes the account over: its tasks wait in the queue, not in the worker.
    expect(waiting.size).toBeLessThanOrEqual(16);
  });

  it('at silent hosts go back to the queue, and are none the worse for it, when a task must be run alone', async () => {
    await submitSilent(3);
    await startWorker(60);
    await eventually(() => waiting.size === 3);
    const suspect = await submit([], 'acct_victim');
    await bench.change(suspect, `lapses = 2`);
    await eventually(() => vendor.taken.includes(suspect));
    const { rows } = await bench.database.query({
      text: `select distinct state, failures, lapses from task where account_id = 'acct_bench' and finished_at is null`,
    });
    expect(rows).toEqual([{ state: expect.stringMatching(/queued|submitting/), failures: 0, lapses: 0 }]);
  });

  it('at silent hosts do not keep a worker from stopping, and another looks at them at once', async () => {
    const [taskId = ''] = await submitSilent(1);
    await startWorker(60);
    await eventually(() => waiting.size === 1);
    await worker?.stop(30_000);
    expect(await bench.row(taskId)).toMatchObject({ state: 'queued', failures: 0, crash_count: 0, lease_owner: null });
  });

  it('may take MEDIA_INSPECT_TIMEOUT_SECONDS each', async () => {
    const limits: number[] = [];
    const get = (_url: string, limit: { timeoutMs: number }): Promise<never> => {
      limits.push(limit.timeoutMs);
      return Promise.reject(new Error('connection refused'));
    };
    const counting = Object.create(fetcher, { get: { value: get } }) as SafeFetcher;
    await submit([`${hostUrl}/good.png`]);
    await startWorker(7, { ...bench.platform, fetcher: counting });
    await eventually(() => limits.length > 0);
    expect(limits[0]).toBe(7_000);
  });

  it('that are looked at again because the upstreams changed leave the slot free while the vendor is called', async () => {
    const [slow, hanging] = [new ScriptedUpstream('slow'), new ScriptedUpstream('hanging')];
    upstreams.exchange([slow.routed({ limits: { startsPerMinute: 1 } })]);
    const platform = { ...bench.platform, fetcher };
    const { database, taskSignals, notifier, failpoints } = platform;
    const transitions = new TaskTransitions(database, taskSignals, 'one-slot', 60_000);
    const around = { transitions, upstreams, cooldowns: bench.cooldowns, leaseMs: 60_000 };
    const { advance, admissions } = createTaskSteps(platform, around);
    const oneSlot = new TaskWorker('image', 1, transitions, advance, notifier, failpoints, admissions);
    let answer: (() => void) | undefined;
    hanging.traits = { ...hanging.traits, startTimeoutMs: 60_000 };
    hanging.onStart = (order) =>
      hanging.asked > 1
        ? Promise.resolve(hanging.take(order))
        : new Promise((resolve) => (answer = () => resolve(hanging.take(order))));
    try {
      // Another process has just started the only order of this minute.
      await bench.limits.take('slow', 'start', 1, 1 / 60);
      const early = await submit([`${hostUrl}/good.png`]);
      oneSlot.start();
      await eventually(() => oneSlot.callsUnderWay === 1);
      upstreams.exchange([hanging.routed()]);
      await eventually(() => answer !== undefined);
      const next = await submit([]);
      await eventually(() => hanging.taken.includes(next));
      answer?.();
      await eventually(() => hanging.taken.length === 2);
      expect(hanging.taken).toEqual([next, early]);
    } finally {
      answer?.();
      await oneSlot.stop(1_000);
      upstreams.exchange([vendor.routed()]);
    }
  });
});
