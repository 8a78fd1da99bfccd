import { buffer } from 'node:stream/consumers';
import { SafeFetcher } from '#platform';
import type { MediaCodec } from '../http/media-codec.js';
import { connectFake } from '../testing/connected-fake.js';
import { FakeGoogleTokens } from '../testing/fake-google-tokens.js';
import { FakeVertex, vertexRefusal } from '../testing/fake-vertex.js';
import { mediaUpstreamContract } from '../testing/media-upstream-contract.js';
import { vertexVeo, vertexVeoCodec } from './vertex-veo.codec.js';

const ORDER = { model: 'gamma-3.1-fast-official', prompt: 'A paper boat in the rain.', duration: 6 };
const FRAMED = { ...ORDER, first_frame_image: 'https://media.example.com/first.png' };

/** The protocol as it is spoken with a token at hand. */
function withToken(storageUri?: string): MediaCodec {
  const settings = { project: 'p-1', region: 'us-central1', storageEndpoint: 'https://storage.googleapis.com' };
  const codec = vertexVeo({ ...settings, ...(storageUri !== undefined && { storageUri }) });
  const parts = Object.entries(codec).filter(([name]) => name !== 'credentials');
  return Object.fromEntries(parts) as unknown as MediaCodec;
}

const says = (operation: FakeVertex['operation']) => (vertex: FakeVertex) => {
  vertex.operation = operation;
};
const failsWith = (code: number, message: string) => says({ response: null, error: { code, message } });

mediaUpstreamContract({
  codec: withToken('gs://videos/veo/'),
  fake: () => new FakeVertex(),
  judge: 'judge-vertex.spec.ts',
  order: ORDER,
  alwaysSent: { parameters: { generateAudio: false, sampleCount: 1 } },
  elsewhere: {
    24: 'it has two states, done and not done',
    28: 'tested below, with files inside a reply',
    30: 'states: an end without a video',
    31: 'no model of it delivers a last frame',
    32: 'the families sell no label',
    33: 'tested below, and in http/inline-files.spec.ts',
  },
  withFiles: { ...FRAMED, last_frame_image: 'https://media.example.com/last.png' },
  lacks: [
    ['a video of five seconds', { ...ORDER, duration: 5 }, 'duration'],
    ['six seconds in 1080p', { ...ORDER, resolution: '1080p' }, 'duration'],
    ['four seconds in 4K', { ...FRAMED, duration: 4, resolution: '4K' }, 'duration'],
  ],
  refusals: [
    ['a rate of the model', vertexRefusal(429, 'RESOURCE_EXHAUSTED'), { kind: 'busy', scope: 'model' }],
    [
      'a quota of the day',
      vertexRefusal(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for quota metric, limit: requests per day.'),
      { kind: 'unfit', scope: 'model' },
    ],
    ['a project without rights', vertexRefusal(403, 'PERMISSION_DENIED'), { kind: 'unfit', reason: 'not_served' }],
    [
      'a project without billing',
      vertexRefusal(403, 'PERMISSION_DENIED', 'This API method requires billing to be enabled.'),
      { kind: 'unfit', reason: 'not_paid' },
    ],
    [
      'a bucket that does not exist',
      vertexRefusal(400, 'FAILED_PRECONDITION', 'The specified bucket does not exist.'),
      { kind: 'unfit', reason: 'not_served', scope: 'account' },
    ],
    ['an unknown model', vertexRefusal(404, 'NOT_FOUND'), { kind: 'unfit', scope: 'model' }],
    [
      'a refused content',
      vertexRefusal(400, 'INVALID_ARGUMENT', 'The prompt could not be submitted: it may violate the usage guidelines.'),
      { kind: 'refused', reason: 'content_refused' },
    ],
    ['a parameter it does not take', vertexRefusal(400, 'INVALID_ARGUMENT', 'resizeMode'), { kind: 'unsupported' }],
  ],
  states: [
    ['work under way', says({ done: false, response: null }), { state: 'pending' }],
    [
      'a video in the bucket',
      says({}),
      {
        state: 'succeeded',
        outputs: [{ role: 'output', contentType: 'video/mp4', url: 'gs://videos/veo/123/sample_0.mp4' }],
      },
    ],
    [
      'fewer videos than were ordered',
      says({ response: { videos: [{ gcsUri: 'gs://videos/veo/1.mp4' }], raiMediaFilteredCount: 2 } }),
      {
        state: 'succeeded',
        missing: [
          expect.objectContaining({ ordinal: 1, code: 'content_policy' }),
          expect.objectContaining({ ordinal: 2 }),
        ],
      },
      { ...ORDER, sample_count: 3 },
    ],
    [
      'an end without a video or a word about its content',
      says({ response: { videos: [] } }),
      { state: 'failed', code: 'upstream_error', publicReason: expect.stringContaining('delivered no file') },
    ],
    [
      'fewer videos than were ordered, without a word about their content',
      says({ response: { videos: [{ gcsUri: 'gs://videos/veo/1.mp4' }], raiMediaFilteredCount: 0 } }),
      { state: 'succeeded', missing: [expect.objectContaining({ ordinal: 1, code: 'upstream_error' })] },
      { ...ORDER, sample_count: 2 },
    ],
    [
      'an end without a video',
      says({ response: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['word'] } }),
      { state: 'failed', code: 'content_policy' },
    ],
    [
      'a refusal of the content',
      failsWith(3, 'The prompt may violate our policies. Support codes: 12345'),
      { state: 'failed', code: 'content_policy' },
    ],
    ...[
      [8, 'Quota exceeded', 'The vendor is busy.'],
      [14, 'The service is overloaded', 'The vendor does not respond.'],
      [4, 'Deadline expired', 'The vendor did not finish within its own time limit.'],
    ].map(
      ([code, message, publicReason]) =>
        [
          `work that ended for no fault of the order: ${code}`,
          failsWith(code as number, message as string),
          { state: 'failed', code: 'upstream_error', publicReason: publicReason as string },
        ] as const,
    ),
    ['a failure', failsWith(13, 'Internal error'), { state: 'failed', code: 'upstream_error' }],
  ],
});

