import { createByteDance } from '@ai-sdk/bytedance';
import { createXai } from '@ai-sdk/xai';
import { arkImageCodec } from '../ark/ark-image.codec.js';
import { arkVideoCodec } from '../ark/ark-video.codec.js';
import { xaiImageCodec } from '../xai/xai-image.codec.js';
import { FakeArkImage } from './fake-ark-image.js';
import { FakeArkVideo } from './fake-ark-video.js';
import { FakeVendor } from './fake-vendor.js';
import { FakeXaiImage } from './fake-xai-image.js';
import { written } from './field-effects.js';
import { mutated, ourBody, shared, WAIT_MS } from './judging.js';
import { catalogFamily } from './sample-requests.js';

async function judged(ark: FakeArkVideo, mostMs: number = WAIT_MS.finished): Promise<{ url: string | undefined }> {
  const vendor = await FakeVendor.start(ark);
  try {
    const model = createByteDance({ baseURL: vendor.baseUrl, apiKey: ark.key }).video('dreamina-seedance-2-0-260128');
    const { videos } = await model.doGenerate({
      prompt: 'A heron lifts off.',
      n: 1,
      aspectRatio: '16:9',
      resolution: '1280x720',
      duration: 5,
      fps: undefined,
      seed: 7,
      image: undefined,
      frameImages: undefined,
      inputReferences: undefined,
      generateAudio: true,
      providerOptions: { bytedance: { returnLastFrame: true, pollIntervalMs: 1, pollTimeoutMs: mostMs } },
    });
    const [video] = videos;
    return { url: video?.type === 'url' ? video.url : undefined };
  } finally {
    await vendor.close();
  }
}

describe('@ai-sdk/bytedance, as a judge of the fake of Ark', () => {
  it('46: finishes an order against it', async () => {
    expect(await judged(new FakeArkVideo())).toEqual({ url: expect.stringMatching(/video\.mp4/) });
  });

  it.each([
    ['"id"', '"task_id"'],
    ['"succeeded"', '"success"'],
    ['"content"', '"result"'],
    ['"video_url"', '"url"'],
    ['"status"', '"state"'],
  ])('46: does not finish when the fake says %s as %s', async (from, to) => {
    await expect(judged(mutated(new FakeArkVideo(), from, to), WAIT_MS.endless)).rejects.toThrow(/\S/);
  });

  it('46: is refused by it for a wrong key', async () => {
    const ark = Object.assign(new FakeArkVideo(), { keyHeader: { name: 'authorization', value: 'Bearer other' } });
    await expect(judged(ark)).rejects.toThrow(/API key/);
  });

  it('47: sends what we send for the same order', async () => {
    const ark = new FakeArkVideo();
    await judged(ark);
    const body = {
      model: 'alpha-2.0',
      prompt: 'A heron lifts off.',
      duration: 5,
      size: '16:9',
      resolution: '720p',
      seed: 7,
      generate_audio: true,
      return_last_frame: true,
    };
    const ours = written(arkVideoCodec, catalogFamily('alpha-2.0').read(body));
    expect('body' in ours && JSON.parse(ours.body)[1]).toEqual(ark.taken[0]);
  });
});

const IMAGE = {
  n: 1,
  seed: undefined,
  files: undefined,
  mask: undefined,
  size: undefined,
  aspectRatio: undefined,
} as const;

describe('@ai-sdk/bytedance, as a judge of the fake of Ark images', () => {
  const judgedImage = async (ark: FakeArkImage): Promise<number> => {
    const vendor = await FakeVendor.start(ark);
    try {
      const model = createByteDance({ baseURL: vendor.baseUrl, apiKey: ark.key }).image('seedream-4-0-250828');
      const { images } = await model.doGenerate({
        ...IMAGE,
        prompt: 'A heron.',
        size: '2048x2048',
        providerOptions: {
          bytedance: { watermark: false, sequentialImageGeneration: 'disabled', optimizePromptMode: 'fast' },
        },
      });
      return images.length;
    } finally {
      await vendor.close();
    }
  };

  it('46: finishes an order against it', async () => {
    expect(await judgedImage(new FakeArkImage())).toBe(1);
  });

  it.each([
    ['"data"', '"images"'],
    ['"b64_json"', '"base64"'],
  ])('46: does not finish when the fake says %s as %s', async (from, to) => {
    await expect(judgedImage(mutated(new FakeArkImage(), from, to))).rejects.toThrow(/\S/);
  });

  it('47: agrees with us in every field that both know', async () => {
    const ark = new FakeArkImage();
    await judgedImage(ark);
    const ours = ourBody(arkImageCodec, {
      model: 'kappa-a-4-0',
      prompt: 'A heron.',
      optimize_prompt_options: 'fast',
    });
    const [we, they] = shared(ours, ark.taken[0] ?? {});
    expect(we).toEqual(they);
    expect(Object.keys(we as object)).toHaveLength(6);
  });
});

describe('@ai-sdk/xai, as a judge of the fake of xAI', () => {
  const judgedImage = async (xai: FakeXaiImage): Promise<number> => {
    const vendor = await FakeVendor.start(xai);
    try {
      const model = createXai({ baseURL: vendor.baseUrl, apiKey: xai.key }).image('grok-imagine-image');
      const asked = { ...IMAGE, n: 2, aspectRatio: '16:9', prompt: 'A heron.', providerOptions: {} } as const;
      return (await model.doGenerate(asked)).images.length;
    } finally {
      await vendor.close();
    }
  };

  it('46: finishes an order against it', async () => {
    expect(await judgedImage(new FakeXaiImage())).toBe(2);
  });

  it('46: does not finish when the fake says "data" as "images"', async () => {
    await expect(judgedImage(mutated(new FakeXaiImage(), '"data"', '"images"'))).rejects.toThrow(/\S/);
  });

  it('47: agrees with us in every field that both know', async () => {
    const xai = new FakeXaiImage();
    await judgedImage(xai);
    const ours = ourBody(xaiImageCodec, {
      model: 'iota-1.0-reseller',
      prompt: 'A heron.',
      n: 2,
      size: '16:9',
    });
    const [we, they] = shared(ours, xai.taken[0] ?? {});
    expect(we).toEqual(they);
    expect(Object.keys(we as object)).toHaveLength(4);
  });
});
