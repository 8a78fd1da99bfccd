import type { JsonObject, OperationState } from '#contracts';
import { type ConnectedFake, connectFake } from '../testing/connected-fake.js';
import { FakeFal, falModelError, falRefusal } from '../testing/fake-fal.js';
import type { FakeReply } from '../testing/fake-vendor.js';
import { mediaUpstreamContract } from '../testing/media-upstream-contract.js';
import { falCodec } from './fal.codec.js';

const IMAGE = 'https://media.example.com/a.png';
const ORDER = { model: 'alpha-2.0', prompt: 'A heron lifts off.', duration: 5, resolution: '720p' };
const KLING = { model: 'delta-v2-6', prompt: 'A street musician.', mode: 'pro' };
const VEO = { model: 'gamma-3.1-fast-official', prompt: 'A paper boat.' };
const HAILUO = { model: 'epsilon-02', prompt: 'A cat.' };
const WAN = { model: 'beta-2.7-r2v', prompt: 'The first image waves.', image_with_roles: [{ url: IMAGE }] };
const IMAGES = { model: 'kappa-a-4-0', prompt: 'A dog.', image_urls: [IMAGE], n: 3 };

const says = (status: string) => (fal: FakeFal) => {
  fal.status = status;
};
const ends = (result: FakeReply) => (fal: FakeFal) => {
  fal.result = result;
};

