import {
  failedBecause,
  type GammaRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Operation,
  type OperationState,
  type PlannedOrder,
  type UpstreamOutput,
} from '#contracts';
import { PERIOD_QUOTA, VendorErrors } from '../http/failure-rules.js';
import {
  bearer,
  type FileAddress,
  deliveredInRow,
  type MediaCodec,
  type ReadState,
  taskTraits,
  type VendorRequest,
} from '../http/media-codec.js';
import {
  GoogleCredentials,
  readServiceAccount,
  type VertexSettings,
  vertexSettings,
  vertexSettingsMistakes,
} from './google-credentials.js';

const POLICY = /support codes?|responsible ai|usage guidelines|safety|violat|sensitive/i;
/** Errors about `storage_uri`: the bucket does not exist, or the account may not write there. No order names one. */
const BUCKET = /\bbuckets?\b|\bgs:\/\/|storage\.objects|storageUri|output storage/i;

/** Errors of Vertex AI by the word in `status`, and inside an operation by the number of that word. */
const ERRORS = new VendorErrors(
  [
    { status: [403], says: /billing/i, is: 'unpaid' },
    // Quotas and rates belong to one model of a project.
    { status: [429], says: PERIOD_QUOTA, on: ['start'], is: 'unpaid_model' },
    { status: [429], on: ['start'], is: 'busy_model' },
    { status: [404], on: ['check'], is: 'lost' },
    { status: [400], says: POLICY, on: ['start'], is: 'content' },
    { status: [400], code: ['FAILED_PRECONDITION'], says: /\blocation\b|\bregion\b/i, is: 'not_served' },
    { status: [400, 403, 404, 409, 412], says: BUCKET, is: 'not_served' },
    { on: ['work'], says: POLICY, is: 'content' },
    { on: ['work'], says: BUCKET, is: 'not_served' },
    { on: ['work'], code: ['8', 'RESOURCE_EXHAUSTED'], is: 'busy_model' },
    { on: ['work'], code: ['14', 'UNAVAILABLE'], is: 'away' },
    { on: ['work'], code: ['4', 'DEADLINE_EXCEEDED'], is: 'expired' },
    { on: ['work'], code: ['1', 'CANCELLED'], is: 'stopped' },
  ],
  wordIn,
);

/** The envelope holds the HTTP status as `code` and the word that says more as `status`. */
function wordIn(body: JsonValue | undefined): JsonObject | undefined {
  const error = isJsonObject(body) ? body['error'] : undefined;
  if (!isJsonObject(error)) return undefined;
  const { status, code, message } = error;
  return { code: status ?? code ?? null, message: message ?? null };
}

const DATA_URI = /^data:([\w/+.-]+);base64,/;

/** Request body for the gamma family: Veo 3.1 on Vertex AI. */
function mapGamma(order: PlannedOrder, storageUri: string | undefined, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & GammaRequest;
  const { negative_prompt: avoided, seed, first_frame_image: first, last_frame_image: last } = asked;
  return {
    instances: [
      {
        prompt: asked.prompt,
        ...(first !== undefined && { image: image(file('first_frame_image')) }),
        ...(last !== undefined && { lastFrame: image(file('last_frame_image')) }),
      },
    ],
    parameters: {
      durationSeconds: asked.duration,
      aspectRatio: asked.aspect_ratio,
      resolution: asked.resolution.toLowerCase(),
      sampleCount: asked.sample_count,
      // The vendor wants it said.
      generateAudio: asked.generate_audio,
      personGeneration: asked.person_generation === 'disallow' ? 'dont_allow' : asked.person_generation,
      enhancePrompt: asked.enhance_prompt,
      ...(avoided !== undefined && { negativePrompt: avoided }),
      ...(seed !== undefined && { seed }),
      ...(first !== undefined && { resizeMode: asked.resize_mode }),
      ...(storageUri !== undefined && { storageUri }),
    },
  };
}

/** Images are taken as bytes only. In a plan the caller's own words stand for them. */
function image(file: string): JsonObject {
  const [start = '', mimeType = 'image/png'] = DATA_URI.exec(file) ?? [];
  return { bytesBase64Encoded: file.slice(start.length), mimeType };
}

/** The vendor's handle. The place that it names is where it is asked about. */
const OPERATION = /^(projects\/[\w:.-]+\/locations\/[\w-]+\/publishers\/google\/models\/[\w.-]+)\/operations\/[\w-]+$/;
const UNKNOWN_OPERATION = '00000000-0000-4000-8000-000000000000';
const INLINE = 'bytesBase64Encoded';

