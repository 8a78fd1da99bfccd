import { connectFake } from '../testing/connected-fake.js';
import { choiceOf, FakeDashscopeImage } from '../testing/fake-dashscope-image.js';
import { dashscopeRefusal } from '../testing/fake-dashscope-video.js';
import { mediaUpstreamContract } from '../testing/media-upstream-contract.js';
import { dashscopeImageCodec } from './dashscope-image.codec.js';

const ORDER = { model: 'eta-image-2.0', prompt: 'A lighthouse at dusk.', n: 3, size: '16:9', resolution: '2K' };
const IMAGES = ['a', 'b', 'c', 'd'].map((name) => `https://media.example.com/${name}.png`);

mediaUpstreamContract({
  codec: dashscopeImageCodec,
  fake: () => new FakeDashscopeImage(),
  judge: { none: 'no client of it is published: fixtures of its documents' },
  order: ORDER,
  alwaysSent: { parameters: { prompt_extend: true, watermark: false } },
  elsewhere: {
    22: 'tested below: a withheld image counts as a missing one',
    28: 'tested below',
    29: 'tested below',
    30: 'refusals: no image in a reply of status 200',
    31: 'it makes images',
    32: 'the label is in the one file of each image',
    40: 'tested below, with the images',
  },
  withFiles: { ...ORDER, image_urls: IMAGES.slice(0, 3) },
  lacks: [['more than three images', { ...ORDER, image_urls: IMAGES }, 'image_urls']],
  refusals: [
    ['a rate of the model', dashscopeRefusal(429, 'Throttling'), { kind: 'busy', scope: 'model' }],
    ['an overdue account', dashscopeRefusal(400, 'Arrearage'), { kind: 'unfit', reason: 'not_paid' }],
    [
      'a refused content',
      dashscopeRefusal(400, 'DataInspectionFailed'),
      { kind: 'refused', reason: 'content_refused' },
    ],
    ['a parameter it does not take', dashscopeRefusal(400, 'InvalidParameter'), { kind: 'unsupported' }],
    [
      'a withheld image in a reply of status 200',
      dashscopeRefusal(200, 'DataInspectionFailed', 'Output data may contain inappropriate content.'),
      { kind: 'refused', reason: 'result_refused' },
    ],
    [
      'no image in a reply of status 200',
      { body: { output: { choices: [] } } },
      { reason: 'nothing_delivered', kind: 'refused' },
    ],
  ],
});

describe('dashscope-image', () => {
  it.each([
    ['parts of one choice', undefined],
    ['choices', [0, 1, 2].map((number) => choiceOf([number]))],
  ])('28: hands over images that come as %s in their order, and notes how many were billed', async (_, choices) => {
    const fake = await connectFake(dashscopeImageCodec, () => new FakeDashscopeImage());
    fake.vendor.protocol.choices = choices;
    const { started, call } = await fake.start(ORDER);
    await fake.close();
    expect('outputs' in started && started.outputs.map(({ url }) => url)).toEqual(
      [0, 1, 2].map((number) => `https://dashscope-result.example.com/${number}.png?Signature=1`),
    );
    expect(call.noted().cost).toEqual({ micros: 3_000_000n, unit: 'images' });
  });

  it('29: says which images are missing', async () => {
    const fake = await connectFake(dashscopeImageCodec, () => new FakeDashscopeImage());
    fake.vendor.protocol.choices = [choiceOf([0])];
    const { started } = await fake.start(ORDER);
    await fake.close();
    expect(started).toMatchObject({ outputs: [{}], missing: [{ ordinal: 1 }, { ordinal: 2 }] });
  });
});