mediaUpstreamContract({
  codec: falCodec,
  fake: () => new FakeFal(),
  judge: 'judge-fal.spec.ts',
  order: ORDER,
  alwaysSent: {},
  elsewhere: {
    31: 'refused by name: the endpoints deliver none',
    32: 'refused by name: the endpoints make none',
  },
  withFiles: {
    ...ORDER,
    image_urls: [IMAGE, 'https://media.example.com/b.png'],
    video_urls: ['https://media.example.com/c.mp4'],
    audio_urls: ['https://media.example.com/d.mp3'],
  },
  lacks: [
    ['a last frame in the answer', { ...ORDER, return_last_frame: true }, 'return_last_frame'],
    ['tools', { ...ORDER, tools: [{ type: 'web_search' }] }, 'tools'],
    ['an order without a prompt', { model: 'alpha-2.0', image_urls: [IMAGE] }, 'prompt'],
    ['a watermark', { model: 'beta-2.7', prompt: 'A heron.', watermark: true }, 'watermark'],
    ['a seed beyond that of the model', { model: 'beta-2.7', prompt: 'A heron.', seed: 2_147_483_648 }, 'seed'],
    [
      'a first frame beside references',
      { ...WAN, image_with_roles: [{ url: IMAGE, role: 'first_frame' }] },
      'image_with_roles',
    ],
    ['more seconds than with references', { ...WAN, duration: 11 }, 'duration'],
    ['a template', { model: 'beta-2.6', image_urls: [IMAGE], template: 'hug' }, 'template'],
    ['a silent video', { model: 'beta-2.6', prompt: 'A heron.', audio: false }, 'audio'],
    ['a ratio', { model: 'beta-2.5-preview', prompt: 'A boat.', size: '4:3' }, 'size'],
    ['several videos', { ...VEO, sample_count: 2 }, 'sample_count'],
    ['five seconds', { ...VEO, duration: 5 }, 'duration'],
    ['videos without persons', { ...VEO, person_generation: 'disallow' }, 'person_generation'],
    ['padding', { ...VEO, first_frame_image: IMAGE }, 'resize_mode'],
    ['the grade std', { ...KLING, mode: 'std' }, 'mode'],
    ['512p from a text', { ...HAILUO, resolution: '512p' }, 'resolution'],
    ['a last frame alone', { ...HAILUO, last_frame_image: IMAGE }, 'last_frame_image'],
    ['quick optimisation', { ...HAILUO, fast_pretreatment: true }, 'fast_pretreatment'],
    [
      'a fourth reference',
      { model: 'eta-image-2.0', prompt: 'A dog.', image_urls: [1, 2, 3, 4].map((n) => `${IMAGE}?${n}`) },
      'image_urls',
    ],
    ['the shape of the reference in 1K', { ...IMAGES, size: 'auto', resolution: '1K' }, 'resolution'],
    ['a fifth image', { model: 'iota-1.0-reseller', prompt: 'A dog.', n: 5 }, 'n'],
  ],
  refusals: [
    ['a rate', falRefusal(429, 'Too many requests'), { kind: 'busy', scope: 'account' }],
    [
      'an empty balance',
      falRefusal(403, 'User is locked. Reason: Exhausted balance.'),
      { kind: 'unfit', reason: 'not_paid' },
    ],
    ['a locked account', falRefusal(403, 'User is locked. Reason: Admin lock.'), { kind: 'unfit' }],
    ['a wrong key', falRefusal(401, 'No user found for Key ID and Secret'), { kind: 'unfit', reason: 'wrong_key' }],
    ['an endpoint that is gone', falRefusal(404, 'Application not found'), { kind: 'unfit', scope: 'model' }],
    ['refused content', falModelError(422, 'content_policy_violation'), { kind: 'refused', reason: 'content_refused' }],
    [
      'a file that cannot be fetched',
      falModelError(422, 'file_download_error'),
      { kind: 'refused', reason: 'reference_unusable' },
    ],
    ['a value that it does not take', falModelError(422, 'less_than_equal'), { kind: 'unsupported' }],
  ],
  states: [
    ['work in the queue', says('IN_QUEUE'), { state: 'pending' }],
    ['work under way', says('IN_PROGRESS'), { state: 'pending' }],
    [
      'a video',
      says('COMPLETED'),
      {
        state: 'succeeded',
        outputs: [{ role: 'output', contentType: 'video/mp4', url: 'https://v3.fal.media/files/video.mp4' }],
      },
    ],
    [
      'how long a video is',
      ends({ body: { video: { url: IMAGE, duration: 6.0 } } }),
      { state: 'succeeded', outputs: [expect.objectContaining({ seconds: 6 })] },
    ],
    [
      'an end without a video',
      ends({ body: { video: null } }),
      { state: 'failed', publicReason: 'The vendor reported success but delivered no file.' },
    ],
    [
      'refused content',
      ends(falModelError(422, 'content_policy_violation')),
      { state: 'failed', code: 'content_policy' },
    ],
    [
      'a file that cannot be used',
      ends(falModelError(422, 'image_too_small')),
      { state: 'failed', code: 'invalid_media' },
    ],
    [
      'a refused value',
      ends(falModelError(422, 'less_than')),
      { state: 'failed', publicReason: 'The vendor refused a parameter of the order.' },
    ],
    [
      'a failure of the model',
      ends(falModelError(500, 'downstream_service_error')),
      { state: 'failed', code: 'upstream_error' },
    ],
    [
      'a failure of the runner',
      ends(falRefusal(503, 'gone', 'runner_disconnected')),
      { state: 'failed', code: 'upstream_error' },
    ],
    [
      'work that took too long',
      ends(falRefusal(504, 'late', 'request_timeout')),
      { state: 'failed', publicReason: 'The vendor did not finish within its own time limit.' },
    ],
    [
      'cancelled work',
      ends(falRefusal(499, 'stopped', 'client_cancelled')),
      { state: 'failed', publicReason: 'The vendor stopped working on the order.' },
    ],
    [
      'a result that is gone',
      ends(falRefusal(404, 'Not found')),
      { state: 'failed', publicReason: 'The vendor no longer knows this order.' },
    ],
    [
      'images in their order',
      says('COMPLETED'),
      {
        state: 'succeeded',
        outputs: [0, 1, 2].map((index) => expect.objectContaining({ url: `https://v3.fal.media/files/${index}.png` })),
      },
      IMAGES,
    ],
    [
      'fewer images than were ordered, and one that was withheld',
      ends({ body: { images: [{ url: IMAGE }, { url: IMAGE }], has_nsfw_concepts: [false, true] } }),
      {
        state: 'succeeded',
        outputs: [expect.objectContaining({ contentType: 'image/png' })],
        missing: [
          expect.objectContaining({ ordinal: 1, code: 'content_policy' }),
          expect.objectContaining({ ordinal: 2, code: 'upstream_error' }),
        ],
      },
      IMAGES,
    ],
    [
      'nothing but withheld images',
      ends({ body: { images: [{ url: IMAGE }], has_nsfw_concepts: [true] } }),
      { state: 'failed', code: 'content_policy' },
      { model: 'theta-image-turbo', prompt: 'A dog.' },
    ],
  ],
  strange: says('PONDERING'),
  stoppable: says('IN_QUEUE'),
});

