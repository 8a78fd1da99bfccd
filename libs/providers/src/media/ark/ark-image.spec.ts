import type { Started } from '#contracts';
import { connectFake } from '../testing/connected-fake.js';
import { FakeArkImage } from '../testing/fake-ark-image.js';
import { arkRefusal } from '../testing/fake-ark-video.js';
import { mediaUpstreamContract } from '../testing/media-upstream-contract.js';
import { arkImageCodec } from './ark-image.codec.js';

const ORDER = { model: 'kappa-a-4-0', prompt: 'A dog in three seasons.' };
const GROUP = { ...ORDER, n: 3, image_urls: ['https://media.example.com/dog.jpg'] };
const IMAGE = { url: 'https://ark-content.example.com/0.jpeg' };
const WITHHELD = { error: { code: 'OutputImageSensitiveContentDetected', message: 'The words of Ark' } };

mediaUpstreamContract({
  codec: arkImageCodec,
  fake: () => new FakeArkImage(),
  judge: 'judges.spec.ts',
  order: ORDER,
  alwaysSent: { watermark: false, sequential_image_generation: 'disabled', response_format: 'url' },
  elsewhere: {
    22: 'tested below: a withheld image counts as a missing one',
    28: 'tested below',
    29: 'tested below',
    30: 'refusals: an empty reply of status 200',
    31: 'it makes images',
    32: 'the label is in the one file of each image',
    40: 'tested below',
  },
  withFiles: GROUP,
  lacks: [],
  refusals: [
    ['a rate of the model', arkRefusal(429, 'ModelAccountIpmRateLimitExceeded'), { kind: 'busy', scope: 'model' }],
    ['a spend limit', arkRefusal(429, 'SetLimitExceeded'), { kind: 'unfit', reason: 'not_paid' }],
    ['a refused prompt', arkRefusal(400, 'InputTextSensitiveContentDetected'), { kind: 'refused' }],
    [
      'a withheld image',
      arkRefusal(400, 'OutputImageSensitiveContentDetected'),
      { kind: 'refused', reason: 'result_refused' },
    ],
    [
      'no image in a reply of status 200',
      { body: { data: [WITHHELD] } },
      { kind: 'refused', reason: 'result_refused' },
    ],
    [
      'no image, and why beside the list of them',
      { body: { data: [], error: WITHHELD.error } },
      { kind: 'refused', reason: 'result_refused' },
    ],
    [
      'a group that broke before its first image',
      { body: { data: [], error: { code: 'InternalServiceError', message: 'x' } } },
      { kind: 'refused', reason: 'work_failed' },
    ],
    ['an empty reply of status 200', { body: { data: [] } }, { kind: 'refused', reason: 'nothing_delivered' }],
  ],
});

describe('ark-image', () => {
  const startWith = async (body: typeof ORDER, data?: FakeArkImage['data']): Promise<Started> => {
    const fake = await connectFake(arkImageCodec, () => new FakeArkImage());
    fake.vendor.protocol.data = data;
    const { started } = await fake.start(body);
    await fake.close();
    return started;
  };

  it('28: hands over the images in their order, with the end of their links', async () => {
    const started = await startWith(GROUP);
    expect(started).toMatchObject({ kind: 'finished' });
    expect('outputs' in started && started.outputs.map(({ url }) => url)).toEqual(
      [0, 1, 2].map((index) => `https://ark-content.example.com/${index}.jpeg?sign=1`),
    );
    expect(started).toMatchObject({ outputs: [{ expiresAtMs: (1_800_000_000 + 86_400) * 1_000 }, {}, {}] });
  });

  it('40: notes how many images are billed', async () => {
    const fake = await connectFake(arkImageCodec, () => new FakeArkImage());
    const { call } = await fake.start(GROUP);
    await fake.close();
    expect(call.noted().cost).toEqual({ micros: 3_000_000n, unit: 'images' });
  });

  it('29: says which images are missing, and why', async () => {
    expect(await startWith(GROUP, [IMAGE, WITHHELD, IMAGE])).toMatchObject({
      outputs: [{}, {}],
      missing: [{ ordinal: 1, code: 'content_policy' }],
    });
  });
});
