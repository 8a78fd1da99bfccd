import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import type { FakeProtocol, FakeReply, FakeRequest } from './fake-vendor.js';

const MODELS = /^\/v1\/(projects\/[\w-]+\/locations\/[\w-]+\/publishers\/google\/models\/veo-3\.1-[\w-]+):(\w+)$/;

/** Every parameter of Veo 3.1 by the model reference and the official client. */
const PARAMETERS = new Set([
  'durationSeconds',
  'aspectRatio',
  'resolution',
  'sampleCount',
  'generateAudio',
  'personGeneration',
  'enhancePrompt',
  'negativePrompt',
  'seed',
  'resizeMode',
  'storageUri',
  'compressionQuality',
  'fps',
  'pubsubTopic',
]);
const INSTANCE = new Set(['prompt', 'image', 'lastFrame', 'referenceImages', 'video']);

/** Veo on Vertex AI: takes orders, and says of each what its script says. Also the bucket that finished videos go to. */
export class FakeVertex implements FakeProtocol {
  readonly basePath = '';
  readonly key = 'ya29.vertex-test-token-0123456789';
  readonly keyHeader = { name: 'authorization', value: `Bearer ${this.key}` };
  readonly unauthorized = vertexRefusal(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
  readonly taken: JsonObject[] = [];
  /** What a taken operation says of itself; that it is done unless changed. */
  operation: JsonObject = {};

  reset(): void {
    this.operation = {};
  }

  answer({ path, body }: FakeRequest): FakeReply {
    if (path.startsWith('/storage/v1/b/')) return { body: 'the video' };
    const [, model, verb] = MODELS.exec(path) ?? [];
    if (verb === 'predictLongRunning') return this.take(model ?? '', body);
    const { operationName: name } = body;
    const number = typeof name === 'string' ? Number(/\/operations\/op-(\d+)$/.exec(name)?.[1] ?? 0) : 0;
    const order = this.taken[number - 1];
    if (verb !== 'fetchPredictOperation' || !order || typeof name !== 'string' || !name.startsWith(`${model}/`))
      return vertexRefusal(404, 'NOT_FOUND', 'The operation was not found.');
    return { body: { name, done: true, response: finished(order), ...this.operation } };
  }

  private take(model: string, order: JsonObject): FakeReply {
    const problem = problemOf(order);
    if (problem) return vertexRefusal(400, 'INVALID_ARGUMENT', problem);
    this.taken.push(order);
    return { body: { name: `${model}/operations/op-${this.taken.length}` } };
  }
}

/** The envelope of every refusal. */
export const vertexRefusal = (code: number, status: string, message = 'no words'): FakeReply => ({
  status: code,
  body: { error: { code, status, message } },
});

function finished(order: JsonObject): JsonObject {
  const { sampleCount = 1, storageUri } = order['parameters'] as JsonObject;
  const videos = Array.from({ length: Number(sampleCount) }, (_, index): JsonObject => ({
    mimeType: 'video/mp4',
    ...(typeof storageUri === 'string'
      ? { gcsUri: `${storageUri}123/sample_${index}.mp4` }
      : { bytesBase64Encoded: Buffer.from(`video ${index}`).toString('base64') }),
  }));
  return { '@type': 'type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse', videos };
}

function problemOf({ instances, parameters, ...more }: JsonObject): string | undefined {
  const [instance, ...others] = Array.isArray(instances) ? (instances as JsonValue[]) : [];
  if (!isJsonObject(instance) || others.length > 0 || !isJsonObject(parameters)) return 'one instance is needed';
  const unknown = [
    ...Object.keys(more),
    ...Object.keys(instance).filter((name) => !INSTANCE.has(name)),
    ...Object.keys(parameters).filter((name) => !PARAMETERS.has(name)),
  ];
  if (unknown.length > 0) return `Unknown name "${unknown[0]}"`;
  const wrong = Object.entries(RULES).find(([name, rule]) => name in parameters && !rule(parameters[name]));
  if (wrong) return `${wrong[0]} is not valid`;
  if (typeof instance['prompt'] !== 'string') return 'prompt is missing';
  return [instance['image'], instance['lastFrame']].every(isImage) ? undefined : 'image is not valid';
}

const isOneOf =
  (...values: readonly JsonValue[]) =>
  (value: JsonValue | undefined): boolean =>
    value !== undefined && values.includes(value);

const isFlag = (value: JsonValue | undefined): boolean => typeof value === 'boolean';

const RULES: Readonly<Record<string, (value: JsonValue | undefined) => boolean>> = {
  durationSeconds: isOneOf(4, 6, 8),
  aspectRatio: isOneOf('16:9', '9:16'),
  resolution: isOneOf('720p', '1080p', '4k'),
  sampleCount: isOneOf(1, 2, 3, 4),
  generateAudio: isFlag,
  personGeneration: isOneOf('allow_adult', 'dont_allow', 'allow_all'),
  enhancePrompt: isFlag,
  resizeMode: isOneOf('pad', 'crop'),
  seed: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32,
  storageUri: (value) => typeof value === 'string' && value.startsWith('gs://'),
};

/** Bytes with their type; addresses of the web are not taken. */
const isImage = (value: JsonValue | undefined): boolean => {
  if (value === undefined) return true;
  const { bytesBase64Encoded: bytes, mimeType } = isJsonObject(value) ? value : {};
  return typeof bytes === 'string' && bytes !== '' && isOneOf('image/png', 'image/jpeg')(mimeType);
};
