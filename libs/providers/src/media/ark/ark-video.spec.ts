import { arkRefusal, FakeArkVideo } from '../testing/fake-ark-video.js';
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
    ['a trial that is used up', arkRefusal(429, 'QuotaExceeded', 'Your free trial is used up'), { kind: 'unfit' }],
    ['a spend limit', arkRefusal(429, 'SetLimitExceeded'), { kind: 'unfit', reason: 'not_paid' }],
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
