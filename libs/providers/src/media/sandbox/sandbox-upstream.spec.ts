import { buffer } from 'node:stream/consumers';
import {
  type MeasuredReference,
  MediaFailure,
  type MediaOrder,
  type Operation,
  type OperationState,
  type OutputPlan,
  type UpstreamOutput,
  TASK_FAILURES,
  type VendorCall,
} from '#contracts';
import { BufferSource, inspectMedia } from '#media';
import { RenderPool } from '#sandbox-media';
import { outputsOf, readOperation, readOutput } from './sandbox-operation.js';
import { SandboxConfig, SandboxUpstream } from './sandbox-upstream.js';

const call = { signal: new AbortController().signal };
const GIVEN_UP = { signal: AbortSignal.abort() };

const VIDEO: OutputPlan = {
  medium: 'video',
  count: 1,
  size: { kind: 'fixed', width: 832, height: 480 },
  durationSeconds: 5,
  audio: true,
  lastFrame: false,
  watermark: false,
};
const IMAGE: OutputPlan = {
  medium: 'image',
  count: 1,
  size: { kind: 'fixed', width: 2048, height: 1152 },
  watermark: false,
};
const PHOTO: MeasuredReference = {
  param: 'image_urls[0]',
  medium: 'image',
  role: 'first_frame',
  source: 'https://example.com/photo.jpg',
  format: 'jpeg',
  bytes: 48_211,
  width: 1200,
  height: 900,
};

function orderOf(output: OutputPlan, prompt = 'A lighthouse', change: Partial<MediaOrder> = {}): MediaOrder {
  const video = output.medium === 'video';
  return {
    taskId: 'task_01JD0000000000000000000000',
    model: video ? 'beta-2.5-preview' : 'eta-image-2.0',
    family: video ? 'beta-2.5' : 'eta',
    medium: output.medium,
    mode: video ? 'text-to-video' : 'text-to-image',
    parameters: { prompt },
    references: [],
    output,
    ...change,
  };
}

/** A sandbox whose clock the test turns. */
function sandbox() {
  const clock = { nowMs: 1_795_190_389_000 };
  const upstream = new SandboxUpstream({
    config: new SandboxConfig(),
    renderPool: new RenderPool(),
    now: () => clock.nowMs,
  });
  const start = async (order: MediaOrder, at: Pick<VendorCall, 'signal'> = call): Promise<Operation> => {
    const started = await upstream.start(order, at);
    if (started.kind === 'finished') throw new Error('the sandbox finishes nothing at once');
    return started.operation;
  };
  const after = async (order: MediaOrder, elapsedMs: number): Promise<OperationState> => {
    const operation = await start(order);
    clock.nowMs += elapsedMs;
    return upstream.check(operation, call);
  };
  const deliver = async (order: MediaOrder): Promise<readonly UpstreamOutput[]> => {
    const state = await after(order, 3_600_000);
    return state.state === 'succeeded' ? state.outputs : [];
  };
  const files = async (order: MediaOrder): Promise<Buffer[]> =>
    Promise.all((await deliver(order)).map(async (output) => buffer(await upstream.open(output, call))));
  return { upstream, start, clock, after, deliver, files };
}