describe('fal', () => {
  let fal: ConnectedFake<FakeFal>;
  beforeAll(async () => {
    fal = await connectFake(falCodec, () => new FakeFal());
  });
  afterEach(() => fal.vendor.reset());
  afterAll(() => fal.close());

  it.each<[what: string, body: JsonObject, endpoint: string, input: JsonObject]>([
    [
      'a text',
      ORDER,
      'bytedance/seedance-2.0/text-to-video',
      { duration: '5', aspect_ratio: '16:9', generate_audio: false },
    ],
    [
      'frames',
      { ...ORDER, model: 'alpha-2.0-fast', image_urls: [IMAGE] },
      'bytedance/seedance-2.0/fast/image-to-video',
      { image_url: IMAGE },
    ],
    ['5 s of Hailuo, which makes 6', HAILUO, 'fal-ai/minimax/hailuo-02/standard/text-to-video', { duration: '6' }],
    [
      '1080p of Hailuo',
      { ...HAILUO, resolution: '1080p', first_frame_image: IMAGE },
      'fal-ai/minimax/hailuo-02/pro/image-to-video',
      { image_url: IMAGE },
    ],
    ['a text for Veo', VEO, 'fal-ai/veo3.1/fast', { duration: '8s', auto_fix: false, generate_audio: false }],
    [
      'frames in 4K',
      { ...VEO, resolution: '4K', first_frame_image: IMAGE, last_frame_image: IMAGE, resize_mode: 'crop' },
      'fal-ai/veo3.1/fast/first-last-frame-to-video',
      { resolution: '4k' },
    ],
    ['a text in 4K', { ...VEO, resolution: '4K' }, 'fal-ai/veo3.1/fast', { resolution: '4k' }],
    [
      'a first frame in 4K',
      { ...VEO, resolution: '4K', first_frame_image: IMAGE, resize_mode: 'crop' },
      'fal-ai/veo3.1/fast/image-to-video',
      { resolution: '4k' },
    ],
    [
      'seconds of Wan 2.7',
      { model: 'beta-2.7', prompt: 'A heron.', duration: 15 },
      'fal-ai/wan/v2.7/text-to-video',
      { duration: 15 },
    ],
    [
      'seconds of Wan 2.7 with references',
      { ...WAN, duration: 10 },
      'fal-ai/wan/v2.7/reference-to-video',
      { duration: 10 },
    ],
    [
      'a long text for Wan 2.6',
      { model: 'beta-2.6', prompt: 'x'.repeat(1_500) },
      'wan/v2.6/text-to-video',
      { prompt: 'x'.repeat(1_500) },
    ],
    [
      'an image of 3:2',
      { model: 'iota-1.0-reseller', prompt: 'A dog.', size: '3:2', n: 4 },
      'xai/grok-imagine-image',
      { aspect_ratio: '3:2', num_images: 4 },
    ],
    [
      'an image of 2:3',
      { model: 'iota-1.0-reseller', prompt: 'A dog.', size: '2:3' },
      'xai/grok-imagine-image',
      { aspect_ratio: '2:3' },
    ],
    [
      'a video to continue',
      { model: 'beta-2.7', video_urls: ['https://media.example.com/c.mp4'] },
      'fal-ai/wan/v2.7/image-to-video',
      { video_url: 'https://media.example.com/c.mp4' },
    ],
    [
      'one shot of Wan 2.6',
      { model: 'beta-2.6', prompt: 'A heron.' },
      'wan/v2.6/text-to-video',
      { multi_shots: false },
    ],
    [
      'turbo of Vidu',
      { model: 'zeta-q3-turbo', prompt: 'A heron.' },
      'fal-ai/vidu/q3/text-to-video/turbo',
      { audio: true, duration: 5 },
    ],
    [
      'a group of images',
      IMAGES,
      'fal-ai/bytedance/seedream/v4/edit',
      { max_images: 3, num_images: 1, image_size: { width: 2048, height: 2048 } },
    ],
  ])('sends %s to its endpoint', async (_, body, endpoint, input) => {
    await fal.start(body);
    expect([fal.vendor.protocol.endpoints.at(-1), fal.vendor.protocol.taken.at(-1)]).toEqual([
      endpoint,
      expect.objectContaining(input),
    ]);
  });

  it('asks fal to delete the files after a day', async () => {
    await fal.start(ORDER);
    expect(fal.vendor.requests[0]?.headers['x-fal-object-lifecycle-preference']).toBe(
      '{"expiration_duration_seconds":86400}',
    );
  });

  it('goes to the configured address only, whatever host the reply names', async () => {
    fal.vendor.next({
      body: Object.fromEntries(
        ['status', 'response', 'cancel'].map((word) => [`${word}_url`, `https://elsewhere.example.com/${word}?x=1`]),
      ),
    });
    const { operation, call } = await fal.running(ORDER);
    await fal.upstream.check(operation, call);
    expect(fal.vendor.requests.at(-1)).toMatchObject({ method: 'GET', path: '/status' });
  });

  it.each<FakeReply>([{ status: 500, body: {} }, { status: 502, body: null }, falRefusal(503, 'Service Unavailable')])(
    'leaves finished work alone while its result cannot be had: %j',
    async (fault) => {
      const { operation, call } = await fal.running(ORDER);
      fal.vendor.protocol.result = fault;
      await expect(fal.upstream.check(operation, call)).rejects.toMatchObject({ kind: 'unavailable' });
      fal.vendor.protocol.result = undefined;
      const state: OperationState = await fal.upstream.check(operation, call);
      expect(state.state).toBe('succeeded');
    },
  );
});