/** Veo videos from Google Vertex AI, for any project. */
export const vertexVeoCodec: MediaCodec = {
  ...vertexVeo({ ...vertexSettings({}), project: 'PROJECT' }),
  settingsMistakes: vertexSettingsMistakes,
  keyMistake: (key) => {
    try {
      readServiceAccount(key);
      return undefined;
    } catch (error) {
      return error instanceof TypeError ? error.message : 'cannot be read';
    }
  },
  configured: ({ settings }, key) =>
    vertexVeo({ project: readServiceAccount(key).project, ...vertexSettings(settings) }),
};

export function vertexVeo({ project, region, storageUri, storageEndpoint }: Partial<VertexSettings>): MediaCodec {
  const place = region ?? 'us-central1';
  const modelPath = (model: string): string =>
    `projects/${project ?? ''}/locations/${place}/publishers/google/models/${model}`;
  return {
    protocol: 'vertex-veo',
    traits: taskTraits({
      startTimeoutMs: 90_000,
      firstCheckMs: 20_000,
      checkEveryMs: 10_000,
      // Without a bucket a reply holds the videos themselves.
      ...(storageUri === undefined && { checkTimeoutMs: 60_000, checksBring: 'video' }),
    }),
    defaultBaseUrl:
      place === 'global' ? 'https://aiplatform.googleapis.com' : `https://${place}-aiplatform.googleapis.com`,
    domains: ['googleapis.com'],
    models: new Map([
      ['gamma-3.1-fast-official', 'veo-3.1-fast-generate-001'],
      ['gamma-3.1-quality-official', 'veo-3.1-generate-001'],
    ]),
    marks: ['name', 'done'],
    authorization: bearer,
    credentials: (key, { fetcher }) => new GoogleCredentials(readServiceAccount(key), fetcher),
    referenceForm: () => 'inline',

    writeStart: (order, { model }, file) => ({
      method: 'POST',
      path: `/v1/${modelPath(model)}:predictLongRunning`,
      body: mapGamma(order, storageUri, file),
    }),
    readStart: ({ name }, { output }) =>
      typeof name === 'string' && OPERATION.test(name)
        ? { kind: 'operation', operation: { name, count: output.count } }
        : undefined,

    nameOf: ({ name }) => name as string,
    writeCheck: ({ name }) => question(name as string),
    readCheck: stateOf,
    readFailure: ERRORS.read,
    inlineFiles: { field: INLINE, count: ({ count }) => Number(count) },
    fileAddress: (url) => bucketAddress(url, storageEndpoint ?? ''),

    // An operation that does not exist: a caller with a valid key gets "not found", in the vendor's own envelope.
    verification: question(`${modelPath('veo-3.1-generate-001')}/operations/${UNKNOWN_OPERATION}`),
    readVerification: ({ status, body }) =>
      (status === 400 || status === 404) && isJsonObject(body) && isJsonObject(body['error'])
        ? { ok: true }
        : undefined,
  };
}

function question(operationName: string): VendorRequest {
  return {
    method: 'POST',
    path: `/v1/${operationName.split('/operations/', 1)[0] ?? ''}:fetchPredictOperation`,
    body: { operationName },
  };
}

function stateOf({ done, error, response }: JsonObject, operation: Operation): ReadState {
  if (done !== true) return { state: 'pending' };
  if (isJsonObject(error)) return failedBecause(ERRORS.ofWork(error));
  return delivered(isJsonObject(response) ? response : {}, Number(operation['count']));
}

/** Videos that are withheld are missing from a reply that says it is done, and counts them, or says why. */
function delivered({ videos, ...withheld }: JsonObject, ordered: number): OperationState {
  const outputs = (Array.isArray(videos) ? videos : []).flatMap(outputOf);
  const reasons = withheld['raiMediaFilteredReasons'];
  const isWithheld = Number(withheld['raiMediaFilteredCount']) > 0 || (Array.isArray(reasons) && reasons.length > 0);
  const reason = isWithheld ? 'result_refused' : 'nothing_delivered';
  if (outputs.length === 0) return failedBecause(reason);
  return { state: 'succeeded', ...deliveredInRow(outputs, ordered, reason) };
}

function outputOf(video: JsonValue): UpstreamOutput[] {
  if (!isJsonObject(video)) return [];
  const { gcsUri, [INLINE]: kept, mimeType } = video;
  const url = gcsUri ?? kept;
  if (typeof url !== 'string' || url === '') return [];
  return [{ role: 'output', contentType: typeof mimeType === 'string' ? mimeType : 'video/mp4', url }];
}

/** Where an object of a bucket is read with the same token; undefined for what is in no bucket. */
function bucketAddress(url: string, endpoint: string): string | undefined {
  const [, bucket, object] = /^gs:\/\/([a-z0-9][\w.-]{1,221})\/(.+)$/.exec(url) ?? [];
  if (bucket === undefined || object === undefined) return undefined;
  return `${endpoint}/storage/v1/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(object)}?alt=media`;
}
