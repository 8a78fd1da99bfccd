import {
  failedBecause,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MEDIA_REASONS,
  type Operation,
  type OperationState,
  type ProviderOutput,
} from '#contracts';
import type { MediaCodec, ReadState, VendorRequest } from '../http/media-codec.js';
import { GoogleCredentials, readServiceAccount } from './google-credentials.js';
import { mapGamma } from './map-gamma.js';
import { readVertexFailure, vertexFailureReason } from './vertex-failures.js';
import { type VertexSettings, vertexSettings, vertexSettingsMistakes } from './vertex-settings.js';

/** The vendor's handle. The place that it names is where it is asked about. */
const OPERATION = /^(projects\/[\w:.-]+\/locations\/[\w-]+\/publishers\/google\/models\/[\w.-]+)\/operations\/[\w-]+$/;
const UNKNOWN_OPERATION = '00000000-0000-4000-8000-000000000000';
const INLINE = 'bytesBase64Encoded';

/** Videos of Veo on Google Vertex AI (vendors.md 7), for any project. */
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

/** The protocol for one project. */
export function vertexVeo({ project, region, storageUri, storageEndpoint }: Partial<VertexSettings>): MediaCodec {
  const place = region ?? 'us-central1';
  const modelPath = (model: string): string =>
    `projects/${project ?? ''}/locations/${place}/publishers/google/models/${model}`;
  return {
    protocol: 'vertex-veo',
    traits: {
      style: 'task',
      repeatStart: 'unknown',
      startTimeoutMs: 90_000,
      findableAfterMs: 0,
      firstCheckMs: 20_000,
      checkEveryMs: 10_000,
      // Without a bucket a reply holds the videos themselves.
      checkTimeoutMs: storageUri === undefined ? 60_000 : 10_000,
      ...(storageUri === undefined && { checksBring: 'video' as const }),
    },
    defaultBaseUrl:
      place === 'global' ? 'https://aiplatform.googleapis.com' : `https://${place}-aiplatform.googleapis.com`,
    domains: ['googleapis.com'],
    models: new Map([
      ['gamma-3.1-fast-official', 'veo-3.1-fast-generate-001'],
      ['gamma-3.1-quality-official', 'veo-3.1-generate-001'],
    ]),
    authorization: (token) => ({ authorization: `Bearer ${token}` }),
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
    readFailure: readVertexFailure,
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
  if (isJsonObject(error)) return failedBecause(vertexFailureReason(error));
  return delivered(isJsonObject(response) ? response : {}, Number(operation['count']));
}

/** Videos that are withheld are missing from a reply that says it is done. */
function delivered({ videos }: JsonObject, ordered: number): OperationState {
  const outputs = (Array.isArray(videos) ? videos : []).flatMap(outputOf);
  if (outputs.length === 0) return failedBecause('result_refused');
  const missing = Array.from({ length: Math.max(0, ordered - outputs.length) }, (_, index) => ({
    ordinal: outputs.length + index,
    ...MEDIA_REASONS.result_refused,
  }));
  return { state: 'succeeded', outputs, ...(missing.length > 0 && { missing }) };
}

function outputOf(video: JsonValue): ProviderOutput[] {
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
