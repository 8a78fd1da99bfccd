import { createHmac } from 'node:crypto';
import type { JsonObject } from '#contracts';
import { type ConnectedFake, connectFake } from '../testing/connected-fake.js';
import { FakeVidu, viduRefusal } from '../testing/fake-vidu.js';
import { mediaUpstreamContract } from '../testing/media-upstream-contract.js';
import { testCall } from '../testing/test-call.js';
import { viduCodec } from './vidu.codec.js';

const HER = 'https://media.example.com/her.png';
const HIM = 'https://media.example.com/him.png';
const ORDER = { model: 'zeta-q3-pro', prompt: 'Two friends talk at a bus stop.' };
const REFERENCES = { model: 'zeta-q3', prompt: 'They run along the beach.', image_urls: [HER, HIM] };

const says = (state: JsonObject) => (vidu: FakeVidu) => {
  vidu.state = state;
};
const failsWith = (word: string) => says({ state: 'failed', err_code: word, creations: [] });

mediaUpstreamContract({
  codec: viduCodec,
  fake: () => new FakeVidu(),
  judge: { none: 'no client of it is published: fixtures of its documents' },
  order: ORDER,
  alwaysSent: { audio: true },
  elsewhere: {
    28: 'an order makes one video',
    29: 'an order makes one video',
    31: 'no model of it delivers a last frame',
    32: 'the family sells no label',
  },
  withFiles: REFERENCES,
  lacks: [
    ['the seed 0', { ...ORDER, seed: 0 }, 'seed'],
    ['a seed beyond that of the vendor', { ...ORDER, seed: 2_147_483_648 }, 'seed'],
  ],
  refusals: [
    ['as many tasks as it allows', viduRefusal(429, 'QuotaExceeded'), { kind: 'busy', scope: 'running' }],
    ['a rate', viduRefusal(429, 'TooManyRequests'), { kind: 'busy', scope: 'account' }],
    ['throttling', viduRefusal(429, 'SystemThrottling'), { kind: 'busy', scope: 'account' }],
    [
      'a named wait',
      { ...viduRefusal(429, 'TooManyRequests'), headers: { 'retry-after': '3' } },
      { kind: 'busy', retryAfterMs: 3_000 },
    ],
    ['a task under way', viduRefusal(400, 'OperationInProcess'), { kind: 'busy' }],
    ['a wrong key', viduRefusal(401, 'Unauthorized'), { kind: 'unfit' }],
    ['no credits', viduRefusal(400, 'CreditInsufficient'), { kind: 'unfit', reason: 'not_paid' }],
    ['a model that is away', viduRefusal(400, 'ModelUnavailable'), { kind: 'unfit', scope: 'model' }],
    ['a refused prompt', viduRefusal(400, 'TaskPromptPolicyViolation'), { kind: 'refused', reason: 'prompt_refused' }],
    ['refused content', viduRefusal(400, 'AuditSubmitIllegal'), { kind: 'refused', reason: 'content_refused' }],
    [
      'an image that cannot be fetched',
      viduRefusal(400, 'ImageDownloadFailure'),
      { kind: 'refused', reason: 'reference_unusable' },
    ],
    ['a value that it does not take', viduRefusal(400, 'FieldInvalid'), { kind: 'unsupported' }],
  ],
  states: [
    [
      'a failure in a word that every object has',
      says({ state: 'failed', err_code: 'constructor' }),
      { state: 'failed', code: 'upstream_error' },
    ],
    ['new work', says({ state: 'created' }), { state: 'pending' }],
    ['waiting work', says({ state: 'queueing' }), { state: 'pending' }],
    ['work under way', says({ state: 'processing' }), { state: 'pending' }],
    [
      'a video, the one without a watermark',
      says({}),
      {
        state: 'succeeded',
        outputs: [{ role: 'output', contentType: 'video/mp4', url: expect.stringMatching(/video\.mp4/) }],
      },
    ],
    [
      'an end without a video',
      says({ creations: [] }),
      { state: 'failed', publicReason: 'The vendor reported success but delivered no file.' },
    ],
    ['a withheld video', failsWith('CreationPolicyViolation'), { state: 'failed', code: 'content_policy' }],
    ['a refused prompt', failsWith('TaskPromptPolicyViolation'), { state: 'failed', code: 'content_policy' }],
    ...['ImageFormatInvalid', 'ImageCheckBodyJointsFailed', 'ImageCheckFaceFailed', 'ImageObjectsUndetected'].map(
      (code) =>
        [`an image that cannot be used: ${code}`, failsWith(code), { state: 'failed', code: 'invalid_media' }] as const,
    ),
    [
      'no credits, found out while it worked: no fault of the customer',
      failsWith('CreditInsufficient'),
      { state: 'failed', publicReason: 'The vendor does not serve this model at present.' },
    ],
    [
      'cancelled work',
      failsWith('UserCancelled'),
      { state: 'failed', publicReason: 'The vendor stopped working on the order.' },
    ],
    ['a failure', failsWith('InternalServiceFailure'), { state: 'failed', code: 'upstream_error' }],
  ],
  strange: says({ state: 'pondering' }),
  stoppable: says({ state: 'queueing' }),
  reportedCost: { micros: 10_000_000n, unit: 'credits' },
});

