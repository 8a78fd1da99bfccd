import { connectFake } from '../testing/connected-fake.js';
import { FakeKling, klingRefusal } from '../testing/fake-kling.js';
import { mediaUpstreamContract } from '../testing/media-upstream-contract.js';
import { klingCodec } from './kling.codec.js';

const FILES = 'https://media.example.com';
const ORDER = { model: 'delta-v2-6', prompt: 'A street musician plays.', mode: 'pro' };

const says = (data: FakeKling['data']) => (kling: FakeKling) => {
  kling.data = data;
};
const failsWith = (sentence: string) => says({ task_status: 'failed', task_status_msg: sentence, task_result: {} });

mediaUpstreamContract({
  codec: klingCodec,
  fake: () => new FakeKling(),
  judge: 'judge-kling.spec.ts',
  order: ORDER,
  alwaysSent: {},
  elsewhere: {
    28: 'an order makes one video',
    29: 'an order makes one video',
    30: 'states: an end without a video',
    31: 'no model of it delivers a last frame',
    32: 'states: the video that carries a label',
  },
  withFiles: { ...ORDER, image_urls: [`${FILES}/first.png`, `${FILES}/last.png`] },
  lacks: [['a negative prompt that is too long', { ...ORDER, negative_prompt: 'a'.repeat(2_501) }, 'negative_prompt']],
  refusals: [
    ['a rate', klingRefusal(429, 1302), { kind: 'busy', scope: 'account' }],
    ['too many at once', klingRefusal(429, 1303), { kind: 'busy', scope: 'running' }],
    ['an account in arrears', klingRefusal(429, 1101), { kind: 'unfit', reason: 'not_paid' }],
    ['a package that is used up', klingRefusal(429, 1102), { kind: 'unfit', reason: 'not_paid' }],
    ['an address that is not let in', klingRefusal(429, 1304), { kind: 'unfit' }],
    ['a wrong key', klingRefusal(401, 1001), { kind: 'unfit', reason: 'wrong_key' }],
    ['an unknown model', klingRefusal(404, 1203), { kind: 'unfit', scope: 'model' }],
    ['a refused content', klingRefusal(400, 1301), { kind: 'refused', reason: 'content_refused' }],
    ['a parameter it does not take', klingRefusal(400, 1201, 'duration is invalid'), { kind: 'unsupported' }],
    [
      'an order of ours that is there already',
      klingRefusal(400, 1201, 'external_task_id exists'),
      { kind: 'ambiguous' },
    ],
    ['an error in a reply of status 200', klingRefusal(200, 1102), { kind: 'unfit', reason: 'not_paid' }],
  ],
  states: [
    ['waiting work', says({ task_status: 'submitted' }), { state: 'pending' }],
    ['work under way', says({ task_status: 'processing' }), { state: 'pending' }],
    [
      'a video, its length and the end of its link',
      says({}),
      {
        state: 'succeeded',
        outputs: [
          {
            role: 'output',
            contentType: 'video/mp4',
            url: 'https://kling-result.example.com/video.mp4?sign=1',
            seconds: 5,
            expiresAtMs: 1_800_000_060_000 + 30 * 86_400_000,
          },
        ],
      },
    ],
    [
      'the video that carries a label when that was ordered',
      says({}),
      { outputs: [expect.objectContaining({ url: 'https://kling-result.example.com/labelled.mp4?sign=1' })] },
      { ...ORDER, watermark: true },
    ],
    ['an end without a video', says({ task_result: { videos: [] } }), { state: 'failed', code: 'upstream_error' }],
    ['a video that is withheld', failsWith('Failure to pass the risk control system'), { code: 'content_policy' }],
    ['a failure', failsWith('internal error'), { state: 'failed', code: 'upstream_error' }],
  ],
  strange: says({ task_status: 'pondering' }),
  reportedCost: { micros: 2_500_000n, unit: 'units' },
});

describe('kling', () => {
  it('says of an order that it does not have, whether by a 404 or by its code, that it is not there', async () => {
    const fake = await connectFake(klingCodec, () => new FakeKling());
    const { call } = fake.prepare(ORDER);
    const ticket = { ...call.ticket, path: '/v1/videos/text2video', clientRef: 'task_1', watermark: false };
    for (const reply of [klingRefusal(404, 1203), klingRefusal(200, 1203)]) {
      fake.vendor.next(reply);
      expect(await fake.upstream.find?.({ ...call, ticket })).toBeNull();
    }
    await fake.close();
  });

  it('reads what was taken from a balance where there is no package', () => {
    const cost = (data: object) => klingCodec.readCost?.({ data: data as never });
    expect(cost({ final_balance_deduction: '0.35' })).toEqual({ micros: 350_000n, unit: 'balance' });
    expect(cost({ final_unit_deduction: 2, final_balance_deduction: '0.35' })).toMatchObject({ unit: 'units' });
  });

  it('44: keeps every digit of a long id', async () => {
    const fake = await connectFake(klingCodec, () => new FakeKling());
    const { operation } = await fake.running(ORDER);
    await fake.close();
    expect(operation['id']).toBe('800000000000000001');
  });

  describe('with an access key and a secret key', () => {
    const signed = async (skewMs: number) => {
      const fake = await connectFake(klingCodec, () => new FakeKling());
      const { accessKey, secretKey } = fake.vendor.protocol;
      fake.vendor.clockSkewMs = skewMs;
      const { order, call } = fake.prepare(ORDER);
      const upstream = fake.other({ key: `${accessKey}:${secretKey}` });
      return { fake, upstream, order, call };
    };

    it('signs a token for each call, and sends neither key', async () => {
      const { fake, upstream, order, call } = await signed(0);
      await upstream.start(order, call);
      await fake.close();
      const sent = JSON.stringify(fake.vendor.requests);
      expect(fake.vendor.protocol.taken).toHaveLength(1);
      expect(sent).toMatch(/Bearer eyJ/);
      expect(sent).not.toContain(fake.vendor.protocol.secretKey);
    });

    it.each([-3_600_000, 3_600_000])(
      '19: signs once more by the clock of a vendor that is %d ms away, and orders once',
      async (skewMs) => {
        const { fake, upstream, order, call } = await signed(skewMs);
        await upstream.start(order, call);
        await upstream.check({ path: '/v1/videos/text2video', id: '800000000000000001' }, call);
        await fake.close();
        expect(fake.vendor.protocol.taken).toHaveLength(1);
        // The order twice, the question once: the clock is known by then.
        expect(fake.vendor.requests).toHaveLength(3);
      },
    );

    it('10: repeats neither key nor token, though the vendor does', async () => {
      const { fake, upstream, order, call } = await signed(0);
      const { accessKey, secretKey } = fake.vendor.protocol;
      const message = `eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJrIn0.c2ln of ${accessKey} is not signed by ${secretKey}`;
      fake.vendor.next(klingRefusal(401, 1002, message));
      const failure: unknown = await upstream.start(order, call).catch((error: unknown) => error);
      await fake.close();
      const shown = JSON.stringify(failure);
      expect(shown).toContain('is not signed by');
      for (const secret of [accessKey, secretKey, 'eyJ']) expect(shown).not.toContain(secret);
    });
  });
});
