import type { JsonObject } from '#contracts';
import { orderOfBody } from '../testing/sample-requests.js';
import { dashscopeRefusal, FakeDashscopeVideo } from '../testing/fake-dashscope-video.js';
import { mediaUpstreamContract } from '../testing/media-upstream-contract.js';
import { dashscopeVideoCodec } from './dashscope-video.codec.js';

const FILES = 'https://media.example.com';
const ORDER = { model: 'beta-2.7', prompt: 'A heron lifts off.', duration: 5, resolution: '720P' };
const OLDER = { model: 'beta-2.6', prompt: 'A heron lifts off.' };
const TEMPLATE = { model: 'beta-2.6', image_urls: [`${FILES}/pair.png`], template: 'hug' };

const says = (output: FakeDashscopeVideo['output']) => (dashscope: FakeDashscopeVideo) => {
  dashscope.output = output;
};
const failsWith = (code: string, message = 'The words of the vendor') => says({ task_status: 'FAILED', code, message });

mediaUpstreamContract({
  codec: dashscopeVideoCodec,
  fake: () => new FakeDashscopeVideo(),
  judge: 'judge-dashscope.spec.ts',
  order: ORDER,
  alwaysSent: { parameters: { prompt_extend: true, watermark: false } },
  elsewhere: {
    28: 'an order makes one video',
    29: 'an order makes one video',
    30: 'states: an end without a video',
    31: 'no model of it delivers a last frame',
    32: 'the label is in the one video',
  },
  withFiles: {
    ...ORDER,
    image_urls: [`${FILES}/first.png`, `${FILES}/last.png`],
    audio_url: `${FILES}/voice.mp3`,
  },
  lacks: [
    [
      'a last frame alone',
      { ...ORDER, image_with_roles: [{ url: `${FILES}/a.png`, role: 'last_frame' }] },
      'image_with_roles',
    ],
    ['a seed beyond 31 bits', { ...ORDER, seed: 2 ** 31 }, 'seed'],
    ['an effect template outside Beijing', TEMPLATE, 'template'],
    [
      'several shots of a prompt that stays as it is',
      { ...OLDER, shot_type: 'multi', prompt_extend: false },
      'shot_type',
    ],
    ['a silent video from a text', { ...OLDER, audio: false }, 'audio'],
    ['a silent video from an image', { ...OLDER, image_urls: [`${FILES}/first.png`], audio: false }, 'audio'],
    ['a prompt that would be cut off', { ...OLDER, prompt: 'a'.repeat(1_501) }, 'prompt'],
    ['a negative prompt that would be cut off', { ...OLDER, negative_prompt: 'a'.repeat(501) }, 'negative_prompt'],
  ],
  refusals: [
    ['a rate of the model', dashscopeRefusal(429, 'Throttling.RateQuota'), { kind: 'busy', scope: 'model' }],
    ['a wrong key', dashscopeRefusal(401, 'InvalidApiKey'), { kind: 'unfit', reason: 'wrong_key' }],
    [
      'a model that is not bought',
      dashscopeRefusal(403, 'AccessDenied.Unpurchased'),
      { kind: 'unfit', scope: 'model' },
    ],
    ['an unknown model', dashscopeRefusal(400, 'ModelNotFound'), { kind: 'unfit', scope: 'model' }],
    ['an overdue account', dashscopeRefusal(400, 'Arrearage'), { kind: 'unfit', reason: 'not_paid' }],
    [
      'a free quota that is used up',
      dashscopeRefusal(403, 'AllocationQuota.FreeTierOnly'),
      { kind: 'unfit', reason: 'not_paid', scope: 'model' },
    ],
    [
      'a free quota that is used up, told as a rate',
      dashscopeRefusal(429, 'Throttling.AllocationQuota', 'Free allocated quota exceeded.'),
      { kind: 'unfit', reason: 'not_paid', scope: 'model' },
    ],
    [
      'a model that is not bought, told as a rate',
      dashscopeRefusal(429, 'CommodityNotPurchased', 'Commodity has not purchased yet.'),
      { kind: 'unfit', reason: 'not_paid' },
    ],
    [
      'a quota of the minute',
      dashscopeRefusal(
        429,
        'Throttling.AllocationQuota',
        'Allocated quota exceeded, please increase your quota limit.',
      ),
      { kind: 'busy', scope: 'model' },
    ],
    [
      'a refused prompt',
      dashscopeRefusal(400, 'DataInspectionFailed', 'Input text data may contain inappropriate content.'),
      { kind: 'refused', reason: 'prompt_refused' },
    ],
    [
      'a refused image',
      dashscopeRefusal(400, 'DataInspectionFailed', 'Input image data may contain inappropriate content.'),
      { kind: 'refused', reason: 'reference_refused' },
    ],
    [
      'a link that is dead',
      dashscopeRefusal(
        400,
        'InvalidParameter.DataInspection',
        'Unable to download the media resource during the data inspection process.',
      ),
      { kind: 'refused', reason: 'reference_unusable' },
    ],
    [
      'an image of a form that it cannot read',
      dashscopeRefusal(
        400,
        'InvalidParameter.DataInspection',
        'The media format is not supported or incorrect for the data inspection.',
      ),
      { kind: 'refused', reason: 'reference_unusable' },
    ],
    [
      'a file that it could not download',
      dashscopeRefusal(400, 'BadRequest.InputDownloadFailed', 'Failed to download the input file: x'),
      { kind: 'refused', reason: 'reference_unusable' },
    ],
    [
      'a file of a wrong format',
      dashscopeRefusal(400, 'BadRequest.UnsupportedFileFormat', 'File format unsupported.'),
      { kind: 'refused', reason: 'reference_unusable' },
    ],
    [
      'an image with too small a face',
      dashscopeRefusal(400, 'InvalidImage.FullFace', 'The input image is invalid.'),
      { kind: 'refused', reason: 'reference_unusable' },
    ],
    ['a file it cannot fetch', dashscopeRefusal(400, 'InvalidURL'), { kind: 'refused', reason: 'reference_unusable' }],
    [
      'content that an inspection without a code refused',
      dashscopeRefusal(400, 'InvalidParameter', 'Refused by green network verification.'),
      { kind: 'refused', reason: 'content_refused' },
    ],
    ['a parameter it does not take', dashscopeRefusal(400, 'InvalidParameter'), { kind: 'unsupported' }],
    ['a time that ran out there', dashscopeRefusal(408, 'RequestTimeOut'), { kind: 'ambiguous' }],
  ],
  states: [
    ['waiting work', says({ task_status: 'PENDING' }), { state: 'pending' }],
    ['work under way', says({ task_status: 'RUNNING' }), { state: 'pending' }],
    ['suspended work', says({ task_status: 'SUSPENDED' }), { state: 'pending' }],
    [
      'a video and its length',
      says({}),
      {
        state: 'succeeded',
        outputs: [
          {
            role: 'output',
            contentType: 'video/mp4',
            url: 'https://dashscope-result.example.com/video.mp4?Signature=1',
            seconds: 5,
          },
        ],
      },
    ],
    ['an end without a video', says({ video_url: null }), { state: 'failed', code: 'upstream_error' }],
    [
      'a withheld video',
      failsWith('DataInspectionFailed', 'Output data may contain inappropriate content.'),
      { state: 'failed', publicReason: 'The vendor made it and then withheld it for its content.' },
    ],
    ['a refusal of the content', failsWith('DataInspectionFailed'), { state: 'failed', code: 'content_policy' }],
    ['a file it could not fetch', failsWith('InvalidURL'), { state: 'failed', code: 'invalid_media' }],
    [
      'a link that died in the queue',
      failsWith(
        'InvalidParameter.DataInspection',
        'Unable to download the media resource during the data inspection process.',
      ),
      { state: 'failed', code: 'invalid_media' },
    ],
    ['a failure', failsWith('InternalError.Algo'), { state: 'failed', code: 'upstream_error' }],
    ['cancelled work', says({ task_status: 'CANCELED' }), { publicReason: 'The vendor stopped working on the order.' }],
  ],
  strange: says({ task_status: 'PONDERING' }),
  stoppable: says({ task_status: 'PENDING' }),
  reportedCost: { micros: 5_000_000n, unit: 'seconds_720p' },
});