describe('sandbox keeps the provider contract', () => {
  it('has the id it is registered under', () => {
    expect(sandbox().upstream.id).toBe('sandbox');
  });

  it('starts with an operation that survives JSON, so that any process can continue', async () => {
    const operation = await sandbox().start(orderOf(VIDEO));
    expect(JSON.parse(JSON.stringify(operation))).toEqual(operation);
  });

  it('keeps inline files out of the operation, which is saved in the task row', async () => {
    const inline = `data:image/png;base64,${'A'.repeat(100_000)}`;
    const operation = await sandbox().start(orderOf(VIDEO, '', { parameters: { prompt: '', image_urls: [inline] } }));
    expect(JSON.stringify(operation).length).toBeLessThan(20_000);
  });

  it('throws a retryable error when the vendor cannot take an order right now', async () => {
    const failure: unknown = await sandbox()
      .start(orderOf(VIDEO, '[sandbox:flaky=1]'))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MediaFailure);
    expect(failure).toMatchObject({ kind: 'unavailable' });
  });

  it('does nothing for a caller that has already given up', async () => {
    await expect(sandbox().start(orderOf(VIDEO), GIVEN_UP)).rejects.toThrow(/abort/i);
  });

  it('says pending while the vendor works, with a progress below 100 if any', async () => {
    const state = await sandbox().after(orderOf(VIDEO, '[sandbox:hang]'), 0);
    expect(state.state).toBe('pending');
    const { pollDelayMs = 0, progressPercent = -1 } = state as Extract<OperationState, { state: 'pending' }>;
    expect(pollDelayMs).toBeGreaterThan(0);
    expect(progressPercent).toBeGreaterThanOrEqual(0);
    expect(progressPercent).toBeLessThan(100);
  });

  /** Starts with one process and continues with another, as after a crash. */
  async function startThenHandOver(prompt: string) {
    const operation = await sandbox().start(orderOf(VIDEO, prompt));
    const { upstream, clock } = sandbox();
    clock.nowMs += 1_500;
    return { upstream, operation: JSON.parse(JSON.stringify(operation)) as Operation };
  }

  it('delivers files of a stated type to a process that did not start the work', async () => {
    const { upstream, operation } = await startThenHandOver('');
    const state = await upstream.check(operation, call);
    expect(state).toMatchObject({ state: 'succeeded' });
    const { outputs } = state as Extract<OperationState, { state: 'succeeded' }>;
    expect(outputs.length).toBeGreaterThan(0);
    for (const { contentType, url } of outputs) {
      expect(contentType).toMatch(/^(image|video)\/[a-z0-9]+$/);
      expect(URL.canParse(url)).toBe(true);
    }
  });

  it('answers the same when it is asked again', async () => {
    const { upstream, operation } = await startThenHandOver('');
    expect(await upstream.check(operation, call)).toEqual(await upstream.check(operation, call));
  });

  it('reports work that failed as a state with a public reason instead of throwing', async () => {
    const { upstream, operation } = await startThenHandOver('[sandbox:fail=upstream_error]');
    const state = await upstream.check(operation, call);
    expect(state).toMatchObject({ state: 'failed', publicReason: expect.stringMatching(/\S/) });
    const { code } = state as Extract<OperationState, { state: 'failed' }>;
    expect(Object.keys(TASK_FAILURES)).toContain(code);
  });
});

const inspected = (file: Buffer) => inspectMedia(new BufferSource(file));

