import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { MediaFailure, type UpstreamOutput } from '#contracts';
import { type MediaStore, MediaStoreConfig } from '#media';
import { RemoteStatus, SafeFetcher, signals } from '#platform';
import { jpegSample, longs, pngSample, videoSample } from '#testing';
import type { NewTask } from '../submit/submit-statement.js';
import type { ClaimedTask } from '../task-row.js';
import { storeLimitsOf } from './result-files.js';
import { storeStepOf } from '../run/testing/create-task-steps.js';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { ScriptedUpstream } from '../run/testing/scripted-upstream.js';
import { FakeVendor } from '../run/testing/fake-vendor.js';
import { HOLD_MICROS, openTaskBench, type TaskBench } from '../run/testing/task-bench.js';

const never = new AbortController().signal;

const VIDEO: Partial<NewTask> = {
  medium: 'video',
  path: '/v1/videos/generations',
  family: 'zeta',
  model: 'zeta-q3',
  mode: 'text-to-video',
  parameters: {
    model: 'zeta-q3',
    prompt: 'a lighthouse',
    aspect_ratio: '16:9',
    size: '16:9',
    resolution: '720p',
    duration: 5,
  },
  billing: { unit: 'second', variant: 'default', settle: 'as-held', quantity: 5 },
};

