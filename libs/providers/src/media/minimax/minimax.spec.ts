import type { JsonObject } from '#contracts';
import { type ConnectedFake, connectFake } from '../testing/connected-fake.js';
import { FakeMinimax, minimaxRefusal } from '../testing/fake-minimax.js';
import type { FakeReply } from '../testing/fake-vendor.js';
import { mediaUpstreamContract } from '../testing/media-upstream-contract.js';
import { minimaxCodec } from './minimax.codec.js';

const FIRST = 'https://media.example.com/first.png';
const LAST = 'https://media.example.com/last.png';
const ORDER = { model: 'epsilon-02', prompt: 'A cat on a window sill [推进].' };
const FRAMES = { ...ORDER, first_frame_image: FIRST, last_frame_image: LAST };

const says = (state: JsonObject) => (minimax: FakeMinimax) => {
  minimax.state = state;
};
const failsWith = (code: number) =>
  says({ status: 'Fail', base_resp: { status_code: code, status_msg: 'Their words' } });
const files = (file: FakeReply) => (minimax: FakeMinimax) => {
  minimax.file = file;
};

mediaUpstreamContract({
  codec: minimaxCodec,
  fake: () => new FakeMinimax(),
  judge: 'judge-minimax.spec.ts',
  order: ORDER,
  alwaysSent: { prompt_optimizer: true, aigc_watermark: false },
  elsewhere: {
    28: 'an order makes one video',
    29: 'an order makes one video',
    31: 'no model of it delivers a last frame',
    32: 'the label is in the one video that it makes',
  },
  withFiles: FRAMES,
  lacks: [
    ['a longer prompt', { ...ORDER, prompt: 'a'.repeat(2_001) }, 'prompt'],
    ['a last frame alone', { ...ORDER, last_frame_image: LAST }, 'last_frame_image'],
    ['512p from a text', { ...ORDER, resolution: '512p' }, 'resolution'],
    ['512p between two frames', { ...FRAMES, resolution: '512p' }, 'resolution'],
    ['quick optimisation between two frames', { ...FRAMES, fast_pretreatment: true }, 'fast_pretreatment'],
  ],
  refusals: [
    ['a rate', minimaxRefusal(1002), { kind: 'busy', scope: 'account' }],
    ['too many connections', minimaxRefusal(1041), { kind: 'busy' }],
    [
      'a named wait',
      { ...minimaxRefusal(1002), status: 429, headers: { 'retry-after': '3' } },
      { kind: 'busy', retryAfterMs: 3_000 },
    ],
    ['a wrong key', minimaxRefusal(1004), { kind: 'unfit', reason: 'wrong_key' }],
    ['a key of another region', minimaxRefusal(2049), { kind: 'unfit', reason: 'wrong_key' }],
    ['an empty balance', minimaxRefusal(1008), { kind: 'unfit', reason: 'not_paid' }],
    ['a plan that is used up', minimaxRefusal(2056), { kind: 'unfit', reason: 'not_paid' }],
    ['a model outside the plan', minimaxRefusal(2061), { kind: 'unfit', scope: 'model' }],
    ['an owner who has not proved who they are', minimaxRefusal(2038), { kind: 'unfit', reason: 'not_served' }],
    [
      'an empty balance in the words of its newer part',
      {
        status: 402,
        body: { type: 'error', error: { type: 'insufficient_balance_error', message: 'insufficient balance (1008)' } },
      },
      { kind: 'unfit', reason: 'not_paid' },
    ],
    [
      'a refused prompt in the words of its newer part',
      { status: 400, body: { type: 'error', error: { type: 'bad_request_error', message: 'input sensitive (1026)' } } },
      { kind: 'refused', reason: 'content_refused' },
    ],
    ['a refused prompt', minimaxRefusal(1026), { kind: 'refused', reason: 'content_refused' }],
    ['a value that it does not take', minimaxRefusal(2013), { kind: 'unsupported' }],
    ['a failure of its own, with status 200', minimaxRefusal(1033), { kind: 'ambiguous' }],
    ['a timeout of its own, with status 200', minimaxRefusal(1001), { kind: 'ambiguous' }],
    [
      'a reply without an id',
      { body: { base_resp: { status_code: 0, status_msg: 'success' } } },
      { kind: 'ambiguous' },
    ],
  ],
  states: [
    ['work that is prepared', says({ status: 'Preparing' }), { state: 'pending' }],
    ['waiting work', says({ status: 'Queueing' }), { state: 'pending' }],
    ['work under way', says({ status: 'Processing' }), { state: 'pending' }],
    [
      'a video',
      says({}),
      {
        state: 'succeeded',
        outputs: [{ role: 'output', contentType: 'video/mp4', url: expect.stringMatching(/output_aigc\.mp4/) }],
      },
    ],
    [
      'an end without a file',
      says({ file_id: '' }),
      { state: 'failed', publicReason: 'The vendor reported success but delivered no file.' },
    ],
    [
      'a file without a link',
      files({ body: { file: {}, base_resp: { status_code: 0 } } }),
      { state: 'failed', code: 'upstream_error' },
    ],
    [
      'a file that is gone',
      files(minimaxRefusal(2013)),
      { state: 'failed', publicReason: 'The vendor no longer knows this order.' },
    ],
    ['a withheld video', failsWith(1027), { state: 'failed', code: 'content_policy' }],
    ['a refused prompt', failsWith(1026), { state: 'failed', code: 'content_policy' }],
    ['a failure', failsWith(0), { state: 'failed', code: 'upstream_error' }],
  ],
  strange: says({ status: 'Pondering' }),
});