describe('The cost that Model Studio reports', () => {
  it.each<[JsonObject, string]>([
    [{ duration: 5, SR: 720 }, 'seconds_720p'],
    [{ duration: 5, SR: '1080' }, 'seconds_1080p'],
    [{ video_duration: 5, video_ratio: '1280*720' }, 'seconds_720p'],
    [{ video_duration: 5, video_ratio: '720P' }, 'seconds_720p'],
    [{ video_duration: 5, video_ratio: 'standard' }, 'seconds'],
  ])('is read from the names of every model: %j', (usage, unit) => {
    expect(dashscopeVideoCodec.readCost?.({ usage })).toEqual({ micros: 5_000_000n, unit });
  });
});

describe('dashscope-video', () => {
  const bodyOf = (codec: typeof dashscopeVideoCodec, body: Parameters<typeof orderOfBody>[0], name: string) =>
    codec.writeStart(orderOfBody(body), { upstream: 'u', model: name }, (param) => param).body;

  it.each(['https://dashscope.aliyuncs.com', 'https://ws-1.cn-beijing.maas.aliyuncs.com'])(
    'makes effect templates in the Beijing region: %s',
    (base_url) => {
      const beijing = dashscopeVideoCodec.configured?.({ base_url } as never, 'key') ?? dashscopeVideoCodec;
      expect(bodyOf(beijing, TEMPLATE, 'wan2.6-*')).toMatchObject({
        model: 'wan2.6-i2v',
        input: { template: 'hug', img_url: 'image_urls[0]' },
      });
    },
  );

  it('orders the model for texts or the one for images, and refuses what a model of one kind does not make', () => {
    const framed = { ...ORDER, image_urls: [`${FILES}/first.png`] };
    expect(bodyOf(dashscopeVideoCodec, ORDER, 'wan2.7-*')).toMatchObject({ model: 'wan2.7-t2v' });
    expect(bodyOf(dashscopeVideoCodec, framed, 'wan2.7-*')).toMatchObject({ model: 'wan2.7-i2v' });
    expect(bodyOf(dashscopeVideoCodec, framed, 'wan2.7-i2v-2026-04-25')).toMatchObject({
      model: 'wan2.7-i2v-2026-04-25',
    });
    expect(() => bodyOf(dashscopeVideoCodec, framed, 'wan2.7-t2v')).toThrow(/only from text/);
    expect(() => bodyOf(dashscopeVideoCodec, ORDER, 'wan2.7-i2v')).toThrow(/only from images/);
  });

  it('sends whether there is sound to the one model of Wan 2.6 that can do without', () => {
    const silent = { ...OLDER, image_urls: [`${FILES}/first.png`], audio: false };
    expect(bodyOf(dashscopeVideoCodec, silent, 'wan2.6-i2v-flash')).toHaveProperty('parameters.audio', false);
    expect(bodyOf(dashscopeVideoCodec, { ...silent, audio: true }, 'wan2.6-*')).not.toHaveProperty('parameters.audio');
  });

  it('leaves a random seed to the vendor', () => {
    expect(bodyOf(dashscopeVideoCodec, { ...OLDER, seed: -1 }, 'wan2.6-*')).not.toHaveProperty('parameters.seed');
    expect(bodyOf(dashscopeVideoCodec, { ...OLDER, seed: 7 }, 'wan2.6-*')).toHaveProperty('parameters.seed', 7);
  });

  it('sends images and voices of characters in the order in which a prompt counts them', () => {
    const body = {
      model: 'beta-2.7-r2v',
      prompt: 'The first image speaks to the second.',
      image_with_roles: [{ url: `${FILES}/a.png`, reference_voice: `${FILES}/a.mp3` }, { url: `${FILES}/b.png` }],
      video_urls: [`${FILES}/c.mp4`],
    };
    expect(bodyOf(dashscopeVideoCodec, body, 'wan2.7-r2v')).toMatchObject({
      input: {
        media: [
          {
            type: 'reference_image',
            url: 'image_with_roles[0].url',
            reference_voice: 'image_with_roles[0].reference_voice',
          },
          { type: 'reference_image', url: 'image_with_roles[1].url' },
          { type: 'reference_video', url: 'video_urls[0]' },
        ],
      },
      parameters: { ratio: '16:9' },
    });
  });
});
