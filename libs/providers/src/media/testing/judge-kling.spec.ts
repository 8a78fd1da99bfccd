import { KlingAPI } from 'kling-api';
import type { JsonObject } from '#contracts';
import { klingCodec } from '../kling/kling.codec.js';
import { FakeKling } from './fake-kling.js';
import { FakeVendor } from './fake-vendor.js';
import { mutated, ourBody, shared, WAIT_MS } from './judging.js';

const ASKED = {
  model_name: 'kling-v2-6',
  prompt: 'A street musician plays.',
  negative_prompt: 'rain',
  mode: 'pro',
  duration: '10',
  aspect_ratio: '9:16',
  sound: 'on',
  external_task_id: 'task_1',
} as const;

async function judged(kling: FakeKling, mostMs: number = WAIT_MS.finished): Promise<string | undefined> {
  const vendor = await FakeVendor.start(kling);
  try {
    const api = new KlingAPI({
      accessKey: kling.accessKey,
      secretKey: kling.secretKey,
      baseUrl: 'https://kling.example.com',
    });
    // The library takes https addresses only.
    Object.assign(api.client.defaults, { baseURL: vendor.baseUrl, proxy: false });
    const { data } = await api.textToVideo(ASKED);
    const done = await api.waitForVideoResult(data.task_id, (id) => api.queryTextToVideoTask(id), {
      interval: 1,
      timeout: mostMs,
      showSpinner: false,
    });
    return done.data.task_result?.videos?.[0]?.url;
  } finally {
    await vendor.close();
  }
}

describe('kling-api, as a judge of the fake of Kling', () => {
  it('46: finishes an order against it, with a token of its own', async () => {
    expect(await judged(new FakeKling())).toMatch(/video\.mp4/);
  });

  it.each([
    ['"data"', '"result"'],
    ['"succeed"', '"succeeded"'],
    ['"task_status"', '"status"'],
  ])('46: does not finish when the fake says %s as %s', async (from, to) => {
    await expect(judged(mutated(new FakeKling(), from, to), WAIT_MS.endless)).rejects.toThrow(/\S/);
  });

  it.each([
    ['"task_result"', '"result"'],
    ['"url"', '"link"'],
  ])('46: finds no video when the fake says %s as %s', async (from, to) => {
    expect(await judged(mutated(new FakeKling(), from, to))).toBeUndefined();
  });

  it('46: is refused when the fake knows another secret key', async () => {
    const kling = new FakeKling();
    Object.assign(kling, { authenticate: () => kling.unauthorized });
    await expect(judged(kling)).rejects.toThrow(/authorization is invalid/);
  });

  it('47: agrees with us in every field that both know', async () => {
    const kling = new FakeKling();
    await judged(kling);
    const ours = ourBody(klingCodec, {
      model: 'delta-v2-6',
      prompt: ASKED.prompt,
      negative_prompt: 'rain',
      mode: 'pro',
      duration: 10,
      aspect_ratio: '9:16',
      audio: true,
    });
    const { path: _path, ...theirs } = kling.taken[0] as JsonObject;
    const [we, they] = shared(ours, theirs);
    expect(we).toEqual(they);
    expect(Object.keys(we as object)).toHaveLength(8);
  });
});