describe('minimax', () => {
  let minimax: ConnectedFake<FakeMinimax>;
  beforeAll(async () => {
    minimax = await connectFake(minimaxCodec, () => new FakeMinimax());
  });
  afterEach(() => minimax.vendor.reset());
  afterAll(() => minimax.close());

  it.each([
    ['5 s', ORDER, { duration: 6, resolution: '768P' }],
    ['10 s', { ...ORDER, duration: 10 }, { duration: 10 }],
    [
      'a video in small from a frame',
      { ...ORDER, resolution: '512p', first_frame_image: FIRST },
      { resolution: '512P' },
    ],
    ['a watermark', { ...ORDER, watermark: true }, { aigc_watermark: true }],
  ])('orders %s in the words of the vendor', async (_, body, expected) => {
    await minimax.start(body);
    expect(minimax.vendor.protocol.taken.at(-1)).toMatchObject(expected);
  });

  it.each([
    [{ challenge: 'word-1' }, { challenge: 'word-1' }],
    [{ challenge: 'a'.repeat(1_001) }, {}],
    [{ challenge: 7 }, {}],
    [{ task_id: '1', status: 'success' }, {}],
    [undefined, {}],
  ])('42: repeats the word that an address is asked for, and nothing else: %j', (body, reply) => {
    const request = { method: 'POST', path: '/callbacks/v1/minimax/token', query: '', headers: {}, body };
    expect(minimaxCodec.readCallback?.(request, 'key')).toEqual({ reply });
  });

  it('44: keeps every digit of the ids of tasks and files, also when they come as numbers', async () => {
    const { operation, call } = await minimax.running(ORDER);
    expect(operation['id']).toMatch(/^\d{18}$/);
    minimax.vendor.protocol.state = { file_id: 205_258_526_306_433 };
    await minimax.upstream.check(operation, call);
    expect(minimax.vendor.requests.at(-1)?.query.get('file_id')).toBe('205258526306433');
  });

  it.each([minimaxRefusal(1000), minimaxRefusal(1002), { status: 502, body: {} }])(
    'leaves finished work alone while its link cannot be had: %j',
    async (fault) => {
      const { operation, call } = await minimax.running(ORDER);
      minimax.vendor.protocol.file = fault;
      const failure: unknown = await minimax.upstream.check(operation, call).catch((error: unknown) => error);
      expect(failure).toMatchObject({ kind: expect.stringMatching(/^(?:busy|unavailable)$/) });
    },
  );
});