describe('Storing the files of a vendor', () => {
  let bench: TaskBench;
  const vendor = new FakeVendor();
  beforeAll(async () => {
    bench = await openTaskBench(vendor);
  });
  afterAll(() => bench.close());

  const LAST_FRAME: UpstreamOutput = {
    role: 'last_frame',
    contentType: 'image/png',
    url: 'https://vendor.example/last.png',
  };

  it.each([
    ['nothing at all', []],
    ['a last frame without its video', [LAST_FRAME]],
  ])('charges nothing when the vendor reports success and delivers %s', async (_, outputs) => {
    const billing = { unit: 'image', variant: 'default', settle: 'as-held', quantity: 1 } as const;
    const taskId = await bench.submit({ billing });
    await bench.start.run(await bench.claim(taskId), never);
    await bench.schedule.finish(taskId, outputs);
    await bench.store.run(await bench.claim(taskId), never);
    expect(await bench.row(taskId)).toMatchObject({
      state: 'failed',
      error_code: 'upstream_error',
      charged_micros: 0n,
    });
    expect(await bench.entries(taskId)).toEqual(['hold', 'release']);
  });

  it('stops reading a file back from a hanging store when the lease is lost', async () => {
    vendor.open = async () => Readable.from([pngSample({ width: 8, height: 8 })]);
    const taskId = await bench.submit();
    await bench.start.run(await bench.claim(taskId), never);
    await bench.schedule.finish(taskId, [
      { role: 'output', contentType: 'image/png', url: 'https://vendor.example/a' },
    ]);
    const lease = new AbortController();
    let reading: AbortSignal | undefined;
    const open: MediaStore['open'] = (_key, _range, signal) => {
      reading = signal;
      queueMicrotask(() => lease.abort(new Error('the task is lost')));
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
    };
    const store = Object.create(bench.platform.store, { open: { value: open } }) as MediaStore;
    const step = storeStepOf({ ...bench.deps, store });
    await expect(step.run(await bench.claim(taskId), lease.signal)).rejects.toThrow('the task is lost');
    expect(reading?.aborted).toBe(true);
  });

  /** Stores one output of an order whose vendor states PNG. */
  async function stored(bytes: Buffer, changes: { role?: UpstreamOutput['role'] } = {}): Promise<string> {
    vendor.open = async () => Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]);
    const taskId = await bench.submit();
    await bench.start.run(await bench.claim(taskId), never);
    await bench.schedule.finish(taskId, [
      { role: 'output', contentType: 'image/png', url: 'https://vendor.example/a', ...changes },
    ]);
    await bench.store.run(await bench.claim(taskId), never);
    return taskId;
  }

  const filesOf = async (taskId: string) =>
    (
      await bench.database.query<{ store_key: string; content_type: string }>({
        text: 'select store_key, content_type from task_file where task_id = $1 order by ordinal',
        values: [taskId],
      })
    ).rows;

  it('takes the type of a file from its bytes, whatever type the vendor reports', async () => {
    const taskId = await stored(jpegSample({ width: 8, height: 8 }));
    expect(await filesOf(taskId)).toEqual([{ store_key: `media/${taskId}/0.jpg`, content_type: 'image/jpeg' }]);
    expect(await bench.row(taskId)).toMatchObject({ state: 'completed' });
  });

  it.each([
    ...[400, 401, 402, 403, 404, 405, 409, 410, 422].map(
      (status) =>
        [`answer ${status}`, () => Promise.reject(new RemoteStatus(status))] as [string, () => Promise<Readable>],
    ),
    [
      'lead to a page',
      async (): Promise<Readable> => Readable.from([Buffer.from('<!doctype html><title>Sign in</title>')]),
    ],
  ])('asks the vendor for new links when the old ones %s, and counts no failure', async (_, behindOld) => {
    const upstream = new ScriptedUpstream('links');
    const fresh: UpstreamOutput = { role: 'output', contentType: 'image/png', url: 'https://vendor.example/new' };
    const asked: unknown[] = [];
    Object.assign(upstream, {
      open: async ({ url }: UpstreamOutput) => {
        if (url !== fresh.url) return behindOld();
        return Readable.from([pngSample({ width: 8, height: 8 })]);
      },
      refresh: async (operation: unknown) => {
        asked.push(operation);
        return [fresh];
      },
    });
    const upstreams = new MediaUpstreams();
    upstreams.exchange([upstream.routed()]);
    const step = storeStepOf({ ...bench.deps, upstreams });
    const taskId = await bench.submit();
    await bench.start.run(await bench.claim(taskId), never);
    await bench.change(taskId, `provider = 'links'`);
    await bench.schedule.finish(taskId, [{ ...fresh, url: 'https://vendor.example/old' }]);
    const { operation } = await bench.row(taskId);
    await step.run(await bench.claim(taskId), never);
    expect(await bench.row(taskId)).toMatchObject({ state: 'completed', failures: 0 });
    expect(asked).toEqual([operation]);
  });

  describe('whose link is dead', () => {
    /** A task whose file lies behind a dead link of an upstream that answers so when it is asked for another. */
    async function dead(refresh?: () => Promise<UpstreamOutput[]>) {
      const upstream = new ScriptedUpstream('lapsed');
      Object.assign(upstream, { open: () => Promise.reject(new RemoteStatus(400)), ...(refresh && { refresh }) });
      const step = storeStepOf({ ...bench.deps, upstreams: MediaUpstreams.of(upstream) });
      const taskId = await bench.submit();
      await bench.start.run(await bench.claim(taskId), never);
      await bench.change(taskId, `provider = 'lapsed', failures = 20`);
      await bench.schedule.finish(taskId, [
        { role: 'output', contentType: 'image/png', url: 'https://vendor.example/old' },
      ]);
      await bench.change(taskId, 'failures = 20');
      const run = async () => {
        await step.run(await bench.claim(taskId), never);
        return bench.row(taskId);
      };
      return { taskId, run, upstream };
    }
    const lost = async (): Promise<number> =>
      (await signals.mediaOrders.get()).values
        .filter(({ labels }) => labels['upstream'] === 'lapsed' && labels['outcome'] === 'result_lost')
        .reduce((sum, { value }) => sum + value, 0);

    it.each([
      [
        'names another that is dead, too',
        async () => [{ role: 'output', contentType: 'image/png', url: 'https://a.example/2' } as const],
      ],
      ['does not tell another now', () => Promise.reject(new MediaFailure('unavailable', 'away'))],
    ])(
      'asks its vendor until the deadline where it %s, orders nothing again, and then tells operators',
      async (_, refresh) => {
        const before = await lost();
        const { taskId, run, upstream } = await dead(refresh);
        expect(await run()).toMatchObject({ state: 'storing', failures: 21 });
        await bench.change(taskId, `deadline_at = now() + interval '10 seconds'`);
        const row = await run();
        expect(row).toMatchObject({ state: 'failed', error_code: 'upstream_error', charged_micros: 0n });
        expect([upstream.asked, await lost()]).toEqual([0, before + 1]);
      },
    );

    it.each([
      ['has no such work any more', () => Promise.reject(new MediaFailure('refused', 'work_lost'))],
      ['cannot be asked', undefined],
    ])('is given up after some attempts where its vendor %s', async (_, refresh) => {
      const before = await lost();
      const { run } = await dead(refresh);
      expect(await run()).toMatchObject({ state: 'failed', error_code: 'upstream_error', charged_micros: 0n });
      expect(await lost()).toBe(before + 1);
    });
  });

  it.each([
    ['a video', () => videoSample()],
    ['a web page', () => Buffer.from('<!doctype html><title>Sign in</title>')],
    ['nothing', () => Buffer.alloc(0)],
  ])('does not deliver %s as an image', async (_, bytes) => {
    const taskId = await stored(bytes());
    expect(await bench.row(taskId)).toMatchObject({ state: 'storing', failures: 1, charged_micros: null });
    expect(await filesOf(taskId)).toEqual([]);
  });

  it.each([
    ['4,294,967,295 milliseconds', longs(1, 1, 0xffff_ffff), 2_147_483_647],
    ['18 quintillion milliseconds', longs(1, 0xffff_ffff, 0xffff_ffff), 2_147_483_647],
  ])('delivers and charges a video whose header states a length of %s, with a notice', async (_, sampleTable, kept) => {
    vendor.open = async () => Readable.from([videoSample({ sampleTable })]);
    const taskId = await bench.submit(VIDEO);
    const claim = async (): Promise<ClaimedTask> => {
      await bench.change(taskId, `lease_until = now() - interval '1 second'`);
      const [task] = await bench.transitions.claimDue('video', 1);
      if (!task) throw new Error('there is no video to work on');
      return task;
    };
    await bench.start.run(await claim(), never);
    await bench.schedule.finish(taskId, [
      { role: 'output', contentType: 'video/mp4', url: 'https://vendor.example/a' },
    ]);
    await bench.store.run(await claim(), never);
    expect(await bench.row(taskId)).toMatchObject({
      state: 'completed',
      charged_micros: HOLD_MICROS,
      notices: [expect.stringContaining('header')],
    });
    const { rows } = await bench.database.query({
      text: 'select duration_ms from task_file where task_id = $1',
      values: [taskId],
    });
    expect(rows).toEqual([{ duration_ms: kept }]);
    expect(await bench.entries(taskId)).toEqual(['hold', 'capture']);
  });

  describe('whose webhooks cannot be written', () => {
    beforeAll(() =>
      bench.database.query({
        text: `create function refuse_webhook() returns trigger language plpgsql as $$ begin raise 'no webhook'; end $$;
          create trigger no_webhook before insert on webhook_delivery for each row execute function refuse_webhook()`,
      }),
    );
    afterAll(() => bench.database.query({ text: 'drop trigger no_webhook on webhook_delivery' }));

    const webhookUrl = 'https://receiver.example/hook';
    const traceOf = async (taskId: string) =>
      (
        await bench.database.query({
          text: `select kind, detail from task_event where task_id = $1`,
          values: [taskId],
        })
      ).rows;

    it('completes, is charged, and leaves a trace for operators', async () => {
      vendor.open = async () => Readable.from([pngSample({ width: 8, height: 8 })]);
      const taskId = await bench.submit({ webhookUrl });
      await bench.start.run(await bench.claim(taskId), never);
      await bench.schedule.finish(taskId, [
        { role: 'output', contentType: 'image/png', url: 'https://vendor.example/a' },
      ]);
      await bench.advance.advance(await bench.claim(taskId), never);
      expect(await bench.row(taskId)).toMatchObject({ state: 'completed', charged_micros: HOLD_MICROS });
      expect(await filesOf(taskId)).toHaveLength(1);
      expect(await bench.entries(taskId)).toEqual(['hold', 'capture']);
      expect(await traceOf(taskId)).toEqual([{ kind: 'unannounced', detail: 'no webhook' }]);
    });

    it.each([
      ['fails', (id: string) => bench.settlement.failUnclaimed({ id, outputs: null }, ['queued'], 'parked', 'x')],
      ['is cancelled', (id: string) => bench.settlement.cancelUnstarted(id)],
    ])('%s, and gets its hold back', async (_, end) => {
      const taskId = await bench.submit({ webhookUrl });
      expect(await end(taskId)).toBe(true);
      expect(await bench.entries(taskId)).toEqual(['hold', 'release']);
      expect(await traceOf(taskId)).toEqual([{ kind: 'unannounced', detail: 'no webhook' }]);
    });
  });

  it('waits for longer each time, and is never run alone, while its end cannot be written at all', async () => {
    await bench.database.query({
      text: `create function refuse_end() returns trigger language plpgsql as $$ begin
          if new.finished_at is not null then raise 'no end'; end if; return new; end $$;
        create trigger no_end before update on task for each row execute function refuse_end()`,
    });
    const taskId = await bench.submit();
    const unmade = await bench.claim(taskId);
    await bench.change(taskId, 'failures = 5');
    await bench.advance.advance({ ...unmade, failures: 5, state: 'storing' }, never);
    const { rows } = await bench.database.query({
      text: `select lease_owner, failures, lapses, lease_until > now() + interval '20 seconds' as waits from task where id = $1`,
      values: [taskId],
    });
    expect(rows).toEqual([{ lease_owner: null, failures: 6, lapses: 0, waits: true }]);
    await bench.database.query({ text: 'drop trigger no_end on task' });
  });

  it('blames the vendor, not our store, when it keeps delivering nothing', async () => {
    const taskId = await stored(Buffer.from('<!doctype html><title>Sign in</title>'));
    await bench.change(taskId, 'failures = 20');
    await bench.store.run(await bench.claim(taskId), never);
    const row = await bench.row(taskId);
    expect(row).toMatchObject({ state: 'failed', error_code: 'upstream_error', charged_micros: 0n });
  });

  it('stores no more files than were ordered, even when the vendor names more', async () => {
    vendor.open = async () => Readable.from([pngSample({ width: 8, height: 8 })]);
    const taskId = await bench.submit();
    await bench.start.run(await bench.claim(taskId), never);
    const output = { role: 'output', contentType: 'image/png', url: 'https://vendor.example/a' } as const;
    await bench.schedule.finish(taskId, [output, LAST_FRAME, output, output]);
    await bench.store.run(await bench.claim(taskId), never);
    expect(await filesOf(taskId)).toHaveLength(1);
    expect(await bench.row(taskId)).toMatchObject({ state: 'completed', charged_micros: HOLD_MICROS });
  });

  describe('a batch of which one file is not to be had', () => {
    const BATCH = ['https://vendor.example/0', 'https://vendor.example/1', 'https://vendor.example/2'];
    const PNG = () => Readable.from([pngSample({ width: 8, height: 8 })]);
    const billing = { unit: 'image', variant: 'default', settle: 'per-output', quantity: 3 } as const;

    /** Stores a batch of three, the second of which is `second`. @param failures that came before. */
    async function batch(second: () => Promise<Readable>, failures: number): Promise<string> {
      vendor.open = async ({ url }) => (url === BATCH[1] ? second() : PNG());
      const parameters = { ...bench.newTask().parameters, n: 3 };
      const taskId = await bench.submit({ parameters, billing, holdMicros: 3n * HOLD_MICROS });
      await bench.start.run(await bench.claim(taskId), never);
      const outputs = BATCH.map((url) => ({ role: 'output', contentType: 'image/png', url }) as const);
      await bench.schedule.finish(taskId, outputs);
      await bench.change(taskId, `failures = ${failures}`);
      await bench.store.run(await bench.claim(taskId), never);
      return taskId;
    }
    const dead = () => Promise.reject(new RemoteStatus(404));
    const away = () => Promise.reject(new RemoteStatus(503));
    const DELIVERED_TWO = {
      state: 'completed',
      charged_micros: 2n * HOLD_MICROS,
      notices: ['The vendor delivered 2 of 3 files; the missing ones are not charged.'],
    };

    it('tries again before it does without it', async () => {
      const taskId = await batch(dead, 0);
      expect(await bench.row(taskId)).toMatchObject({ state: 'storing', failures: 1, charged_micros: null });
    });

    it('delivers the others under their places, and charges for those alone', async () => {
      const taskId = await batch(dead, 5);
      expect(await bench.row(taskId)).toMatchObject(DELIVERED_TWO);
      expect((await filesOf(taskId)).map(({ store_key: key }) => key)).toEqual([
        `media/${taskId}/0.png`,
        `media/${taskId}/2.png`,
      ]);
      expect((await bench.entries(taskId)).toSorted()).toEqual(['capture', 'hold', 'release']);
    });

    it('leaves nothing in the store of an unreadable file', async () => {
      const broken = async () => Readable.from([pngSample({ width: 8, height: 8 }).subarray(0, 20)]);
      const taskId = await batch(broken, 5);
      expect(await bench.row(taskId)).toMatchObject(DELIVERED_TWO);
      await expect(bench.platform.store.size(`media/${taskId}/1.png`)).rejects.toMatchObject({ code: 'not_found' });
    });

    it('waits for a host that is only away, however often it was asked, for what it has is paid for', async () => {
      const taskId = await batch(away, 50);
      expect(await bench.row(taskId)).toMatchObject({ state: 'storing', failures: 51, charged_micros: null });
    });

    it('delivers the others in time when the host stays away', async () => {
      const taskId = await batch(away, 50);
      await bench.change(taskId, `deadline_at = now() + interval '15 seconds'`);
      await bench.store.run(await bench.claim(taskId), never);
      expect(await bench.row(taskId)).toMatchObject(DELIVERED_TWO);
    });

    it('fails when none of them is to be had, and charges nothing', async () => {
      const none = await bench.submit({ billing, holdMicros: 3n * HOLD_MICROS });
      await bench.start.run(await bench.claim(none), never);
      vendor.open = dead;
      await bench.schedule.finish(none, [{ role: 'output', contentType: 'image/png', url: BATCH[0] ?? '' }]);
      await bench.change(none, 'failures = 5');
      await bench.store.run(await bench.claim(none), never);
      expect(await bench.row(none)).toMatchObject({
        state: 'failed',
        error_code: 'upstream_error',
        charged_micros: 0n,
      });
    });
  });

  describe('within the bounds that operators set', () => {
    let host: Server;
    const fetcher = new SafeFetcher({ allow: ['127.0.0.0/8'], ports: 'any' });
    beforeAll(async () => {
      host = createServer((request, response) => {
        const isGuarded = request.url === '/guarded';
        if (isGuarded && request.headers.authorization !== 'Bearer a-key') response.writeHead(401).end();
        else response.write(pngSample({ width: 8, height: 8 }));
        if (isGuarded) response.end();
        if (request.url === '/large') response.end(Buffer.alloc(2 * 1024 ** 2));
      });
      host.listen(0, '127.0.0.1');
      await once(host, 'listening');
    });
    afterAll(async () => {
      host.closeAllConnections();
      host.close();
      await fetcher.close();
    });

    it.each([
      ['MEDIA_MAX_FILE_MB', { MEDIA_MAX_FILE_MB: 1 }, '/large'],
      ['MEDIA_DOWNLOAD_TIMEOUT_SECONDS', { MEDIA_DOWNLOAD_TIMEOUT_SECONDS: 1 }, '/endless'],
    ])('delivers no file beyond %s', async (_, changes, path) => {
      const storeLimits = storeLimitsOf(Object.assign(new MediaStoreConfig(), changes));
      const upstreams = MediaUpstreams.of(new ScriptedUpstream('linking'));
      const step = storeStepOf({ ...bench.deps, storeLimits, fetcher, upstreams });
      const taskId = await bench.submit();
      await bench.start.run(await bench.claim(taskId), never);
      await bench.change(taskId, `provider = 'linking'`);
      const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}${path}`;
      await bench.schedule.finish(taskId, [{ role: 'output', contentType: 'image/png', url }]);
      await step.run(await bench.claim(taskId), never);
      expect(await bench.row(taskId)).toMatchObject({ state: 'storing', failures: 1, charged_micros: null });
      expect(await filesOf(taskId)).toEqual([]);
    });

    it('delivers a file that its vendor keeps behind the key', async () => {
      const upstream = new ScriptedUpstream('guarding');
      const credentials = { authorization: 'Bearer a-key' };
      Object.assign(upstream, { open: async ({ url }: UpstreamOutput) => ({ url, credentials }) });
      const step = storeStepOf({ ...bench.deps, fetcher, upstreams: MediaUpstreams.of(upstream) });
      const taskId = await bench.submit();
      await bench.start.run(await bench.claim(taskId), never);
      await bench.change(taskId, `provider = 'guarding'`);
      const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/guarded`;
      await bench.schedule.finish(taskId, [{ role: 'output', contentType: 'image/png', url }]);
      await step.run(await bench.claim(taskId), never);
      expect(await bench.row(taskId)).toMatchObject({ state: 'completed' });
    });
  });
});
