import { createAlibaba } from '@ai-sdk/alibaba';
import type { JsonObject } from '#contracts';
import { dashscopeVideoCodec } from '../dashscope/dashscope-video.codec.js';
import { FakeDashscopeVideo } from './fake-dashscope-video.js';
import { FakeVendor } from './fake-vendor.js';
import { mutated, orderedVideos, ourBody, type VideoOptions, WAIT_MS } from './judging.js';

const NOTHING = {
  n: 1,
  aspectRatio: undefined,
  resolution: undefined,
  duration: undefined,
  fps: undefined,
  seed: undefined,
  image: undefined,
  frameImages: undefined,
  inputReferences: undefined,
  generateAudio: undefined,
} as const;
const PROMPT = 'A heron lifts off.';

async function judged(
  model: string,
  asked: Partial<Omit<VideoOptions, 'providerOptions'>> & { readonly options?: JsonObject },
  dashscope = new FakeDashscopeVideo(),
  mostMs: number = WAIT_MS.finished,
): Promise<string | undefined> {
  const vendor = await FakeVendor.start(dashscope);
  try {
    const { options, ...rest } = asked;
    const [video] = await orderedVideos(
      createAlibaba({ videoBaseURL: vendor.baseUrl, apiKey: dashscope.key }).video(model),
      { ...NOTHING, prompt: PROMPT, ...rest, providerOptions: { alibaba: { ...options } } },
      mostMs,
    );
    return video?.type === 'url' ? video.url : undefined;
  } finally {
    await vendor.close();
  }
}

const TEXT = {
  aspectRatio: '9:16',
  resolution: '1280x720',
  duration: 6,
  seed: 7,
  options: { promptExtend: false, watermark: true, negativePrompt: 'rain' },
} as const;

describe('@ai-sdk/alibaba, as a judge of the fake of Model Studio', () => {
  it('46: finishes an order against it', async () => {
    expect(await judged('wan2.7-t2v', TEXT)).toMatch(/video\.mp4/);
  });

  it.each([
    ['"task_id"', '"id"'],
    ['"SUCCEEDED"', '"succeeded"'],
    ['"video_url"', '"url"'],
    ['"output"', '"result"'],
    ['"task_status"', '"status"'],
  ])('46: does not finish when the fake says %s as %s', async (from, to) => {
    const dashscope = mutated(new FakeDashscopeVideo(), from, to);
    await expect(judged('wan2.7-t2v', TEXT, dashscope, WAIT_MS.endless)).rejects.toThrow(/\S/);
  });

  it('46: says that the key is wrong when the fake wants another', async () => {
    const header = { name: 'authorization', value: 'Bearer other' };
    const dashscope = Object.assign(new FakeDashscopeVideo(), { keyHeader: header });
    await expect(judged('wan2.7-t2v', TEXT, dashscope)).rejects.toThrow(/API-key/);
  });

  it.each([
    [
      'a video from a text',
      'wan2.7-t2v',
      TEXT,
      {
        model: 'beta-2.7',
        prompt: PROMPT,
        size: '9:16',
        resolution: '720P',
        duration: 6,
        seed: 7,
        prompt_extend: false,
        watermark: true,
        negative_prompt: 'rain',
      },
    ],
    [
      'a video of the older shape from an image',
      'wan2.6-i2v',
      {
        image: { type: 'url', url: 'https://media.example.com/a.png' },
        resolution: '1920x1080',
        duration: 10,
        options: { shotType: 'multi', promptExtend: true, watermark: false },
      },
      {
        model: 'beta-2.6',
        prompt: PROMPT,
        image_urls: ['https://media.example.com/a.png'],
        resolution: '1080p',
        duration: 10,
        shot_type: 'multi',
        prompt_extend: true,
        watermark: false,
      },
    ],
    [
      'a video of the older shape from a text',
      'wan2.5-t2v-preview',
      { resolution: '832x480', duration: 5, options: { promptExtend: true, watermark: false } },
      { model: 'beta-2.5-preview', prompt: PROMPT, resolution: '480p', duration: 5 },
    ],
    [
      'a video with characters',
      'wan2.7-r2v',
      {
        aspectRatio: '1:1',
        resolution: '1280x720',
        duration: 5,
        options: {
          promptExtend: true,
          watermark: false,
          media: [
            {
              type: 'reference_image',
              url: 'https://media.example.com/a.png',
              referenceVoice: 'https://media.example.com/a.mp3',
            },
            { type: 'reference_video', url: 'https://media.example.com/b.mp4' },
          ],
        },
      },
      {
        model: 'beta-2.7-r2v',
        prompt: PROMPT,
        size: '1:1',
        resolution: '720P',
        duration: 5,
        image_with_roles: [
          { url: 'https://media.example.com/a.png', reference_voice: 'https://media.example.com/a.mp3' },
        ],
        video_urls: ['https://media.example.com/b.mp4'],
      },
    ],
  ] as const)('47: sends what we send for %s', async (_, model, asked, body) => {
    const dashscope = new FakeDashscopeVideo();
    await judged(model, asked, dashscope);
    expect(ourBody(dashscopeVideoCodec, body as unknown as JsonObject & { model: string })).toEqual(dashscope.taken[0]);
  });
});
