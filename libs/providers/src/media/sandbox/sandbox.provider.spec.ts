import { buffer } from 'node:stream/consumers';
import type { MeasuredReference, MediaOrder, OperationState, OutputPlan, ProviderOutput } from '#contracts';
import { readPng, readTracks } from '#sandbox-media';
import { providerContract } from '../provider-contract.js';
import { outputsOf, readOperation, readOutput } from './sandbox-operation.js';
import { SandboxConfig } from './sandbox.config.js';
import { SandboxProvider } from './sandbox.provider.js';

const signal = new AbortController().signal;

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
  const provider = new SandboxProvider(new SandboxConfig(), undefined, () => clock.nowMs);
  const after = async (order: MediaOrder, elapsedMs: number): Promise<OperationState> => {
    const operation = await provider.start(order, signal);
    clock.nowMs += elapsedMs;
    return provider.check(operation, signal);
  };
  const deliver = async (order: MediaOrder): Promise<readonly ProviderOutput[]> => {
    const state = await after(order, 3_600_000);
    return state.state === 'succeeded' ? state.outputs : [];
  };
  const files = async (order: MediaOrder): Promise<Buffer[]> =>
    Promise.all((await deliver(order)).map(async (output) => buffer(await provider.open(output, signal))));
  return { provider, clock, after, deliver, files };
}

providerContract({
  id: 'sandbox',
  connect: (behaviour) => {
    const words = {
      delivers: '',
      works: '[sandbox:hang]',
      fails: '[sandbox:fail=upstream_error]',
      unavailable: '[sandbox:flaky=1]',
    };
    const { provider, clock } = sandbox();
    return { provider, order: orderOf(VIDEO, words[behaviour]), finish: () => void (clock.nowMs += 1_500) };
  },
});

describe('the sandbox makes what was ordered', () => {
  it('renders an image of the exact size', async () => {
    const [file = Buffer.of()] = await sandbox().files(orderOf(IMAGE));
    expect(readPng(file)).toMatchObject({ width: 2048, height: 1152 });
  });

  it('renders a video of the exact size and length, with sound', async () => {
    const [file = Buffer.of()] = await sandbox().files(orderOf(VIDEO));
    expect(readTracks(file)).toMatchObject([
      { kind: 'vide', width: 832, height: 480, shownSeconds: 5 },
      { kind: 'soun', shownSeconds: 5 },
    ]);
  });

  it('renders a silent video without an audio track', async () => {
    const [file = Buffer.of()] = await sandbox().files(orderOf({ ...VIDEO, audio: false }));
    expect(readTracks(file)).toHaveLength(1);
  });

  it('adds the last frame as an image when it was ordered', async () => {
    const order = orderOf({ ...VIDEO, lastFrame: true });
    const { deliver, files } = sandbox();
    expect(await deliver(order)).toMatchObject([
      { role: 'output', contentType: 'video/mp4' },
      { role: 'last_frame', contentType: 'image/png' },
    ]);
    const [, lastFrame = Buffer.of()] = await files(order);
    expect(readPng(lastFrame)).toMatchObject({ width: 832, height: 480 });
  });

  it('makes as many different outputs as ordered', async () => {
    const size = { kind: 'fixed', width: 320, height: 320 } as const;
    const files = await sandbox().files(orderOf({ ...IMAGE, count: 15, size }));
    expect(new Set(files.map((file) => file.toString('base64'))).size).toBe(15);
  });

  it('takes the ratio of a reference and shows what was measured in it', async () => {
    const size = { kind: 'like-reference', param: PHOTO.param, pixels: 832 * 480, multipleOf: 16 } as const;
    const { provider, files } = sandbox();
    const order = orderOf({ ...VIDEO, size }, 'A lighthouse', { references: [PHOTO] });
    const [file = Buffer.of()] = await files(order);
    expect(readTracks(file)[0]).toMatchObject({ width: 736, height: 544 });
    const operation = await provider.start(order, signal);
    expect(operation).toMatchObject({
      scene: { facts: ['text-to-video', 'image_urls[0] first_frame: jpeg 1200x900 48211 bytes'] },
    });
  });

  it('plays a soundtrack shorter than the video to its end, then silence', async () => {
    const soundtrack = { param: 'audio_url', medium: 'audio', role: 'soundtrack', source: '', format: 'wav' } as const;
    const references = [{ ...soundtrack, bytes: 9, durationSeconds: 3 }];
    const operation = await sandbox().provider.start(orderOf(VIDEO, '', { references }), signal);
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
      (await sandbox().provider.start(orderOf(IMAGE, '', { parameters, taskId }), signal))['scene'];
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
    const { provider } = sandbox();
    const attempt = (attempt: number) => provider.start(orderOf(IMAGE, '[sandbox:flaky=2]', { attempt }), signal);
    await expect(attempt(1)).rejects.toMatchObject({ kind: 'retryable', code: 'upstream_error' });
    await expect(attempt(2)).rejects.toMatchObject({ kind: 'retryable' });
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
    const { provider, clock } = sandbox();
    const operation = await provider.start(orderOf(VIDEO), signal);
    expect(await provider.cancel(operation, signal)).toBe('cancelled');
    clock.nowMs += 1_500;
    expect(await provider.cancel(operation, signal)).toBe('too_late');
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
  const older = (request: object): ProviderOutput => ({
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
    await expect(sandbox().provider.check({ vendorTaskId: '1' }, signal)).rejects.toMatchObject({ kind: 'final' });
  });

  it('an output of another vendor', async () => {
    const output = { role: 'output', contentType: 'image/png', url: 'https://example.com/a.png' } as const;
    await expect(sandbox().provider.open(output, signal)).rejects.toMatchObject({ kind: 'final' });
  });

  it('a video so long and thin that no player shows it', async () => {
    const size = { kind: 'like-reference', param: PHOTO.param, pixels: 1280 * 720, multipleOf: 2 } as const;
    const thin = orderOf({ ...VIDEO, size }, '', { references: [{ ...PHOTO, width: 9000, height: 30 }] });
    await expect(sandbox().provider.start(thin, signal)).rejects.toMatchObject({
      kind: 'final',
      code: 'invalid_media',
    });
    const slim = orderOf({ ...VIDEO, size }, '', { references: [{ ...PHOTO, width: 4000, height: 500 }] });
    await expect(sandbox().provider.start(slim, signal)).resolves.toMatchObject({
      scene: { width: 2716, height: 340 },
    });
  });

  it('to render for a caller that has given up', async () => {
    const { provider, deliver } = sandbox();
    const [output] = await deliver(orderOf(IMAGE));
    if (!output) throw new Error('an output was expected');
    await expect(provider.open(output, AbortSignal.abort())).rejects.toThrow(/abort/i);
  });
});
