import { arkRefusal, FakeArkVideo } from '../testing/fake-ark-video.js';
import { connectFake } from '../testing/connected-fake.js';
import { mediaUpstreamContract } from '../testing/media-upstream-contract.js';
import { arkVideoCodec } from './ark-video.codec.js';

const ORDER = { model: 'alpha-2.0', prompt: 'A heron lifts off.', duration: 5, resolution: '720p' };

const says = (state: FakeArkVideo['state']) => (ark: FakeArkVideo) => {
  ark.state = state;
};
const failsWith = (code: string) =>
  says({ status: 'failed', content: null, error: { code, message: 'The words of Ark' } });

mediaUpstreamContract({
  codec: arkVideoCodec,
  fake: () => new FakeArkVideo(),
  judge: 'judges.spec.ts',
  order: ORDER,
  alwaysSent: { ratio: '16:9', generate_audio: false, return_last_frame: false },
  elsewhere: {
    29: 'an order makes one video',
    30: 'states: an end without a video',
    31: 'states: a video with its last frame',
    32: 'the family sells no label',
  },
  withFiles: {
    ...ORDER,
    image_urls: ['https://media.example.com/a.png', 'https://media.example.com/b.png'],
    video_urls: ['https://media.example.com/c.mp4'],
    audio_urls: ['https://media.example.com/d.mp3'],
  },
  lacks: [
    [
      'a last frame alone',
      { ...ORDER, image_with_roles: [{ url: 'https://media.example.com/a.png', role: 'last_frame' }] },
      'image_with_roles',
    ],
  ],
  refusals: [
    ['a rate of the account', arkRefusal(429, 'AccountRateLimitExceeded'), { kind: 'busy', scope: 'account' }],
    ['a rate of the model', arkRefusal(429, 'ModelAccountRpmRateLimitExceeded'), { kind: 'busy', scope: 'model' }],
    ['a full queue', arkRefusal(429, 'QuotaExceeded', 'Too many tasks in queue'), { kind: 'busy', scope: 'account' }],
    [
      'a trial that is used up, which is of one model',
      arkRefusal(429, 'QuotaExceeded', 'Your free trial is used up'),
      { kind: 'unfit', scope: 'model' },
    ],
    [
      'a spend limit, which is of one model',
      arkRefusal(429, 'SetLimitExceeded'),
      { kind: 'unfit', reason: 'not_paid', scope: 'model' },
    ],
    [
      'a plan that is used up for five hours',
      arkRefusal(429, 'AccountQuotaExceeded', 'You have exceeded the 5-hour usage quota.'),
      { kind: 'unfit', reason: 'not_paid', scope: 'account' },
    ],
    [
      'a plan that is used up for the week',
      arkRefusal(429, 'QuotaExceeded', 'You have exceeded the weekly usage quota.'),
      { kind: 'unfit', reason: 'not_paid', scope: 'account' },
    ],
    [
      'an endpoint that is closed',
      arkRefusal(404, 'InvalidEndpoint.ClosedEndpoint'),
      { kind: 'unfit', scope: 'model' },
    ],
    ['a plan that ended', arkRefusal(400, 'InvalidSubscription'), { kind: 'unfit', reason: 'not_paid' }],
    [
      'an overdue service',
      arkRefusal(403, 'OperationDenied.ServiceOverdue'),
      { kind: 'unfit', reason: 'not_paid', scope: 'account' },
    ],
    ['a named wait', { ...busy(), headers: { 'retry-after': '3' } }, { kind: 'busy', retryAfterMs: 3_000 }],
    ['a wrong key', arkRefusal(401, 'AuthenticationError'), { kind: 'unfit', reason: 'wrong_key' }],
    ['an overdue account', arkRefusal(403, 'AccountOverdueError'), { kind: 'unfit', reason: 'not_paid' }],
    ['a model that is not opened', arkRefusal(404, 'ModelNotOpen'), { kind: 'unfit', scope: 'model' }],
    [
      'a refused prompt',
      arkRefusal(400, 'InputTextSensitiveContentDetected'),
      { kind: 'refused', reason: 'prompt_refused' },
    ],
    [
      'a real face',
      arkRefusal(400, 'InputImageSensitiveContentDetected.PrivacyInformation'),
      { kind: 'refused', reason: 'face_refused' },
    ],
    [
      'a refused image',
      arkRefusal(400, 'InputImageSensitiveContentDetected.PolicyViolation'),
      { kind: 'refused', reason: 'reference_refused' },
    ],
    ['a parameter that Ark does not take', arkRefusal(400, 'InvalidParameter', 'ratio'), { kind: 'unsupported' }],
  ],
  states: [
    ['queued work', says({ status: 'queued' }), { state: 'pending' }],
    ['running work', says({ status: 'running' }), { state: 'pending' }],
    [
      'a video, its length and the end of its link',
      says({}),
      {
        state: 'succeeded',
        outputs: [
          {
            role: 'output',
            contentType: 'video/mp4',
            url: 'https://ark-content.example.com/video.mp4?sign=1',
            seconds: 5,
            expiresAtMs: (1_800_000_060 + 86_400) * 1_000,
          },
        ],
      },
    ],
    [
      'a video with its last frame when that was ordered',
      says({}),
      { outputs: [expect.objectContaining({ role: 'output' }), expect.objectContaining({ role: 'last_frame' })] },
      { ...ORDER, return_last_frame: true },
    ],
    ['an end without a video', says({ content: {} }), { state: 'failed', code: 'upstream_error' }],
    ['a withheld video', failsWith('OutputVideoSensitiveContentDetected'), { state: 'failed', code: 'content_policy' }],
    ['a refused prompt', failsWith('InputTextSensitiveContentDetected'), { state: 'failed', code: 'content_policy' }],
    ['a failure', failsWith('InternalServiceError'), { state: 'failed', code: 'upstream_error' }],
    [
      'an account without money, found out while it worked: no fault of the customer',
      failsWith('AccountOverdueError'),
      { state: 'failed', publicReason: 'The vendor does not serve this model at present.' },
    ],
    [
      'a video whose length is written as a text',
      says({ duration: '5' }),
      { outputs: [expect.objectContaining({ seconds: 5 })] },
    ],
    [
      'cancelled work',
      says({ status: 'cancelled' }),
      { state: 'failed', publicReason: 'The vendor stopped working on the order.' },
    ],
    ['expired work', says({ status: 'expired' }), { state: 'failed', code: 'upstream_error' }],
  ],
  strange: says({ status: 'pondering' }),
  stoppable: says({ status: 'queued' }),
  waiting: { status: 200, headers: {}, body: { status: 'queued' } },
  reportedCost: { micros: 108_900_000_000n, unit: 'tokens' },
});

function busy() {
  return arkRefusal(429, 'ServerOverloaded') as { status: number; body: null };
}

describe('ark-video', () => {
  it('tells the vendor when to give an order up, where the entry says so', async () => {
    const fake = await connectFake(arkVideoCodec, () => new FakeArkVideo());
    const settings = { execution_expires_after: 3_600 };
    expect(arkVideoCodec.settingsMistakes?.(settings)).toEqual([]);
    const codec = arkVideoCodec.configured?.({ settings }, fake.vendor.protocol.key) ?? arkVideoCodec;
    const { order, call } = fake.prepare(ORDER);
    await fake.other({ codec }).start(order, call);
    expect(fake.vendor.protocol.taken.at(-1)).toMatchObject(settings);
    await fake.start(ORDER);
    expect(fake.vendor.protocol.taken.at(-1)).not.toHaveProperty('execution_expires_after');
    await fake.close();
  });

  it.each([60, 300_000, '3600', 3_600.5])('takes no time for that which the vendor does not: %j', (seconds) => {
    const mistakes = arkVideoCodec.settingsMistakes?.({ execution_expires_after: seconds });
    expect(mistakes).toEqual([['execution_expires_after', 'must be a whole number from 3600 to 259200']]);
  });
});
