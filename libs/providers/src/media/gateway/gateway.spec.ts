import type { JsonObject } from '#contracts';
import { badEndOf } from '../http/failure-rules.js';
import { connectFake } from '../testing/connected-fake.js';
import { FakeGateway, gatewayRefusal } from '../testing/fake-gateway.js';
import { mediaUpstreamContract } from '../testing/media-upstream-contract.js';
import { gatewayCodec } from './gateway.codec.js';

const ORDER = { model: 'alpha-2.0', prompt: 'A heron lifts off.', duration: 5, resolution: '720p' };

const says = (view: FakeGateway['view']) => (gateway: FakeGateway) => {
  gateway.view = view;
};
const failsWith = (code: string) => says({ status: 'failed', result: null, error: { code, message: 'Their words' } });

mediaUpstreamContract({
  codec: gatewayCodec,
  fake: () => new FakeGateway(),
  judge: { none: 'our own product: tests/media/gateway-upstream.spec.ts' },
  order: ORDER,
  alwaysSent: {},
  elsewhere: {
    30: 'states: an end without a file',
    31: 'states: a video with its last frame',
    32: 'the other gateway delivers what was ordered',
  },
  withFiles: {
    ...ORDER,
    image_urls: ['https://media.example.com/a.png'],
    video_urls: ['https://media.example.com/c.mp4'],
  },
  lacks: [],
  refusals: [
    ['a rate', gatewayRefusal(429, 'rate_limit_exceeded'), { kind: 'busy' }],
    [
      'a named wait',
      { ...gatewayRefusal(429, 'rate_limit_exceeded'), headers: { 'retry-after': '3' } },
      { kind: 'busy', retryAfterMs: 3_000 },
    ],
    ['an overload', gatewayRefusal(503, 'overloaded'), { kind: 'unavailable' }],
    ['the same order under way', gatewayRefusal(409, 'idempotency_in_flight'), { kind: 'ambiguous' }],
    ['a wrong key', gatewayRefusal(401, 'invalid_api_key'), { kind: 'unfit', reason: 'wrong_key' }],
    ['an empty balance', gatewayRefusal(402, 'insufficient_balance'), { kind: 'unfit', reason: 'not_paid' }],
    ['a limit of the day', gatewayRefusal(402, 'spend_limit_reached'), { kind: 'unfit', reason: 'not_paid' }],
    ['a model that is not sold', gatewayRefusal(404, 'model_not_found'), { kind: 'unfit', scope: 'model' }],
    ['what it cannot make', gatewayRefusal(400, 'unsupported_parameter', '', 'tools'), { kind: 'unsupported' }],
    ['a wrong file', gatewayRefusal(400, 'invalid_media', '', 'image_urls[0]'), { kind: 'refused' }],
    ['a wrong value', gatewayRefusal(400, 'invalid_parameter', '', 'duration'), { kind: 'refused' }],
  ],
  states: [
    [
      'a failure in a word that every object has',
      says({ status: 'failed', result: null, error: { code: 'constructor', message: 'x' } }),
      { state: 'failed', code: 'upstream_error' },
    ],
    ['work that ended in a word of another seller', says({ status: 'Expired', result: null }), { state: 'failed' }],
    ...['lots', '1e9', '', '-1', '9'.repeat(40)].map(
      (amount) =>
        [
          `work whose cost is no amount: ${amount}`,
          says({ usage: { amount, unit: 'USD', final: true } }),
          { state: 'succeeded' },
        ] as const,
    ),
    ['work that is done in a word of another seller', says({ status: 'success' }), { state: 'succeeded' }],
    ['work that is done, in capitals and with a blank', says({ status: 'SUCCEEDED ' }), { state: 'succeeded' }],
    ['work that is done, in a word of a queue', says({ status: 'Complete' }), { state: 'succeeded' }],
    ['waiting work', says({ status: 'submitted', result: null }), { state: 'pending' }],
    ['work under way', says({ status: 'in_progress', progress: 100 }), { state: 'pending', progressPercent: 99 }],
    [
      'a video, its length and the end of its link',
      says({}),
      {
        state: 'succeeded',
        outputs: [
          {
            role: 'output',
            contentType: 'video/mp4',
            url: 'https://gateway.example.com/files/1',
            seconds: 5,
            expiresAtMs: 1_800_000_000_000,
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
    [
      'fewer images than were ordered',
      says({ result: { images: [{ url: 'https://gateway.example.com/1', content_type: 'image/png' }] } }),
      { state: 'succeeded', missing: [expect.objectContaining({ ordinal: 1 })] },
      { model: 'eta-image-2.0', prompt: 'two herons', n: 2 },
    ],
    ['an end without a file', says({ result: { videos: [] } }), { state: 'failed', code: 'upstream_error' }],
    ['a refusal of the content', failsWith('content_policy'), { state: 'failed', code: 'content_policy' }],
    ['a file that broke a rule', failsWith('invalid_media'), { state: 'failed', code: 'invalid_media' }],
    ['a failure', failsWith('parked'), { state: 'failed', code: 'upstream_error' }],
    [
      'cancelled work',
      says({ status: 'cancelled' }),
      { state: 'failed', publicReason: 'The vendor stopped working on the order.' },
    ],
  ],
  strange: says({ status: 'pondering' }),
  stoppable: says({ stoppable: true }),
  reportedCost: { micros: 350_000n, unit: 'credit' },
});

describe('A task of another gateway', () => {
  const view = {
    task_id: 'task_1',
    status: 'completed',
    result: { videos: [{ url: 'https://peer.example.com/1.mp4' }] },
  };
  const operation = { taskId: 'task_1', medium: 'video', count: 1 };

  it.each<[string, JsonObject]>([
    ['as it is', { data: view }],
    ['in an envelope of a reseller', { code: 'success', data: { task_id: 'x', status: 'SUCCESS', data: view } }],
    ['in the envelope twice', { code: 'success', data: { status: 'SUCCESS', data: { data: view } } }],
    ['named as a task', { data: { task: view } }],
    ['in a list', { data: [view] }],
    ['without an envelope', view],
  ])('is read %s', (_, body) => {
    expect(gatewayCodec.readCheck?.(body, operation)).toMatchObject({
      state: 'succeeded',
      outputs: [{ url: 'https://peer.example.com/1.mp4' }],
    });
  });

  it.each<[string, JsonObject]>([
    ['failed inside', { data: { status: 'SUCCESS', data: { status: 'failed', error: { code: 'content_policy' } } } }],
    ['failed outside', { data: { status: 'FAILURE', fail_reason: 'x', data: null } }],
  ])('has ended where it has %s', (_, body) => {
    const state = gatewayCodec.readCheck?.(body, operation);
    expect(state?.state === 'strange' ? badEndOf(state.word)?.state : state?.state).toBe('failed');
  });

  it.each<[string, JsonObject]>([
    ['in a list', { data: [{ task_id: 'task_1' }] }],
    ['alone', { data: { task_id: 'task_1' } }],
    ['in an envelope of a reseller', { code: 'success', data: { data: [{ task_id: 'task_1' }] } }],
    ['without an envelope', { task_id: 'task_1', status: 'submitted' }],
  ])('is taken where its id stands %s', (_, body) => {
    const order = { medium: 'video', output: { count: 1 } } as never;
    expect(gatewayCodec.readStart(body, order)).toMatchObject({ operation: { taskId: 'task_1' } });
  });

  it('is not read from envelopes without end', () => {
    const endless: JsonObject = { status: 'completed' };
    (endless as Record<string, JsonObject>)['data'] = endless;
    expect(gatewayCodec.readCheck?.(endless, operation)).toMatchObject({ state: 'failed' });
  });
});

describe('Files of another gateway', () => {
  const signal = new AbortController().signal;

  it.each([
    ['a link of its own', (origin: string) => `${origin}/v1/videos/v-1/content`],
    ['a path of its own', () => '/v1/videos/v-1/content'],
  ])('are fetched with its key where it names %s', async (_, named) => {
    const fake = await connectFake(gatewayCodec, () => new FakeGateway());
    const { operation, call } = await fake.running(ORDER);
    fake.vendor.protocol.view = { result: { videos: [{ url: named(fake.vendor.origin), content_type: 'video/mp4' }] } };
    const state = await fake.upstream.check(operation, call);
    const [output] = state.state === 'succeeded' ? state.outputs : [];
    if (!output) throw new Error('no video');
    const { key } = fake.vendor.protocol;
    expect(await fake.upstream.open?.(output, { signal })).toEqual({
      url: `${fake.vendor.origin}/v1/videos/v-1/content`,
      credentials: { authorization: `Bearer ${key}` },
    });
    await fake.close();
  });

  it('are none where it names a place without a host', async () => {
    const fake = await connectFake(gatewayCodec, () => new FakeGateway());
    const { operation, call } = await fake.running(ORDER);
    for (const url of ['file:///etc/passwd', 'kept:1', 'data:video/mp4;base64,AA==']) {
      fake.vendor.protocol.view = { result: { videos: [{ url, content_type: 'video/mp4' }] } };
      expect(await fake.upstream.check(operation, call)).toMatchObject({ state: 'failed' });
    }
    await fake.close();
  });
});