describe('the sandbox makes what was ordered', () => {
  it('renders an image of the exact size', async () => {
    const [file = Buffer.of()] = await sandbox().files(orderOf(IMAGE));
    expect(await inspected(file)).toMatchObject({ format: 'png', width: 2048, height: 1152 });
  });

  it('renders a video of the exact size and length, with sound', async () => {
    const [file = Buffer.of()] = await sandbox().files(orderOf(VIDEO));
    expect(await inspected(file)).toEqual({
      medium: 'video',
      format: 'mp4',
      width: 832,
      height: 480,
      durationSeconds: 5,
      hasAudio: true,
    });
  });

  it('renders a silent video without an audio track', async () => {
    const [file = Buffer.of()] = await sandbox().files(orderOf({ ...VIDEO, audio: false }));
    expect(await inspected(file)).toMatchObject({ medium: 'video', hasAudio: false });
  });

  it('adds the last frame as an image when it was ordered', async () => {
    const order = orderOf({ ...VIDEO, lastFrame: true });
    const { deliver, files } = sandbox();
    expect(await deliver(order)).toMatchObject([
      { role: 'output', contentType: 'video/mp4' },
      { role: 'last_frame', contentType: 'image/png' },
    ]);
    const [, lastFrame = Buffer.of()] = await files(order);
    expect(await inspected(lastFrame)).toMatchObject({ format: 'png', width: 832, height: 480 });
  });

  it('makes as many different outputs as ordered', async () => {
    const size = { kind: 'fixed', width: 320, height: 320 } as const;
    const files = await sandbox().files(orderOf({ ...IMAGE, count: 15, size }));
    expect(new Set(files.map((file) => file.toString('base64'))).size).toBe(15);
  });

  it('takes the ratio of a reference and shows what was measured in it', async () => {
    const size = { kind: 'like-reference', param: PHOTO.param, pixels: 832 * 480, multipleOf: 16 } as const;
    const { start, files } = sandbox();
    const order = orderOf({ ...VIDEO, size }, 'A lighthouse', { references: [PHOTO] });
    const [file = Buffer.of()] = await files(order);
    expect(await inspected(file)).toMatchObject({ width: 736, height: 544 });
    const operation = await start(order);
    expect(operation).toMatchObject({
      scene: { facts: ['text-to-video', 'image_urls[0] first_frame: jpeg 1200x900 48211 bytes'] },
    });
  });

  it('plays a soundtrack shorter than the video to its end, then silence', async () => {
    const soundtrack = { param: 'audio_url', medium: 'audio', role: 'soundtrack', source: '', format: 'wav' } as const;
    const references = [{ ...soundtrack, bytes: 9, durationSeconds: 3 }];
    const operation = await sandbox().start(orderOf(VIDEO, '', { references }));
    expect(operation).toMatchObject({ video: { durationSeconds: 5, audibleSeconds: 3 } });
  });

  it('gives the same bytes for the same request and seed, whatever the task', async () => {
    const parameters = { prompt: 'A lighthouse', seed: 5 };
    const [first] = await sandbox().files(orderOf(VIDEO, '', { parameters, taskId: 'task_a' }));
    const [second] = await sandbox().files(orderOf(VIDEO, '', { parameters, taskId: 'task_b' }));
    expect(first?.equals(second ?? Buffer.of())).toBe(true);
  });

  it.each([undefined, -1])('draws a seed for seed %p that stays the same when the task starts again', async (seed) => {
    const parameters = seed === undefined ? { prompt: 'A' } : { prompt: 'A', seed };
    const seedFor = async (taskId: string) =>
      (await sandbox().start(orderOf(IMAGE, '', { parameters, taskId })))['scene'];
    expect(await seedFor('task_a')).toEqual(await seedFor('task_a'));
    expect(await seedFor('task_a')).not.toEqual(await seedFor('task_b'));
  });

  it('makes an order without a prompt', async () => {
    const [file] = await sandbox().files(orderOf(IMAGE, '', { parameters: {} }));
    expect(file?.length).toBeGreaterThan(0);
  });
});