describe('vertex-veo', () => {
  it('33: hands videos that stand in the reply to the spool, each whole and at its place', async () => {
    const fake = await connectFake(withToken(), () => new FakeVertex());
    const { operation, call } = await fake.running({ ...ORDER, sample_count: 3 });
    const kept: string[] = [];
    const spool = {
      keep: async (ordinal: number, bytes: Parameters<typeof call.spool.keep>[1]) => {
        kept[ordinal] = (await buffer(bytes)).toString();
        return `kept:${ordinal}`;
      },
    };
    const state = await fake.upstream.check(operation, { ...call, spool });
    await fake.close();
    expect(kept).toEqual(['video 0', 'video 1', 'video 2']);
    expect(state).toMatchObject({ outputs: [{ url: 'kept:0' }, { url: 'kept:1' }, { url: 'kept:2' }] });
  });

  it('keeps no more videos than were ordered, however many stand in the reply', async () => {
    const fake = await connectFake(withToken(), () => new FakeVertex());
    const { operation, call } = await fake.running(ORDER);
    const videos = Array.from({ length: 50 }, () => ({ mimeType: 'video/mp4', bytesBase64Encoded: 'ZmlsbQ==' }));
    fake.vendor.protocol.operation = { response: { videos: videos } };
    const kept: number[] = [];
    const keep = async (ordinal: number, bytes: Parameters<typeof call.spool.keep>[1]) => {
      await buffer(bytes);
      return `kept:${kept.push(ordinal) - 1}`;
    };
    const state = await fake.upstream.check(operation, { ...call, spool: { keep } });
    await fake.close();
    expect(kept).toEqual([0]);
    expect(state).toMatchObject({ state: 'succeeded', outputs: [{ url: 'kept:0' }] });
  });

  it('leaves the work alone when the spool cannot take a video', async () => {
    const fake = await connectFake(withToken(), () => new FakeVertex());
    const { operation, call } = await fake.running(ORDER);
    const spool = { keep: () => Promise.reject(new Error('the store is full')) };
    await expect(fake.upstream.check(operation, { ...call, spool })).rejects.toMatchObject({ kind: 'unavailable' });
    await fake.close();
  });

  it('refuses a handle that names no operation of a model', async () => {
    const fake = await connectFake(withToken(), () => new FakeVertex());
    const { order, call } = fake.prepare(ORDER);
    fake.vendor.next({ body: { name: 'projects/p-1/locations/x/../../secrets/operations/1' } });
    await expect(fake.upstream.start(order, call)).rejects.toMatchObject({ kind: 'ambiguous' });
    await fake.close();
  });

  it('works with a service account from the order to the video in the bucket, and shows its key nowhere', async () => {
    const google = await FakeGoogleTokens.start(new FakeVertex().key);
    const fake = await connectFake(withToken('gs://videos/veo/'), () => new FakeVertex());
    const settings = { storage_uri: 'gs://videos/veo/', storage_endpoint: fake.vendor.origin };
    const codec = vertexVeoCodec.configured?.({ settings }, google.key) ?? vertexVeoCodec;
    const upstream = fake.other({ codec, key: google.key });
    const { order, call } = fake.prepare(ORDER);
    const started = await upstream.start(order, call);
    const state = 'operation' in started ? await upstream.check(started.operation, call) : started;
    const [video] = 'outputs' in state ? state.outputs : [];
    if (!video || !upstream.open) throw new Error('no video');
    const link = await upstream.open(video, { signal: call.signal });
    if (!('url' in link)) throw new Error('no link');
    const fetcher = new SafeFetcher({ allow: ['127.0.0.0/8'], ports: 'any' });
    const { body } = await fetcher.get(link.url, { ...link, timeoutMs: 10_000, maxBytes: 1_000 });
    expect((await buffer(body)).toString()).toBe('"the video"');
    expect(await upstream.verify(call)).toEqual({ ok: true });
    const last = fake.vendor.requests.find(({ method }) => method === 'GET');
    expect([last?.path, last?.query.get('alt')]).toEqual(['/storage/v1/b/videos/o/veo%2F123%2Fsample_0.mp4', 'media']);
    expect(google.accepted).toHaveLength(1);
    expect(JSON.stringify(fake.vendor.requests)).not.toContain(google.key);
    await fake.close();
    await google.close();
    await fetcher.close();
  });
});
