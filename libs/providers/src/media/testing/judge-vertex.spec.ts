import { createVertex } from '@ai-sdk/google-vertex';
import { GoogleGenAI } from '@google/genai';
import { OAuth2Client } from 'google-auth-library';
import type { JsonObject } from '#contracts';
import { vertexVeo } from '../vertex/vertex-veo.codec.js';
import { FakeVendor } from './fake-vendor.js';
import { FakeVertex } from './fake-vertex.js';
import { mutated, orderedVideos, type VideoOptions, WAIT_MS } from './judging.js';
import { orderOfBody } from './sample-requests.js';

const PROMPT = 'A paper boat in the rain.';

/** A client that has a token requests none. */
function signedIn(vertex: FakeVertex): { authClient: OAuth2Client } {
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: vertex.key, expiry_date: Date.now() + 3_600_000 });
  return { authClient };
}

async function served<Result>(vertex: FakeVertex, work: (vendor: FakeVendor) => Promise<Result>): Promise<Result> {
  const vendor = await FakeVendor.start(vertex);
  try {
    return await work(vendor);
  } finally {
    await vendor.close();
  }
}

const judged = (vertex: FakeVertex, mostMs: number = WAIT_MS.finished): Promise<readonly string[]> =>
  served(vertex, async (vendor) => {
    const model = createVertex({
      project: 'p-1',
      location: 'us-central1',
      baseURL: `${vendor.origin}/v1/projects/p-1/locations/us-central1/publishers/google`,
      // Each library has its own version of the client's class.
      googleAuthOptions: signedIn(vertex) as object,
    }).video('veo-3.1-fast-generate-001');
    const asked: VideoOptions = {
      prompt: PROMPT,
      n: 2,
      aspectRatio: '9:16',
      resolution: '3840x2160',
      duration: 8,
      fps: undefined,
      seed: 7,
      image: { type: 'file', mediaType: 'image/png', data: 'Zmlyc3Q=' },
      frameImages: undefined,
      inputReferences: undefined,
      generateAudio: true,
      providerOptions: {
        vertex: { personGeneration: 'dont_allow', negativePrompt: 'snow', enhancePrompt: true, resizeMode: 'crop' },
      },
    };
    const videos = await orderedVideos(model as Parameters<typeof orderedVideos>[0], asked, mostMs);
    return videos.map((video) => (video.type === 'base64' ? video.data : video.type));
  });

const OURS = {
  model: 'gamma-3.1-fast-official',
  prompt: PROMPT,
  sample_count: 2,
  aspect_ratio: '9:16',
  resolution: '4K',
  duration: 8,
  seed: 7,
  first_frame_image: 'https://media.example.com/first.png',
  generate_audio: true,
  person_generation: 'disallow',
  negative_prompt: 'snow',
  resize_mode: 'crop',
};

/** What we send when the image was read. */
const ours = (body: JsonObject, storageUri?: string): JsonObject | undefined =>
  vertexVeo({ project: 'p-1', region: 'us-central1', ...(storageUri !== undefined && { storageUri }) }).writeStart(
    orderOfBody(body),
    { upstream: 'u', model: 'veo-3.1-fast-generate-001' },
    () => 'data:image/png;base64,Zmlyc3Q=',
  ).body;

describe('@ai-sdk/google-vertex, as a judge of the fake of Vertex AI', () => {
  it('46: finishes an order against it', async () => {
    expect(await judged(new FakeVertex())).toHaveLength(2);
  });

  it.each([
    ['"name"', '"operation"'],
    ['"videos"', '"generatedVideos"'],
    ['"done"', '"finished"'],
    ['"bytesBase64Encoded"', '"bytes"'],
  ])('46: does not finish when the fake says %s as %s', async (from, to) => {
    await expect(judged(mutated(new FakeVertex(), from, to), WAIT_MS.endless)).rejects.toThrow(/\S/);
  });

  it('47: sends what we send for the same order', async () => {
    const vertex = new FakeVertex();
    await judged(vertex);
    expect(ours(OURS)).toEqual(vertex.taken[0]);
  });
});

describe('@google/genai, as a judge of the fake of Vertex AI', () => {
  const asked = (vertex: FakeVertex): Promise<string | undefined> =>
    served(vertex, async (vendor) => {
      const { models, operations } = new GoogleGenAI({
        vertexai: true,
        project: 'p-1',
        location: 'us-central1',
        httpOptions: { baseUrl: vendor.origin, apiVersion: 'v1' },
        googleAuthOptions: signedIn(vertex),
      });
      let operation = await models.generateVideos({
        model: 'veo-3.1-fast-generate-001',
        source: { prompt: PROMPT, image: { imageBytes: 'Zmlyc3Q=', mimeType: 'image/png' } },
        config: {
          numberOfVideos: 2,
          aspectRatio: '9:16',
          resolution: '4k',
          durationSeconds: 8,
          seed: 7,
          generateAudio: true,
          personGeneration: 'dont_allow',
          negativePrompt: 'snow',
          enhancePrompt: true,
          outputGcsUri: 'gs://videos/veo/',
        },
      });
      operation = await operations.getVideosOperation({ operation });
      return operation.response?.generatedVideos?.[0]?.video?.uri;
    });

  it('46: finishes an order against it', async () => {
    expect(await asked(new FakeVertex())).toBe('gs://videos/veo/123/sample_0.mp4');
  });

  it.each([
    ['"response"', '"result"'],
    ['"gcsUri"', '"uri"'],
  ])('46: finds no video when the fake says %s as %s', async (from, to) => {
    expect(await asked(mutated(new FakeVertex(), from, to))).toBeUndefined();
  });

  it('47: sends what we send for the same order into a bucket', async () => {
    const vertex = new FakeVertex();
    await asked(vertex);
    const { resize_mode: _onlyElsewhere, ...order } = OURS;
    const { instances, parameters } = ours(order, 'gs://videos/veo/') as { instances: object[]; parameters: object };
    expect({ instances, parameters: { ...parameters, resizeMode: undefined } }).toEqual(vertex.taken[0]);
  });
});