describe('the sandbox pretends to work', () => {
  it.each([
    ['a video', VIDEO, 1_500],
    ['an image', IMAGE, 300],
  ])('on %s as long as configured, and tells its progress', async (_medium, output, workMs) => {
    const { after } = sandbox();
    expect(await after(orderOf(output), 0)).toMatchObject({ state: 'pending', progressPercent: 0 });
    const half = await after(orderOf(output), workMs / 2);
    expect(half).toEqual({ state: 'pending', progressPercent: 50, pollDelayMs: workMs / 2 });
    expect(await after(orderOf(output), workMs - 1)).toMatchObject({ state: 'pending', progressPercent: 99 });
    expect(await after(orderOf(output), workMs)).toMatchObject({ state: 'succeeded' });
  });

  it('as long as [sandbox:delay=…] says', async () => {
    const order = orderOf(IMAGE, 'A [sandbox:delay=5000] lighthouse');
    expect(await sandbox().after(order, 4_999)).toMatchObject({ state: 'pending', pollDelayMs: 20 });
    expect(await sandbox().after(order, 5_000)).toMatchObject({ state: 'succeeded' });
  });

  it('forever on [sandbox:hang]', async () => {
    const state = await sandbox().after(orderOf(VIDEO, '[sandbox:hang]'), 1e12);
    expect(state).toEqual({ state: 'pending', pollDelayMs: 1_000, progressPercent: 0 });
  });

  it.each(['content_policy', 'upstream_error'])('and then fails on [sandbox:fail=%s]', async (code) => {
    const order = orderOf(VIDEO, `[sandbox:fail=${code}]`);
    expect(await sandbox().after(order, 0)).toMatchObject({ state: 'pending' });
    expect(await sandbox().after(order, 1_500)).toMatchObject({ state: 'failed', code });
  });

  it('and fails the first two tries to start on [sandbox:flaky=2]', async () => {
    const { start } = sandbox();
    const attempt = (attempt: number) => start(orderOf(IMAGE, '[sandbox:flaky=2]', { attempt }));
    await expect(attempt(1)).rejects.toMatchObject({ kind: 'unavailable', code: 'upstream_error' });
    await expect(attempt(2)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(attempt(3)).resolves.toMatchObject({ provider: 'sandbox' });
  });

  it('and delivers only some outputs on [sandbox:partial=2]', async () => {
    const { deliver, after } = sandbox();
    expect(await deliver(orderOf({ ...IMAGE, count: 6 }, '[sandbox:partial=2]'))).toHaveLength(2);
    expect(await deliver(orderOf({ ...IMAGE, count: 1 }, '[sandbox:partial=2]'))).toHaveLength(1);
    const none = await after(orderOf({ ...IMAGE, count: 6 }, '[sandbox:partial=0]'), 300);
    expect(none).toMatchObject({ state: 'failed', code: 'upstream_error' });
  });

  it('and can be stopped until it is done', async () => {
    const { upstream, start, clock } = sandbox();
    const operation = await start(orderOf(VIDEO));
    expect(await upstream.cancel(operation, call)).toBe('cancelled');
    clock.nowMs += 1_500;
    expect(await upstream.cancel(operation, call)).toBe('too_late');
  });
});

describe('the sandbox continues what older releases began', () => {
  const scene = {
    model: 'm',
    prompt: 'p',
    seed: 1,
    index: 0,
    count: 1,
    width: 64,
    height: 64,
    watermark: false,
    facts: [],
  };
  const older = (request: object): UpstreamOutput => ({
    role: 'output',
    contentType: 'image/png',
    url: `sandbox:${Buffer.from(JSON.stringify(request)).toString('base64url')}`,
  });

  it('an operation whose row says `film`', () => {
    const begun = {
      provider: 'sandbox',
      startedAtMs: 0,
      workMs: 0,
      failure: null,
      delivered: 1,
      scene,
      lastFrame: false,
    };
    const film = { durationSeconds: 1, audibleSeconds: null };
    expect(outputsOf(readOperation({ ...begun, film }))).toEqual(outputsOf(readOperation({ ...begun, video: film })));
    expect(outputsOf(readOperation({ ...begun, film: null }))).toMatchObject([{ contentType: 'image/png' }]);
  });

  it('an output whose address says `picture` or `film`', () => {
    const film = { durationSeconds: 1, audibleSeconds: null };
    expect(readOutput(older({ kind: 'picture', scene }))).toEqual({ kind: 'image', scene });
    expect(readOutput(older({ kind: 'film', scene, film }))).toEqual({ kind: 'video', scene, video: film });
  });
});

describe('the sandbox refuses what is not its own', () => {
  it('an operation of another vendor', async () => {
    await expect(sandbox().upstream.check({ vendorTaskId: '1' }, call)).rejects.toMatchObject({ kind: 'refused' });
  });

  it('an output of another vendor', async () => {
    const output = { role: 'output', contentType: 'image/png', url: 'https://example.com/a.png' } as const;
    await expect(sandbox().upstream.open(output, call)).rejects.toMatchObject({ kind: 'refused' });
  });

  it('a video so long and thin that no player shows it', async () => {
    const size = { kind: 'like-reference', param: PHOTO.param, pixels: 1280 * 720, multipleOf: 2 } as const;
    const thin = orderOf({ ...VIDEO, size }, '', { references: [{ ...PHOTO, width: 9000, height: 30 }] });
    await expect(sandbox().start(thin)).rejects.toMatchObject({
      kind: 'refused',
      code: 'invalid_media',
      publicReason: expect.stringContaining('cannot be made'),
    });
    const slim = orderOf({ ...VIDEO, size }, '', { references: [{ ...PHOTO, width: 4000, height: 500 }] });
    await expect(sandbox().start(slim)).resolves.toMatchObject({
      scene: { width: 2716, height: 340 },
    });
  });

  it('to render for a caller that has given up', async () => {
    const { upstream, deliver } = sandbox();
    const [output] = await deliver(orderOf(IMAGE));
    if (!output) throw new Error('an output was expected');
    await expect(upstream.open(output, GIVEN_UP)).rejects.toThrow(/abort/i);
  });
});
