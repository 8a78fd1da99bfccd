import { createFalClient } from '@fal-ai/client';
import type { EndpointTypeMap } from '@fal-ai/client/endpoints';
import { falCodec } from '../fal/fal.codec.js';
import { FakeFal } from './fake-fal.js';
import { FakeVendor, type FakeRequest } from './fake-vendor.js';
import { mutated, ourBody, WAIT_MS } from './judging.js';
import { inputsIn } from './fal-inputs.js';

type Endpoint = keyof EndpointTypeMap;
type InputType<Id extends Endpoint> = EndpointTypeMap[Id]['input'];
type OutputType<Id extends Endpoint> = EndpointTypeMap[Id]['output'];

const ENDPOINT = 'fal-ai/kling-video/v2.6/pro/text-to-video';
const INPUT = { prompt: 'A heron lifts off.', duration: '5', aspect_ratio: '16:9' } as const;

/** What the client makes of an order; `mostMs` is for fakes whose work never ends. */
async function judged<Id extends Endpoint>(
  endpoint: Id,
  input: InputType<Id>,
  { fal = new FakeFal(), mostMs }: { fal?: FakeFal; mostMs?: number } = {},
): Promise<{ readonly data: OutputType<Id>; readonly ordered: FakeRequest | undefined }> {
  const vendor = await FakeVendor.start(fal);
  try {
    const client = createFalClient({
      credentials: fal.key,
      // The client knows no other address, and always gives it as a text.
      fetch: (url, init) => fetch((url as string).replace('https://queue.fal.run', vendor.baseUrl), init),
      retry: { maxRetries: 0 },
    });
    const { data } = await client.subscribe<string>(endpoint, {
      input,
      pollInterval: 1,
      storageSettings: { expiresIn: 86_400 },
      ...(mostMs !== undefined && { timeout: mostMs }),
    });
    return { data: data as OutputType<Id>, ordered: vendor.requests[0] };
  } finally {
    await vendor.close();
  }
}

describe('@fal-ai/client, as a judge of the fake of fal', () => {
  it('46: finishes a video against it', async () => {
    const { data } = await judged(ENDPOINT, INPUT);
    expect(data.video.url).toMatch(/video\.mp4/);
  });

  it('46: finishes images against it', async () => {
    const { data } = await judged('fal-ai/z-image/turbo', { prompt: 'A heron.', num_images: 2 });
    expect(data.images.map(({ url }) => url)).toEqual([
      expect.stringMatching(/0\.png/),
      expect.stringMatching(/1\.png/),
    ]);
  });

  it.each([
    ['"request_id"', '"id"'],
    ['"COMPLETED"', '"DONE"'],
    ['"status"', '"state"'],
  ])('46: does not finish when the fake says %s as %s', async (from, to) => {
    const fal = mutated(new FakeFal(), from, to);
    await expect(judged(ENDPOINT, INPUT, { fal, mostMs: WAIT_MS.endless })).rejects.toThrow(/\S/);
  });

  it('46: finds no video when the fake says "video" as "clip"', async () => {
    const { data } = await judged(ENDPOINT, INPUT, { fal: mutated(new FakeFal(), '"video"', '"clip"') });
    expect(data.video).toBeUndefined();
  });

  it('46: is refused with another key', async () => {
    const fal = Object.assign(new FakeFal(), { keyHeader: { name: 'authorization', value: 'Key other' } });
    await expect(judged(ENDPOINT, INPUT, { fal })).rejects.toMatchObject({ status: 401 });
  });

  it('47: asks for the same life of the files', async () => {
    const header = 'x-fal-object-lifecycle-preference';
    const { ordered } = await judged(ENDPOINT, INPUT);
    const order = { parameters: { mode: 'pro', prompt: 'A heron.' }, model: 'delta-v2-6', references: [] };
    const ours = falCodec.writeStart(order as never, { upstream: 'u', model: 'm' }, () => '');
    expect(ours.headers?.[header]).toBe(ordered?.headers[header]);
  });
});

describe('orders at fal', () => {
  it('47: are what the types of @fal-ai/client say', () => {
    const kling: InputType<'fal-ai/kling-video/v2.6/pro/text-to-video'> = {
      prompt: 'A heron lifts off.',
      duration: '10',
      aspect_ratio: '9:16',
      generate_audio: true,
      negative_prompt: 'rain',
    };
    expect(
      ourBody(falCodec, {
        model: 'delta-v2-6',
        mode: 'pro',
        prompt: 'A heron lifts off.',
        duration: 10,
        aspect_ratio: '9:16',
        audio: true,
        negative_prompt: 'rain',
      }),
    ).toEqual(kling);

    const veo: InputType<'fal-ai/veo3.1/fast/image-to-video'> = {
      prompt: 'A paper boat.',
      image_url: 'https://media.example.com/a.png',
      duration: '6s',
      aspect_ratio: '16:9',
      resolution: '1080p',
      generate_audio: false,
      auto_fix: false,
      seed: 7,
    };
    expect(
      ourBody(falCodec, {
        model: 'gamma-3.1-fast-official',
        prompt: 'A paper boat.',
        first_frame_image: 'https://media.example.com/a.png',
        duration: 6,
        resolution: '1080p',
        resize_mode: 'crop',
        seed: 7,
      }),
    ).toEqual(veo);

    const seedream: InputType<'fal-ai/bytedance/seedream/v4/text-to-image'> = {
      prompt: 'A heron.',
      image_size: { width: 2560, height: 1440 },
      num_images: 1,
      enhance_prompt_mode: 'fast',
    };
    expect(
      ourBody(falCodec, {
        model: 'kappa-a-4-0',
        prompt: 'A heron.',
        size: '16:9',
        optimize_prompt_options: 'fast',
      }),
    ).toEqual(seedream);
  });

  it('46: are checked against fields, choices and forms read from those types', () => {
    const inputs = inputsIn('{\n  a: string;\n  b?: "x" | "y";\n  c?: Array<string>;\n  d?: ImageSize | "auto";\n');
    const allowed = (name: string, value: never): boolean | undefined => inputs.get(name)?.allows(value);
    expect([inputs.get('a')?.required, inputs.get('b')?.required]).toEqual([true, false]);
    const cases = [
      ['a', 'text', 1],
      ['b', 'x', 'z'],
      ['c', ['one'], [1]],
      ['d', { width: 1, height: 2 }, { width: 1 }],
    ] as const;
    for (const [name, right, wrong] of cases)
      expect([allowed(name, right as never), allowed(name, wrong as never)]).toEqual([true, false]);
  });
});