describe('vidu', () => {
  let vidu: ConnectedFake<FakeVidu>;
  beforeAll(async () => {
    vidu = await connectFake(viduCodec, () => new FakeVidu());
  });
  afterEach(() => vidu.vendor.reset());
  afterAll(() => vidu.close());

  it.each<[what: string, body: JsonObject, path: string, sent: JsonObject]>([
    [
      'a text',
      { ...ORDER, aspect_ratio: '9:16' },
      '/ent/v2/text2video',
      { model: 'viduq3-pro', audio: true, aspect_ratio: '9:16' },
    ],
    ['an image', { ...ORDER, image_urls: [HER], audio: false }, '/ent/v2/img2video', { images: [HER], audio: false }],
    [
      'two frames',
      { ...ORDER, model: 'zeta-q3-turbo', image_urls: [HER, HIM] },
      '/ent/v2/start-end2video',
      { model: 'viduq3-turbo', images: [HER, HIM] },
    ],
    [
      'references, without sound',
      REFERENCES,
      '/ent/v2/reference2video',
      { model: 'viduq3', images: [HER, HIM], audio: false },
    ],
  ])('sends %s to its path', async (_, body, path, sent) => {
    await vidu.start(body);
    expect(vidu.vendor.requests.at(-1)).toMatchObject({ path, body: sent });
  });

  it('leaves a seed of -1 to the vendor, and says our task id as payload', async () => {
    const { order, call } = vidu.prepare({ ...ORDER, seed: -1 });
    await vidu.upstream.start(order, call);
    const sent = vidu.vendor.protocol.taken.at(-1);
    expect(sent).toMatchObject({ payload: order.taskId });
    expect(sent).not.toHaveProperty('seed');
  });

  describe('42: a callback', () => {
    const key = 'vda_test_key_0123456789';
    const nonce = 'nonce-1';
    const date = 'Mon, 23 Nov 2026 08:00:00 GMT';
    const request = { method: 'POST', path: '/callbacks/v1/vidu/token', query: 'a=1', body: undefined };
    // The lines that the vendor's page signs, as a program of its own would write them.
    const text = `POST\n/callbacks/v1/vidu/token\na=1\nvidu\n${date}\nDate:${date}\nx-request-nonce:${nonce}\n`;
    const headers = {
      date,
      'x-request-nonce': nonce,
      'x-hmac-access-key': 'vidu',
      'x-hmac-algorithm': 'hmac-sha256',
      'x-hmac-signed-headers': 'Date;x-request-nonce',
      'x-hmac-signature': createHmac('sha256', key).update(text).digest('base64'),
    };
    const read = (changes: object = {}, sent: object = {}) =>
      viduCodec.readCallback?.({ ...request, ...changes, headers: { ...headers, ...sent } }, key);

    it('is heard when it is signed with the key', () => {
      expect(read()).toEqual({ reply: {} });
    });

    it.each<[what: string, changes: object, sent: object]>([
      ['another path', { path: '/callbacks/v1/vidu/other' }, {}],
      ['another query', { query: '' }, {}],
      ['another method', { method: 'GET' }, {}],
      ['another time', {}, { date: 'Mon, 23 Nov 2026 08:00:01 GMT' }],
      ['another signed header', {}, { 'x-request-nonce': 'nonce-2' }],
      ['no signature', {}, { 'x-hmac-signature': undefined }],
      ['a signature of nothing', {}, { 'x-hmac-signature': '' }],
      ['a list of signatures', {}, { 'x-hmac-signature': [headers['x-hmac-signature']] }],
      ['more headers than anybody signs', {}, { 'x-hmac-signed-headers': 'a;'.repeat(10_000) }],
    ])('is forged with %s', (_, changes, sent) => {
      expect(read(changes, sent)).toBe('forged');
    });
  });

  it('41: tells that no credits are left', async () => {
    const { order } = vidu.prepare(ORDER);
    const call = testCall(order, { upstream: 'vendor-1', model: 'm' });
    vidu.vendor.protocol.credits = { remains: [{ type: 'metered', credit_remain: 0 }] };
    expect(await vidu.upstream.verify(call)).toMatchObject({ ok: false, problem: 'no_balance' });
    vidu.vendor.protocol.credits = { remains: [{ type: 'concurrent', concurrency_limit: 5 }] };
    expect(await vidu.upstream.verify(call)).toEqual({ ok: true });
  });
});
